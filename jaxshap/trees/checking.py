"""Whether the trees that were read are those of the model: their sum against its own prediction."""

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError, UnsupportedModelError
from jaxshap.games import as_numbers, check_kind
from jaxshap.trees.columns import is_frame
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.readers.registry import reader_of
from jaxshap.trees.structure import MISSING, Structure

LEAVES_AT_ONCE = 2**16  # rows times trees that are walked down together, in cache
ROUNDING_STEPS = 8.0  # by how much more than a random walk of rounding errors a sum may differ
LOG_ROUNDING = 1e-14  # of a margin that is the logarithm of a prediction


def check_reading(ensemble: Ensemble, model: Any, rows: Any) -> None:
    """Compare the sum of the trees with the raw prediction of the model they were read from.

    A library may predict with options that its stored trees do not show. Then the sum of the trees
    is another function than the model, and its Shapley values would be wrong. `explain` checks all
    rows and the whole background; a difference beyond rounding is an error.

    Args:
        ensemble: the trees, as `read_trees` returned them.
        model: the fitted model from which they were read.
        rows: rows as the model takes them, for example a DataFrame with categories.

    Returns:
        Nothing: the trees are those of the model.

    Raises:
        UnsupportedModelError: if predictions differ. The message has the largest difference and
            the options of the model.

    Example:
        >>> import dataclasses, jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0], [1.0], [2.0]])
        >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 3.0, 3.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> jaxshap.trees.check_reading(trees, model, X)
        >>> other = dataclasses.replace(trees, base=trees.base + 1)
        >>> try:
        ...     jaxshap.trees.check_reading(other, model, X)
        ... except jaxshap.UnsupportedModelError as error:
        ...     print(str(error)[:60])
        DecisionTreeRegressor(max_depth=1) predicts something else t
    """
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    margins, magnitudes = _margins(ensemble, rows)  # first: it looks at the rows
    reader = reader_of(model)
    with warnings.catch_warnings(action="ignore"):  # of missing names, which are matched already
        raw = _raw_prediction(reader, model, _as_the_model_takes(ensemble, rows))
    own = raw.reshape(len(margins), -1)
    steps = ROUNDING_STEPS * np.sqrt(1 + len(ensemble.structure.roots))
    share = np.finfo(ensemble.values.dtype).eps + steps * np.finfo(reader.sum_dtype).eps
    if own.shape != margins.shape:
        raise UnsupportedModelError(
            f"{_described(model)} predicts {own.shape[1]} outputs, and its trees were read as "
            f"{margins.shape[1]}: pass estimator= to explain its prediction by sampling."
        )
    difference = np.abs(own - margins)
    is_other = ~(difference <= share * magnitudes + LOG_ROUNDING)
    if is_other.any():
        raise UnsupportedModelError(
            f"{_described(model)} predicts something else than the sum of its trees as they are "
            f"read here, in {is_other.any(1).sum()} of {len(own)} rows and by up to "
            f"{difference.max():.3g}: one of its options is not understood. Pass estimator= to "
            "explain its prediction by sampling."
        )


def _raw_prediction(reader: Any, model: Any, rows: Any) -> np.ndarray:
    """What the model itself says, in float64; rows that it refuses are the caller's."""
    try:
        return np.asarray(reader.raw_prediction(model, rows), np.float64)
    except Exception as error:
        raise InputError(f"the model refuses these rows: {error}") from error


def _as_the_model_takes(ensemble: Ensemble, rows: Any) -> Any:
    """A DataFrame with the model's order of columns, otherwise as it came; an array of floats."""
    if is_frame(rows):
        return ensemble.structure.conversion.columns.arrange(rows)
    array = np.array(as_numbers(rows, "the table"))  # a copy: the caller's memory is not handed out
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _margins(
    ensemble: Ensemble, rows: Any
) -> tuple[Float[np.ndarray, "rows outputs"], Float[np.ndarray, "rows outputs"]]:
    """Margins in float64 on the host, and the sums of the absolute values that make them up."""
    structure = ensemble.structure
    codes = np.asarray(structure.encode(rows))
    values, base = (np.asarray(part, np.float64) for part in (ensemble.values, ensemble.base))
    size = max(1, LEAVES_AT_ONCE // len(structure.roots))
    margins, magnitudes = [], []
    for start in range(0, len(codes), size):
        reached = values[_leaves(structure, codes[start : start + size])]  # (rows, trees, outputs)
        margins.append(_by_output(structure, reached) + base)
        magnitudes.append(_by_output(structure, np.abs(reached)) + np.abs(base))
    return np.concatenate(margins), np.concatenate(magnitudes)


def _leaves(
    structure: Structure, codes: Int[np.ndarray, "rows columns"]
) -> Int[np.ndarray, "rows trees"]:
    """The leaf that each row reaches in each tree."""
    at_leaf = structure.leaf >= 0
    itself = np.arange(len(at_leaf), dtype=np.int32)
    left, right = (np.where(at_leaf, itself, side) for side in (structure.left, structure.right))
    node = np.tile(structure.roots, (len(codes), 1))
    for _ in range(structure.depth):
        code = np.take_along_axis(codes, structure.column.take(node), axis=1)
        goes_left = code <= structure.bin.take(node)
        goes_left |= (code == MISSING) & structure.missing_left.take(node)
        node = np.where(goes_left, left.take(node), right.take(node))
    return structure.leaf[node]


def _by_output(
    structure: Structure, reached: Float[np.ndarray, "rows trees leaf_outputs"]
) -> Float[np.ndarray, "rows outputs"]:
    if structure.outputs is None:
        return reached.sum(1)
    belongs = structure.outputs[:, None] == np.arange(structure.num_outputs)
    return reached[:, :, 0] @ belongs.astype(np.float64)


def _described(model: Any) -> str:
    """The class of a model and those of its options that are not the defaults."""
    kind = type(model)
    if hasattr(model, "get_params"):
        options, defaults = model.get_params(), kind().get_params()
    else:
        options, defaults = getattr(model, "params", None) or {}, {}
    shown = {name: repr(option) for name, option in options.items() if option is not None}
    usual = {name: repr(option) for name, option in defaults.items()}
    changed = [f"{name}={text}" for name, text in shown.items() if text != usual.get(name)]
    return f"{kind.__name__}({', '.join(changed)})"
