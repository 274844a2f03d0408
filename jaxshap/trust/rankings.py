"""How much of a ranking of attributions is more than estimation error: from standard errors, and
from repeated keys.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.errors import InputError

MOST_PAIRS = 2**22


class Stability(NamedTuple):
    """For each row and output: whether the largest |values| are certain, and how far order and
    signs would repeat.

    `order` is the chance, averaged over pairs of features, that another key puts the two in the
    true order of their |values|; `signs` the chance, averaged over features, that it finds their
    true sign.
    """

    top: int
    level: float
    certain: Bool[np.ndarray, "rows *outputs"]
    order: Float[np.ndarray, "rows *outputs"]
    signs: Float[np.ndarray, "rows *outputs"]


class Agreement(NamedTuple):
    """Of several runs, over all rows, outputs and pairs of runs: how alike they are."""

    kendall: float  # mean rank correlation of |values|
    signs: float  # share of values with the same sign
    top: float  # share of rows with the same set of largest |values|


def stability(
    values: Float[np.ndarray, "rows features *outputs"],
    std_error: Float[np.ndarray, "rows features *outputs"],
    *,
    top: int = 3,
    level: float = 0.95,
) -> Stability:
    """What standard errors imply for the ranking of |values| within each row.

    The `top` largest are certain where each of them exceeds each of the others by more than normal
    errors make likely at this level for all these comparisons together (Bonferroni), whatever the
    errors' correlation. An unknown standard error (NaN) makes nothing certain.
    """
    number = values.shape[1]
    if not 1 <= top < number:
        raise InputError(
            f"top={top}: pass a number from 1 to {number - 1}, one less than there are features."
        )
    if not 0 < level < 1:
        raise InputError(f"level={level}: pass a chance, such as 0.95.")
    sizes, errors = (
        np.moveaxis(np.abs(values), 1, -1),
        np.moveaxis(std_error, 1, -1),
    )  # rows, *outputs, features
    shape = sizes.shape[:-1]
    sizes, errors = (part.reshape(-1, number) for part in (sizes, errors))
    block = max(1, MOST_PAIRS // number**2)  # every two features are compared, in bounded memory
    starts = range(0, len(sizes), block)
    found = [_ranked(sizes[at : at + block], errors[at : at + block], top, level) for at in starts]
    return Stability(
        top, level, *(np.concatenate(parts).reshape(shape) for parts in zip(*found, strict=True))
    )


def _ranked(
    sizes: Float[np.ndarray, "cases features"],
    errors: Float[np.ndarray, "cases features"],
    top,
    level,
):
    """Whether the top is certain, and the chances of order and signs, case by case."""
    from scipy.stats import norm  # slow to import, and not needed before

    number = sizes.shape[1]
    order = np.argsort(-sizes, axis=1, kind="stable")
    sizes, errors = (np.take_along_axis(part, order, axis=1) for part in (sizes, errors))
    within = norm.ppf(1 - (1 - level) / (top * (number - top)))
    gap = sizes[:, :top, None] - sizes[:, None, top:]
    widest = (
        errors[:, :top, None] + errors[:, None, top:]
    )  # of a difference, however errors go together
    certain = np.asarray((gap > within * widest).all((1, 2)))
    first, second = np.triu_indices(number, 1)
    between = np.sqrt(errors[:, first] ** 2 + errors[:, second] ** 2)
    less, more = (_chance(sizes[:, first] + sign * sizes[:, second], between) for sign in (-1, 1))
    alike = (less * more + (1 - less) * (1 - more)).mean(
        1
    )  # |a| > |b| where a − b and a + b have the same sign
    return certain, alike, _chance(sizes, errors).mean(1)


def run_agreement(
    runs: Sequence[Float[np.ndarray, "rows features *outputs"]], *, top: int = 3
) -> Agreement:
    """How alike the values of several runs with different keys are, two by two.

    Example:
        >>> import jaxshap, numpy as np
        >>> found = jaxshap.trust.run_agreement([np.array([[3.0, -2.0, 1.0]]), np.array([[2.0, -3.0, 1.0]])], top=2)
        >>> found.signs, found.top, round(found.kendall, 3)
        (1.0, 1.0, 0.333)
    """
    from scipy.stats import kendalltau

    if len(runs) < 2:
        raise InputError(
            f"run_agreement compares runs, and there are {len(runs)}: pass two or more."
        )
    flat = [np.moveaxis(np.asarray(run), 1, -1).reshape(-1, run.shape[1]) for run in runs]
    largest = [
        np.sort(np.argsort(-np.abs(run), axis=1, kind="stable")[:, :top], axis=1) for run in flat
    ]
    ranks, signs, tops = [], [], []
    for one, other in itertools.combinations(range(len(runs)), 2):
        both = zip(np.abs(flat[one]), np.abs(flat[other]), strict=True)
        ranks.append(np.nanmean(np.array([kendalltau(*pair)[0] for pair in both], float)))
        signs.append((np.sign(flat[one]) == np.sign(flat[other])).mean())
        tops.append((largest[one] == largest[other]).all(1).mean())
    return Agreement(*(float(np.mean(part)) for part in (ranks, signs, tops)))


def _chance(size: np.ndarray, error: np.ndarray) -> np.ndarray:
    """That a normal error does not turn the sign of a difference of this size; without an error it
    cannot.
    """
    from scipy.special import ndtr

    return np.where(error == 0, 1.0, ndtr(size / np.where(error == 0, 1, error)))
