"""Shapley values from rows of the odd part: by a process, by regression, or by both where there are
more rows than a process takes.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.least_squares import LeastSquares, least_squares, sequence_after
from jaxshap.estimators.odd.calibration import widened_error
from jaxshap.estimators.odd.design import balanced_rates
from jaxshap.estimators.odd.fit import fitted
from jaxshap.estimators.odd.process import Posterior, Rows
from jaxshap.estimators.pair_regression import regress_pairs
from jaxshap.estimators.protocol import Estimate

MAX_PROCESS_ROWS = 4000  # of one process; regression corrects it by the rows beyond
MIN_CURVATURE = 1e-3  # relative residual below which an output cannot inform length scales


def read_out(rows: Rows, fit_each: bool | None) -> Estimate:
    """Values and errors in units of the targets.

    A process on the first `MAX_PROCESS_ROWS`, corrected by its errors on the rows beyond; with
    thousands of players, regression alone.
    """
    num_rows, num_players = rows.signs.shape
    if num_rows <= MAX_PROCESS_ROWS:
        return _by_process(rows, rows.signs[:0], fit_each)[0]
    if num_players <= MAX_PROCESS_ROWS // 2:
        return _corrected(rows, fit_each)
    if num_rows > 3 * num_players:
        return _by_regression(rows)
    return _additive_estimate(least_squares(rows.signs, rows.targets, rows.live))


def _by_process(
    rows: Rows, elsewhere: Float[Array, "r n"], fit_each: bool | None
) -> tuple[Estimate, Float[Array, "points out"]]:
    """By the process, or by an additive game where that predicts better; also its means at these
    rows and elsewhere.
    """
    additive = least_squares(rows.signs, rows.targets, rows.live)
    curved = (additive.left_out**2).sum(0) > MIN_CURVATURE**2 * (rows.targets**2).sum(0)
    process = fitted(rows, curved, elsewhere, odd=True, fit_each=fit_each)
    estimate = Estimate(process.values, widened_error(rows, process))
    better = _left_out_squares(additive, rows.live) < _left_out_squares(process, rows.live)
    line = jnp.concatenate([rows.signs, elsewhere]) @ additive.coefficients
    means = jnp.where(better, line, process.means)
    return _where(better, _additive_estimate(additive), estimate), means


def _corrected(rows: Rows, fit_each: bool | None) -> Estimate:
    """The process on the first rows, and as much of the regression of its errors on the rows beyond
    as these errors justify.

    Or regression alone, where its error is smaller.
    """
    num_rows, num_players = rows.signs.shape
    first = Rows(*(array[:MAX_PROCESS_ROWS] for array in rows))
    process, means = _by_process(first, rows.signs[MAX_PROCESS_ROWS:], fit_each)
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
    used = Estimate(*(jnp.where(share > 0, array, 0) for array in rest))
    error = jnp.hypot((1 - share) * process.std_error, share * used.std_error)
    corrected = Estimate(process.values + share * used.values, error)
    return _where(alone < (error**2).mean(0), plain, corrected)


def _by_regression(rows: Rows, known: Bool[Array, "m"] | None = None) -> Estimate:
    """By the pairs without {∅, N}, whose half gap is the sum that the values must have."""
    rates = balanced_rates(rows.signs.shape[1])
    known = None if known is None else known[1:]
    return regress_pairs(
        rows.signs[1:] > 0, rows.live[1:], 2 * rows.targets[1:], 2 * rows.targets[0], rates, known
    )


def _additive_estimate(additive: LeastSquares) -> Estimate:
    return Estimate(2 * additive.coefficients, 2 * additive.std_error)


def _left_out_squares(fit: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    return (jnp.where(live[:, None], fit.left_out, 0) ** 2).sum(0)


def _where(condition: Bool[Array, "out"], first: Estimate, second: Estimate) -> Estimate:
    return Estimate(*(jnp.where(condition, *ends) for ends in zip(first, second, strict=True)))
