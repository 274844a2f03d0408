"""How much of a ranking is more than estimation error: by standard errors, and by repeated keys."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_numbers, read_number, read_whole, shown
from jaxshap.inputs import is_list
from jaxshap.trust.intervals import one_sided_quantile

MAX_PAIRS = 2**22  # pairs of features that are compared at once, over all cases of a block


class Stability(NamedTuple):
    """How certain the ranking of |values| is in each row and output.

    Attributes:
        top: how many of the largest values are judged.
        level: the chance with which they are certain.
        certain: whether the `top` largest |values| are certain.
        order: the chance, averaged over pairs of features, that another key puts the two in the
            true order of their |values|.
        signs: the chance, averaged over features, that another key finds their true sign.

    Example:
        >>> import jaxshap
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 1.0]], [[0.0, 0.0]])
        >>> stability = explained.stability(top=1)
        >>> stability.certain.tolist(), stability.order.tolist(), stability.signs.tolist()
        ([True], [1.0], [1.0])
    """

    top: int
    level: float
    certain: Bool[np.ndarray, "rows *outputs"]
    order: Float[np.ndarray, "rows *outputs"]
    signs: Float[np.ndarray, "rows *outputs"]


class Agreement(NamedTuple):
    """How alike several runs are, averaged over all rows, outputs and pairs of runs.

    Attributes:
        kendall: the mean rank correlation of |values|.
        signs: the share of values with the same sign.
        top: the share of rows and outputs with the same set of largest |values|.

    Example:
        >>> import jaxshap, numpy as np
        >>> runs = [np.array([[3.0, -2.0]]), np.array([[3.0, 2.0]])]
        >>> jaxshap.trust.run_agreement(runs, top=1)
        Agreement(kendall=1.0, signs=0.5, top=1.0)
    """

    kendall: float
    signs: float
    top: float


def stability(
    values: Float[np.ndarray, "rows features *outputs"],
    std_error: Float[np.ndarray, "rows features *outputs"],
    degrees: Float[np.ndarray, "rows features *outputs"] | float = np.inf,
    *,
    top: int = 3,
    level: float = 0.95,
) -> Stability:
    """What standard errors imply for the ranking of |values| within each row.

    The `top` largest are certain where each of them exceeds every smaller value by more than
    errors distributed like Student's t make likely, at this level for all these comparisons
    together (Bonferroni) and whatever the errors' correlation. An unknown standard error (NaN)
    makes nothing certain.
    """
    values, std_error = _read_values(values, "values"), _read_values(std_error, "std_error")
    degrees = np.asarray(as_numbers(degrees, "degrees"), np.float64)
    if std_error.shape != values.shape or degrees.shape not in ((), values.shape):
        raise InputError(
            f"values have shape {values.shape}, std_error {std_error.shape} and degrees "
            f"{degrees.shape}: pass one error and one number of degrees per value."
        )
    number, top = values.shape[1], read_whole(top, "top")
    if top >= number:
        raise InputError(
            f"top={top}: pass a number from 1 to {number - 1}, one less than there are features."
        )
    level = read_number(level, "level", above=0, below=1)
    fields = np.abs(values), std_error, np.broadcast_to(degrees, values.shape)
    sizes, errors, freedoms = (_cases(np.asarray(field)) for field in fields)
    block = max(1, MAX_PAIRS // number**2)
    ranked = [
        _rank(sizes[own], errors[own], freedoms[own], top, level)
        for own in (slice(start, start + block) for start in range(0, len(sizes), block))
    ]
    shape = (len(values), *values.shape[2:])
    certain, order, signs = (
        np.concatenate(blocks).reshape(shape) for blocks in zip(*ranked, strict=True)
    )
    return Stability(top, level, certain, order, signs)


def run_agreement(
    runs: Sequence[Float[Array | np.ndarray, "rows features *outputs"]], *, top: int = 3
) -> Agreement:
    """How alike the values of several runs with different keys are, two by two.

    Args:
        runs: the values of two runs or more, each (rows, features, *outputs).
        top: how many of the largest |values| to compare as a set, 3 by default.

    Returns:
        The `Agreement` of the runs.

    Raises:
        InputError: there are fewer than two runs.

    Example:
        >>> import jaxshap, numpy as np
        >>> runs = [np.array([[3.0, -2.0, 1.0]]), np.array([[2.0, -3.0, 1.0]])]
        >>> agreement = jaxshap.trust.run_agreement(runs, top=2)
        >>> agreement.signs, agreement.top, round(agreement.kendall, 3)
        (1.0, 1.0, 0.333)
    """
    from scipy.stats import kendalltau  # slow to import, and not needed before

    is_text = isinstance(runs, str | bytes)
    if is_text or not is_list(runs) or not hasattr(runs, "__len__") or hasattr(runs, "toarray"):
        raise InputTypeError(f"runs={shown(runs)}: pass a list of the values of each run.")
    if len(runs) < 2:
        raise InputError(
            f"run_agreement compares runs, and there are {len(runs)}: pass two or more."
        )
    read = [_read_values(run, "a run") for run in runs]
    top = read_whole(top, "top")
    if shapes := {run.shape for run in read} - {read[0].shape}:
        raise InputError(
            f"runs have shapes {read[0].shape} and {shapes.pop()}: pass values of the same rows, "
            "features and outputs."
        )
    flat = [_cases(run) for run in read]
    ranked = [np.argsort(-np.abs(run), axis=1, kind="stable") for run in flat]
    largest = [np.sort(order[:, :top], axis=1) for order in ranked]
    kendalls, signs, tops = [], [], []
    for one, other in itertools.combinations(range(len(runs)), 2):
        sizes = zip(np.abs(flat[one]), np.abs(flat[other]), strict=True)
        kendalls.append(np.nanmean(np.array([kendalltau(*pair)[0] for pair in sizes], float)))
        signs.append((np.sign(flat[one]) == np.sign(flat[other])).mean())
        tops.append((largest[one] == largest[other]).all(1).mean())
    return Agreement(float(np.mean(kendalls)), float(np.mean(signs)), float(np.mean(tops)))


def _read_values(values: Any, what: str) -> np.ndarray:
    """Numbers for rows, features and perhaps outputs."""
    array = np.asarray(as_numbers(values, what))
    if array.ndim < 2 or not array.size:
        raise InputError(
            f"{what} must have shape (rows, features, *outputs), none of them 0, not {array.shape}."
        )
    return array


def _cases(
    values: Float[np.ndarray, "rows features *outputs"],
) -> Float[np.ndarray, "cases features"]:
    """One case per row and output."""
    return np.moveaxis(values, 1, -1).reshape(-1, values.shape[1])


def _rank(
    sizes: Float[np.ndarray, "cases features"],
    errors: Float[np.ndarray, "cases features"],
    degrees: Float[np.ndarray, "cases features"],
    top: int,
    level: float,
) -> tuple[Bool[np.ndarray, "cases"], Float[np.ndarray, "cases"], Float[np.ndarray, "cases"]]:
    """Whether the top is certain, and the chances of the order and of the signs, case by case."""
    number = sizes.shape[1]
    order = np.argsort(-sizes, axis=1, kind="stable")
    fields = (sizes, errors, degrees)
    sizes, errors, degrees = (np.take_along_axis(field, order, axis=1) for field in fields)
    reach = errors * one_sided_quantile(1 - (1 - level) / (top * (number - top)), degrees)
    gap = sizes[:, :top, None] - sizes[:, None, top:]
    bound = reach[:, :top, None] + reach[:, None, top:]  # of a difference, at any correlation
    certain = np.asarray((gap > bound).all((1, 2)))
    first, second = np.triu_indices(number, 1)
    spread = np.sqrt(errors[:, first] ** 2 + errors[:, second] ** 2)
    fewer = np.minimum(degrees[:, first], degrees[:, second])
    sums = (sizes[:, first] + sign * sizes[:, second] for sign in (-1, 1))
    less, more = (_chance(size, spread, fewer) for size in sums)
    # |a| > |b| where a − b and a + b have the same sign
    same_order = (less * more + (1 - less) * (1 - more)).mean(1)
    return certain, same_order, _chance(sizes, errors, degrees).mean(1)


def _chance(size: np.ndarray, error: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """That an error leaves the sign of a difference of this size as it is; 1 without one."""
    from scipy.special import stdtr  # slow to import, and not needed before

    return np.where(error == 0, 1.0, stdtr(degrees, size / np.where(error == 0, 1, error)))
