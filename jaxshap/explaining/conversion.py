"""Explanations for other libraries: shap, shapiq, pandas and polars."""

import contextlib
import importlib
from types import ModuleType
from typing import Any

import numpy as np

from jaxshap.errors import InputError, MissingExtraError


def display_data(self: Any) -> np.ndarray | None:
    """What each feature was, as people know it: words in place of codes, and nothing if missing.

    Example:
        >>> import jaxshap, pandas as pd
        >>> def model(table):
        ...     return table["age"] + 10.0 * (table["town"] == "Rome")
        >>> X = pd.DataFrame({"age": [40.0, 50.0], "town": ["Rome", "Oslo"]})
        >>> jaxshap.explain(model, X, X).display_data.tolist()
        [[40.0, 'Rome'], [50.0, 'Oslo']]
    """
    data = self.data_of_features
    if data is None or not self.words:
        return data
    shown = np.array(data, object)
    for place, name in enumerate(self.feature_names):
        words = self.words.get(name)
        if words is not None:
            shown[:, place] = [_word(words, number) for number in data[:, place]]
    return shown


def _word(words: tuple[str, ...], number: float) -> str:
    return words[int(number)] if 0 <= number < len(words) else "missing"


def to_shap(self: Any) -> Any:
    """This explanation for shap's plots.

    Returns:
        A `shap.Explanation`.

    Raises:
        MissingExtraError: shap is not installed.

    Example:
        >>> import jaxshap
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
        >>> explanation.to_shap().values.tolist()
        [[2.0, 2.0]]
    """
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError('to_shap needs shap: pip install "jaxshap[plots]".') from error
    names = self.output_names
    return shap.Explanation(
        values=self.values,
        base_values=self.base_values,
        data=self.data_of_features,
        display_data=display_data(self) if self.words else None,
        feature_names=list(self.feature_names),
        output_names=names[0]
        if names is not None and self.values.ndim == 2
        else names and list(names),
        error_std=self.std_error,
    )


def to_shapiq(self: Any) -> Any:
    """This explanation of one row and output for shapiq, whose plots draw it.

    Returns:
        A `shapiq.InteractionValues` of order one.

    Raises:
        InputError: there are several rows or outputs.
        MissingExtraError: shapiq is not installed.

    Example:
        >>> import jaxshap
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
        >>> explanation.to_shapiq().values.tolist()
        [2.0, 2.0]
    """
    if self.base_values.size != 1:
        raise InputError(
            "shapiq holds one number per feature and these have shape "
            f"{self.values.shape}: pick a row first, and an output where there are several, such "
            "as explanation[0] or explanation[0, :, 0]."
        )
    try:
        import shapiq
    except ImportError as error:
        raise MissingExtraError("to_shapiq needs shapiq: pip install shapiq.") from error
    return shapiq.InteractionValues(
        self.values.ravel(),
        index="SV",
        min_order=1,
        max_order=1,
        n_players=len(self.feature_names),
        interaction_lookup={(player,): player for player in range(len(self.feature_names))},
        baseline_value=self.base_values.item(),
        estimated=not self.exact,
        estimation_budget=self.num_evaluations,
    )


def to_frame(self: Any, library: ModuleType | None = None) -> Any:
    """A table with one line for each row, feature and output.

    Args:
        library: pandas or polars, the module itself; by default the one that is installed, and
            pandas where both are.

    Returns:
        A DataFrame of that library.

    Raises:
        MissingExtraError: neither of them is installed.

    Example:
        >>> import jaxshap
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
        >>> explanation.to_frame()
           row feature  value  std_error
        0    0      x0    2.0        0.0
        1    0      x1    2.0        0.0
    """
    frames = _installed() if library is None else library
    rows, features, *outputs = (axis.ravel() for axis in np.indices(self.values.shape))
    names = np.asarray(self.feature_names)
    columns: dict[str, Any] = {"row": rows, "feature": names[features]}
    for axis, output in enumerate(outputs):
        title = "output" if len(outputs) == 1 else f"output {axis}"
        named = self.output_names
        columns[title] = output if named is None else np.asarray(named)[output]
    if self.row_outputs is not None:
        columns["output"] = np.broadcast_to(
            np.expand_dims(self.row_outputs, 1), self.values.shape
        ).ravel()
    numbers = {"value": self.values.ravel(), "std_error": self.std_error.ravel()}
    return frames.DataFrame(columns | numbers)


def _installed() -> Any:
    """pandas, or polars where that is missing."""
    for name in ("pandas", "polars"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise MissingExtraError(
        'to_frame needs pandas or polars: pip install "jaxshap[examples]" has pandas.'
    )
