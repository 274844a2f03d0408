"""Shapley values from rows of the odd part: by a process, by regression, or by both where there are
more rows than a process takes.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.least_squares import LeastSquares, least_squares, sequence_after
from jaxshap.estimators.odd.calibration import doubt, is_of_pairs, widened_error
from jaxshap.estimators.odd.design import balanced_rates
from jaxshap.estimators.odd.fit import fitted, has_all_twos
from jaxshap.estimators.odd.process import Posterior, Rows
from jaxshap.estimators.pair_regression import regress_pairs

MAX_PROCESS_ROWS = 4000  # of one process; regression corrects it by the rows beyond
MIN_CURVATURE = 1e-3  # relative residual below which an output cannot inform length scales


class ValuesAndErrors(NamedTuple):
    """In units of the targets."""

    values: Float[Array, "n out"]
    std_error: Float[Array, "n out"]


class Shown(NamedTuple):
    """What the worths showed beside their odd part, in units of the targets: half their spread, and
    the even part at each row.
    """

    reach: Float[Array, "out"]
    even: Float[Array, "m out"]


class _Process(NamedTuple):
    """The estimate of a process, its means at the rows and elsewhere, and for each output whether
    the rows determine all that it takes the game to hold.
    """

    estimate: ValuesAndErrors
    means: Float[Array, "points out"]
    settled: Bool[Array, "out"]


def read_out(rows: Rows, fit_each: bool | None, shown: Shown) -> ValuesAndErrors:
    """Values and errors in units of the targets.

    A process on the first `MAX_PROCESS_ROWS`, corrected by its errors on the rows beyond; with
    thousands of players, regression alone.
    """
    num_rows, num_players = rows.signs.shape
    more = num_rows > MAX_PROCESS_ROWS
    by_regression = more and num_players > MAX_PROCESS_ROWS // 2
    first = rows if by_regression else Rows(*(array[:MAX_PROCESS_ROWS] for array in rows))
    additive = least_squares(first.signs, first.targets, first.live)
    farthest = jnp.abs(jnp.where(first.live[1:, None], additive.left_out[1:], 0)).max(0, initial=0)
    settled = is_of_pairs(rows, farthest, shown.even)
    if by_regression:
        regressed = num_rows > 3 * num_players
        estimate = _by_regression(rows) if regressed else _additive_estimate(additive)
    else:
        process = _by_process(first, additive, settled, rows.signs[MAX_PROCESS_ROWS:], fit_each)
        estimate = _corrected(rows, process) if more else process.estimate
        settled = process.settled
    return _doubted(estimate, doubt(rows, farthest, shown.reach, settled))


def _doubted(estimate: ValuesAndErrors, unseen: Float[Array, "n out"]) -> ValuesAndErrors:
    """With the error that interactions not seen may add."""
    error = jnp.sqrt(estimate.std_error**2 + jax.lax.stop_gradient(unseen) ** 2)
    return ValuesAndErrors(estimate.values, error)


def _by_process(
    rows: Rows,
    additive: LeastSquares,
    of_pairs: Bool[Array, "out"],
    elsewhere: Float[Array, "r n"],
    fit_each: bool | None,
) -> _Process:
    """By the process, or by an additive game where that predicts better; the error is then the
    larger of the two, unless the game is one `of_pairs`, whose odd part is additive.
    """
    curved = (additive.left_out**2).sum(0) > MIN_CURVATURE**2 * (rows.targets**2).sum(0)
    process, low = fitted(rows, curved, elsewhere, odd=True, fit_each=fit_each)
    squares, low_squares = (left_out_squares(one, rows.live) for one in (process, low))
    error, low_error = (widened_error(rows, one) for one in (process, low))
    determined = determines_low(rows)
    low_error = jnp.where(determined, low_error, jnp.maximum(error, low_error))
    better = has_all_twos(rows) & (low_squares < squares)
    settled = better & determined
    estimate = _where(
        better, ValuesAndErrors(low.values, low_error), ValuesAndErrors(process.values, error)
    )
    means, squares = (
        jnp.where(better, *ends) for ends in ((low.means, process.means), (low_squares, squares))
    )
    better = of_pairs | (left_out_squares(additive, rows.live) < squares)
    line = jnp.concatenate([rows.signs, elsewhere]) @ additive.coefficients
    means = jnp.where(better, line, means)
    values, error = _additive_estimate(additive)[:2]
    error = jnp.where(of_pairs, error, jnp.maximum(error, estimate.std_error))
    estimate = _where(better, ValuesAndErrors(values, error), estimate)
    return _Process(estimate, means, jnp.where(better, of_pairs, settled))


def _corrected(rows: Rows, by_process: _Process) -> ValuesAndErrors:
    """The process on the first rows, and as much of the regression of its errors on the rows beyond
    as these errors justify.

    Or regression alone, where its error is smaller.
    """
    num_rows, num_players = rows.signs.shape
    process, means, _ = by_process
    known = jnp.arange(num_rows) < MAX_PROCESS_ROWS
    rest = _by_regression(
        Rows(sequence_after(means, rows.signs), rows.live, rows.targets - means), known
    )
    plain = _by_regression(rows._replace(signs=sequence_after(rest.values, rows.signs)))
    own, others, alone = (
        jax.lax.stop_gradient(estimate.std_error**2).mean(0) for estimate in (process, rest, plain)
    )
    enough = (rows.live & ~known).sum() > 2 * num_players
    others = jnp.where(enough & (others >= 0), others, jnp.inf)  # NaN is not
    share = own / jnp.where(own + others > 0, own + others, 1)
    used = ValuesAndErrors(*(jnp.where(share > 0, array, 0) for array in rest))
    error = jnp.hypot((1 - share) * process.std_error, share * used.std_error)
    corrected = ValuesAndErrors(process.values + share * used.values, error)
    return _where(alone < (error**2).mean(0), plain, corrected)


def _by_regression(rows: Rows, known: Bool[Array, "m"] | None = None) -> ValuesAndErrors:
    """By the pairs without {∅, N}, whose half gap is the sum that the values must have."""
    rates = balanced_rates(rows.signs.shape[1], all_twos=True)
    known = None if known is None else known[1:]
    sides, gaps = rows.signs[1:] > 0, 2 * rows.targets[1:]
    fit = regress_pairs(sides, rows.live[1:], gaps, 2 * rows.targets[0], rates, known)
    return ValuesAndErrors(fit.values, fit.std_error)


def determines_low(rows: Rows, odd: bool = True) -> Bool[Array, ""]:
    """Whether there are clearly more rows than products of one and of three signs, and sizes; in
    the even part, than a constant and products of two.
    """
    num_players = rows.signs.shape[1]
    unknown = num_players + math.comb(num_players, 3) + num_players // 2
    unknown = unknown if odd else 1 + math.comb(num_players, 2)
    return rows.live.sum() > unknown + unknown // 10


def _additive_estimate(additive: LeastSquares) -> ValuesAndErrors:
    return ValuesAndErrors(2 * additive.coefficients, 2 * additive.std_error)


def left_out_squares(fit: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    """Over all pairs but {∅, N}, whose size no other pair shares."""
    return (jnp.where(live[1:, None], fit.left_out[1:], 0) ** 2).sum(0)


def _where(
    condition: Bool[Array, "out"], first: ValuesAndErrors, second: ValuesAndErrors
) -> ValuesAndErrors:
    return ValuesAndErrors(
        *(jnp.where(condition, *ends) for ends in zip(first, second, strict=True))
    )
