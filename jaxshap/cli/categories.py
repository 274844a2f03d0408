"""Columns of text as codes, for models that were fitted on the text itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.exits import UsageError
from jaxshap.games import Host


class Encoded(NamedTuple):
    """A model of codes, tables of codes, and the text behind the codes of each column."""

    model: Any
    rows: Any
    background: Any
    texts: dict[str, list[str]]
    output_names: tuple[str, ...] | None = None


def text_columns(table: Any) -> list[str]:
    """The columns of a DataFrame that do not hold numbers."""
    return [name for name in table.columns if not _holds_numbers(table[name].dtype)]


def encode(model: Any, rows: Any, background: Any) -> Encoded:
    """Text becomes codes that the model never sees: it gets a DataFrame of text, as when fitted."""
    names = text_columns(rows)
    if not names:
        return Encoded(model, rows, background, {})
    if not hasattr(model, "feature_names_in_"):
        raise UsageError(
            f"the columns {names} are not numbers, and only a pickled model that was fitted on a "
            "DataFrame, such as a scikit-learn pipeline, takes them as they are: encode them "
            "first, or leave them out with --drop."
        )
    import pandas as pd

    both = pd.concat([rows, background])
    levels = {name: _sorted_where_possible(both[name].dropna().unique()) for name in names}
    has_classes = hasattr(model, "predict_proba")
    method = model.predict_proba if has_classes else model.predict
    classes = getattr(model, "classes_", None) if has_classes else None
    return Encoded(
        Host(_on_codes(method, rows, levels)),
        _coded(rows, levels),
        _coded(background, levels),
        texts={name: list(map(str, index)) for name, index in levels.items()},
        output_names=None if classes is None else tuple(map(str, classes)),
    )


def _coded(table: Any, levels: dict[str, Any]) -> Any:
    """Codes as numbers, NaN for what is missing."""
    columns = {}
    for name, index in levels.items():
        codes = index.get_indexer(table[name]).astype(np.float64)
        columns[name] = np.where(codes < 0, np.nan, codes)
    return table.assign(**columns).astype(np.float64)


def _on_codes(
    method: Callable[[Any], Any], rows: Any, levels: dict[str, Any]
) -> Callable[[np.ndarray], Any]:
    """The method as a function of codes."""
    import pandas as pd

    def predict(batch: np.ndarray) -> Any:
        frame = pd.DataFrame(np.asarray(batch, np.float64), columns=rows.columns)
        for name, index in levels.items():
            codes = frame[name].fillna(-1).round().astype(int).to_numpy()
            texts = pd.Series(index.take(codes, fill_value=None, allow_fill=True))
            frame[name] = texts.astype(rows[name].dtype)
        return method(frame)

    return predict


def _holds_numbers(dtype: Any) -> bool:
    """Whether a column is numeric, by numpy's kinds or pandas' own numbers with missing entries."""
    is_nullable = getattr(dtype, "_is_numeric", False) or getattr(dtype, "_is_boolean", False)
    return dtype.kind in "biuf" or bool(is_nullable)


def _sorted_where_possible(levels: Any) -> Any:
    """A pandas Index, sorted where all of its entries are of one type."""
    import pandas as pd

    index = pd.Index(levels)
    return index.sort_values() if len({type(entry) for entry in index}) == 1 else index
