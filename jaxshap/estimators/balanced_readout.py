"""Linear read-outs of Shapley values from pairs {S, N∖S} whose players are relabelled at random.

Among all read-outs that are exact for additive games and unbiased for every game, the one with the
least error in a smooth random game. Computed once on the host, in float64: it depends on the pairs
alone.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.balanced_errors import fixed_rule, rule_of
from jaxshap.estimators.balanced_kernel import (
    OWN_SHARE,
    covariance,
    covariance_between,
    exact_variance,
    own_variance,
)

MAX_KRIGED_PAIRS = 2047  # with a covariance of their own; regression makes use of the others
MAX_DENSE_PAIRS = 2303  # whose left-out errors are a matrix: the bucket of MAX_KRIGED_PAIRS
BLOCK = 1024  # rows of a large covariance at once


class ReadOut(NamedTuple):
    """φ = total/n + linearᵀ rest, rest being gaps less their share of the total; and its errors.

    `precision` is that of residuals r = rest − centred @ linearᵀ rest: a matrix, or one factor per
    pair. `variance * precision r` are errors e of each pair, and Σ_p (linear_p e_p)² times what
    `rule` says is the variance of the values. The variance is NaN where nothing is left over, and 0
    where all pairs are known.
    """

    linear: Float[Array | np.ndarray, "p n"]
    centred: Float[Array | np.ndarray, "p n"]
    precision: Float[Array | np.ndarray, "p q"]
    variance: Float[Array | np.ndarray, "p 1"]
    rule: Float[Array | np.ndarray, "7"]


class _Fit(NamedTuple):
    """A read-out, and its covariance with what it reads."""

    linear: Float[np.ndarray, "p n"]
    shared: Float[np.ndarray, "p n"]


def read_out(sides: Bool[np.ndarray, "p n"], dense: bool = True) -> ReadOut:
    """Of these pairs, at least n − 1, which determine an additive game.

    `dense` says whether `precision` is to be a matrix, which few pairs need and many cannot have.
    """
    num_pairs, num_players = sides.shape
    centred = _centred(sides)
    if num_pairs == 2 ** (num_players - 1) - 1:
        none = np.zeros((num_pairs, num_pairs if dense else 1))
        return ReadOut(_exact(sides, centred), centred, none, none[:, :1], fixed_rule())
    if num_pairs > MAX_KRIGED_PAIRS:
        fit = _combined(sides, centred)
    else:
        fit, precision = _kriged(sides, centred)
        if dense:
            return _with_left_out_errors(sides, centred, fit, precision)
    own = own_variance(sides)
    residual = own - 2 * (centred * fit.shared).sum(1)
    residual += ((centred @ (fit.linear.T @ fit.shared)) * centred).sum(1)
    squares = (fit.linear**2).sum(1) @ own
    factors = np.sqrt(_expected_error(fit) / squares * own / np.maximum(residual, 1e-12))[:, None]
    one = np.ones((num_pairs, 1))
    return ReadOut(fit.linear, centred, np.diag(one[:, 0]) if dense else one, factors, fixed_rule())


def _with_left_out_errors(
    sides: Bool[np.ndarray, "p n"],
    centred: Float[np.ndarray, "p n"],
    fit: _Fit,
    precision: Float[np.ndarray, "p p"],
) -> ReadOut:
    """With errors of the prediction of each pair from the others; 0 where these do not tell."""
    diagonal = np.diag(precision)
    told = diagonal > 1e-9 * diagonal.max(initial=0)
    variance = np.where(told, 1 / np.where(told, diagonal, 1), 0)
    if len(sides) < sides.shape[1]:  # nothing is left over
        unknown = np.full((len(sides), 1), np.nan)
        return ReadOut(fit.linear, centred, precision, unknown, fixed_rule())
    rule = rule_of(sides, fit.linear, precision, variance, _expected_error(fit))
    return ReadOut(fit.linear, centred, precision, variance[:, None], rule)


def _expected_error(fit: _Fit) -> float:
    """Expected squared error of all values in the random game."""
    error = float((fit.linear * fit.shared).sum()) - exact_variance(fit.linear.shape[1])
    return max(error, 0.0)


def _exact(sides: Bool[np.ndarray, "p n"], centred: Float[np.ndarray, "p n"]):
    """What each pair counts for in Shapley values, all pairs being known."""
    size = _size(sides)
    wanted, number = _wanted(sides.shape[1]), np.bincount(size)
    return centred * (wanted / number / _square(sides.shape[1]))[size][:, None]


def _kriged(
    sides: Bool[np.ndarray, "p n"], centred: Float[np.ndarray, "p n"]
) -> tuple[_Fit, Float[np.ndarray, "p p"]]:
    """The best read-out, and the precision of what an additive game leaves of the pairs."""
    covariances = covariance(sides)
    inverse = np.linalg.inv(covariances)
    weighted = inverse @ centred
    first = weighted @ _inverse_gram(centred, weighted)
    precision = inverse - first @ weighted.T
    sums = _sums_by_size(sides)
    moved = sums @ (precision * (centred @ centred.T)) @ sums.T
    multiplier = _multiplier(moved, _wanted(sides.shape[1]) - sums @ (first * centred).sum(1))
    linear = first + precision @ (centred * (multiplier @ sums)[:, None])
    return _Fit(linear, covariances @ linear), precision


def _regressed(
    sides: Bool[np.ndarray, "p n"], centred: Float[np.ndarray, "p n"]
) -> Float[np.ndarray, "p n"]:
    """The best read-out if each pair had nothing in common with the others."""
    first = centred @ _inverse_gram(centred, centred)
    sums = _sums_by_size(sides)
    moved = np.diag(sums @ (centred**2).sum(1))
    for start in range(0, len(sides), BLOCK):
        rows = slice(start, start + BLOCK)
        products = (first[rows] @ centred.T) * (centred[rows] @ centred.T)
        moved -= sums[:, rows] @ products @ sums.T
    multiplier = _multiplier(moved, _wanted(sides.shape[1]) - sums @ (first * centred).sum(1))
    weighted = centred * (multiplier @ sums)[:, None]
    return first + weighted - first @ (centred.T @ weighted)


def _combined(sides: Bool[np.ndarray, "p n"], centred: Float[np.ndarray, "p n"]) -> _Fit:
    """The best mean of kriging the first pairs and of regression on all of them, both unbiased."""
    kriged, few = np.zeros(centred.shape), slice(MAX_KRIGED_PAIRS)
    kriged[few] = _kriged(sides[few], centred[few])[0].linear
    regressed = _regressed(sides, centred)
    both = np.concatenate([kriged, regressed], axis=1)
    shared = OWN_SHARE * both
    for start in range(0, len(sides), BLOCK):
        rows = slice(start, start + BLOCK)
        shared[rows] += covariance_between(sides[rows], sides) @ both
    num_players = sides.shape[1]
    of_kriged, of_regressed = shared[:, :num_players], shared[:, num_players:]
    gain = ((regressed - kriged) * of_regressed).sum()
    share = np.clip(gain / ((regressed - kriged) * (of_regressed - of_kriged)).sum(), 0, 1)
    return _Fit(
        share * kriged + (1 - share) * regressed, share * of_kriged + (1 - share) * of_regressed
    )


def _multiplier(
    moved: Float[np.ndarray, "half half"], missing: Float[np.ndarray, "half"]
) -> Float[np.ndarray, "half"]:
    """By how much each size must count more, for a read-out to be unbiased for every game.

    Relabelled at random, linear has the expectation (1/2n) Σ_s ℓ_s (mean gap with i − without i),
    ℓ_s = Σ linear_p · z_p over pairs with a smaller side of s. Shapley values have ℓ_s = 2, and 1
    where s = n/2. All ℓ together are right for every read-out that is exact for additive games, so
    one direction is free.
    """
    return np.linalg.pinv(moved, 1e-11, hermitian=True) @ missing


def _inverse_gram(
    centred: Float[np.ndarray, "p n"], weighted: Float[np.ndarray, "p n"]
) -> Float[np.ndarray, "n n"]:
    """On vectors that sum to 0; a multiple of 11ᵀ fills the direction left without a pair."""
    gram = centred.T @ weighted
    return np.linalg.inv(gram + np.trace(gram) / len(gram) ** 2)


def _centred(sides: Bool[np.ndarray, "p n"]) -> Float[np.ndarray, "p n"]:
    return np.where(sides, 2.0, 0.0) - 2 * sides.mean(1, keepdims=True)


def _size(sides: Bool[np.ndarray, "p n"]) -> Int[np.ndarray, "p"]:
    """Of the smaller side, from 0 for one player."""
    number = sides.sum(1)
    return np.minimum(number, sides.shape[1] - number) - 1


def _sums_by_size(sides: Bool[np.ndarray, "p n"]) -> Float[np.ndarray, "half p"]:
    return (_size(sides) == np.arange(sides.shape[1] // 2)[:, None]).astype(float)


def _square(num_players: int) -> Float[np.ndarray, "half"]:
    """|centred|² by size."""
    size = np.arange(1, num_players // 2 + 1)
    return 4 * size * (num_players - size) / num_players


def _wanted(num_players: int) -> Float[np.ndarray, "half"]:
    """ℓ of Shapley values, by size."""
    return np.where(2 * np.arange(1, num_players // 2 + 1) == num_players, 1.0, 2.0)
