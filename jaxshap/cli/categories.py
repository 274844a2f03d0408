"""Columns of text as codes, for models that were fitted on the text itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.files import UsageError
from jaxshap.games import Host


class Encoded(NamedTuple):
    """A model of codes, tables of codes, and the text behind them by column."""

    model: Any
    rows: Any
    background: Any
    texts: dict[str, list[str]]
    output_names: tuple[str, ...] | None = None


def text_columns(table: Any) -> list[str]:
    """Those of a DataFrame that do not hold numbers."""
    return [
        name
        for name in table.columns
        if not (table[name].dtype.kind in "biuf" or _is_nullable(table[name]))
    ]


def encode(model: Any, rows: Any, background: Any) -> Encoded:
    """Text becomes codes that the model never sees: it gets the text back, in a DataFrame as it was
    fitted on.
    """
    names = text_columns(rows)
    if not names:
        return Encoded(model, rows, background, {})
    if not hasattr(model, "feature_names_in_"):
        raise UsageError(
            f"the columns {names} are not numbers, and only a pickled model that was fitted on a DataFrame, such as a "
            "scikit-learn pipeline, takes them as they are: encode them first, or leave them out with --drop."
        )
    import pandas as pd

    both = pd.concat([rows, background])
    levels = {name: pd.Index(both[name].dropna().unique()) for name in names}
    levels = {
        name: index.sort_values() if _sortable(index) else index for name, index in levels.items()
    }
    method = getattr(model, "predict_proba", None) or model.predict
    classes = getattr(model, "classes_", None) if hasattr(model, "predict_proba") else None
    texts = {name: list(map(str, index)) for name, index in levels.items()}
    outputs = None if classes is None else tuple(map(str, classes))
    predict = Host(_of_codes(method, rows, levels))
    return Encoded(predict, _coded(rows, levels), _coded(background, levels), texts, outputs)


def _coded(table: Any, levels: dict[str, Any]) -> Any:
    """Codes as numbers, NaN for what is missing."""
    codes = {
        name: index.get_indexer(table[name]).astype(np.float64) for name, index in levels.items()
    }
    return table.assign(
        **{name: np.where(code < 0, np.nan, code) for name, code in codes.items()}
    ).astype(np.float64)


def _of_codes(method: Callable, rows: Any, levels: dict[str, Any]) -> Callable[[np.ndarray], Any]:
    import pandas as pd

    def predict(batch: np.ndarray):
        frame = pd.DataFrame(np.asarray(batch, np.float64), columns=rows.columns)
        for name, index in levels.items():
            codes = frame[name].fillna(-1).round().astype(int).to_numpy()
            frame[name] = pd.Series(index.take(codes, fill_value=None, allow_fill=True)).astype(
                rows[name].dtype
            )
        return method(frame)

    return predict


def _is_nullable(column: Any) -> bool:
    """pandas' own numbers with missing entries."""
    return bool(
        getattr(column.dtype, "_is_numeric", False) or getattr(column.dtype, "_is_boolean", False)
    )


def _sortable(index: Any) -> bool:
    return len({type(entry) for entry in index}) == 1
