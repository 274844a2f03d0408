"""A Gaussian process on the odd or the even part of a game: how it is fitted to worths, and what it says.

The prior covariance is s² (k_θ + w k_{8θ} + ν 1[z = z']), `sign_kernels` having k. ν belongs to the game, not to noise,
so that enumerating everything is exact. Rows that are not live are padding: they stand apart with variance 1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float

from jaxshap.sign_kernels import kernel, kernel_slope, shrinkage

ROUGH = 8.0  # how much rougher the second component is
LOWEST, HIGHEST = (-7.0, -16.0, -12.0), (float(np.log(3)), 3.0, 3.0)  # of log θ, log ν, log w


class Parameters(NamedTuple):
    """Hyperparameters, in logarithms."""

    log_theta: Float[Array, "n"]
    log_nu: Float[Array, ""]
    log_w: Float[Array, ""]


class Rows(NamedTuple):
    """What was observed: signs, whether a row is meant, and targets of unit size, one column an output."""

    signs: Float[Array, "m n"]
    live: Bool[Array, "m"]
    targets: Float[Array, "m out"]


class Posterior(NamedTuple):
    """Means and variances in units of the targets; each row's error when left out, and its expected size."""

    values: Float[Array, "k out"]
    variance: Float[Array, "k out"]
    left_out: Float[Array, "m out"]
    expected: Float[Array, "m out"]


class Prior(NamedTuple):
    """Where the hyperparameters are expected, and how far off they may be: log θ together and each by itself."""

    centre: Parameters
    spread_mean: float
    spread_each: float
    spread_nu: float
    spread_w: float


def start(num_players: int, dtype) -> Parameters:
    """Where the first fit begins."""
    return Parameters(jnp.full(num_players, np.log(0.3), dtype), jnp.asarray(-4.0, dtype), jnp.asarray(-3.0, dtype))


def first_prior(num_players: int, dtype) -> Prior:
    """Interactions fade with the number of players; θ, ν and w are known to an order of magnitude or two."""
    centre = jnp.full(num_players, -0.5 * np.log(num_players), dtype)
    return Prior(Parameters(centre, jnp.asarray(-5.0, dtype), jnp.asarray(-3.0, dtype)), 2.0, 1.0, 4.0, 2.0)


def prior_around(parameters: Parameters) -> Prior:
    """For one output, about what fits all of them."""
    return Prior(parameters, 1.0, 1.0, 3.0, 2.0)


def fit(rows: Rows, begin: Parameters, prior: Prior, num_evaluations: int, *, odd: bool, jitter: float) -> Parameters:
    """The most probable hyperparameters for all columns together, by L-BFGS within bounds.

    Exactly `num_evaluations` of the objective: a step that does not descend is shortened in the next turn, so that the
    loop can be mapped over columns.
    """
    optimiser = optax.scale_by_lbfgs(memory_size=8)
    tolerance = 1e-6 if rows.targets.dtype == jnp.float32 else 0.0

    def turn(carry, _):
        point, value, slope, direction, length, state = carry
        trial = _within(jax.tree.map(lambda p, d: p + length * d, point, direction))
        found, gradient = objective(rows, trial, prior, odd=odd, jitter=jitter)
        promise = _inner(slope, jax.tree.map(jnp.subtract, trial, point))
        finite = jnp.isfinite(found + _inner(gradient, gradient))
        better = finite & (found <= value + 1e-4 * promise + tolerance * jnp.abs(value))
        free = _free(trial, gradient)
        with jax.numpy_dtype_promotion("standard"):  # the optimiser's own counters mix widths of integers
            update, next_state = optimiser.update(free, state, trial)
        step = jax.tree.map(lambda u, f: jnp.where(f == 0, 0, -u), update, free)
        step = jax.tree.map(lambda s, f: jnp.where(_inner(step, free) < 0, s, -0.1 * f), step, free)
        longest = jax.tree.reduce(jnp.maximum, jax.tree.map(lambda s: jnp.abs(s).max(), step))
        step = jax.tree.map(lambda s: s * jnp.minimum(1, 1 / jnp.maximum(longest, 1e-30)), step)
        taken = (trial, found, gradient, step, jnp.ones_like(length), next_state)
        kept = (point, value, slope, direction, 0.3 * length, state)
        return jax.tree.map(lambda new, old: jnp.where(better, new, old), taken, kept), None

    still = jax.tree.map(jnp.zeros_like, begin)  # the first turn evaluates where it stands
    dtype = rows.targets.dtype
    carry = (begin, jnp.asarray(1e30, dtype), still, still, jnp.ones((), dtype), optimiser.init(begin))
    return jax.lax.scan(turn, carry, length=num_evaluations)[0][0]


def posterior(
    rows: Rows,
    parameters: Parameters,
    cross: Float[Array, "m k"],
    prior_variance: Float[Array, "k"],
    *,
    odd: bool,
    jitter: float,
) -> Posterior:
    """Of what has covariance `cross` with the rows; linear in the targets for given hyperparameters."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    factor = jnp.linalg.cholesky(_covariance(rows, theta, nu, w, odd, jitter)[0])
    half = solve_triangular(factor, jnp.where(rows.live[:, None], cross, 0), lower=True)
    solved = solve_triangular(factor, rows.targets, lower=True)
    inverse = solve_triangular(factor, jnp.eye(len(factor), dtype=factor.dtype), lower=True)
    scale = (solved**2).sum(0) / rows.live.sum().astype(factor.dtype)
    remaining = jnp.maximum(prior_variance - (half**2).sum(0), 0)
    precision = (inverse**2).sum(0)[:, None]
    return Posterior(
        half.T @ solved, remaining[:, None] * scale, (inverse.T @ solved) / precision, jnp.sqrt(scale / precision)
    )


def objective(
    rows: Rows, parameters: Parameters, prior: Prior, *, odd: bool, jitter: float
) -> tuple[Array, Parameters]:
    """Minus the log posterior of the hyperparameters with the scale of each column profiled out, and its gradient.

    Columns share one covariance; together they count for at most four, since they are not independent. Columns of
    zeros do not count.
    """
    theta, nu, w = (jnp.exp(part) for part in parameters)
    count = rows.live.sum().astype(theta.dtype)
    covariance, smooth, rough = _covariance(rows, theta, nu, w, odd, jitter)
    factor = jnp.linalg.cholesky(covariance)
    inverse = cho_solve((factor, True), jnp.eye(len(factor), dtype=factor.dtype))
    weights = inverse @ rows.targets
    column = (rows.targets * weights).sum(0) / count
    used = column > 0
    columns = jnp.maximum(used.sum(), 1).astype(theta.dtype)
    column = jnp.where(used, column, 1)
    likelihood = 0.5 * count * jnp.log(column).sum() / columns + jnp.log(jnp.diag(factor)).sum()
    slope = 0.5 * (inverse - (weights / (column * columns)) @ weights.T)
    slope = jnp.where(rows.live[:, None] & rows.live, slope, 0)
    along = slope * (kernel_slope(rows.signs, theta, odd) + ROUGH * w * kernel_slope(rows.signs, ROUGH * theta, odd))
    total = theta.sum()
    shrink = shrinkage(total, odd) * (slope * smooth).sum()
    shrink += ROUGH * w * shrinkage(ROUGH * total, odd) * (slope * rough).sum()
    by_theta = ((along @ rows.signs) * rows.signs).sum(0) - shrink
    gradient = Parameters(by_theta * theta, jnp.trace(slope) * nu, (slope * rough).sum() * w)
    share = jnp.minimum(4, used.sum()).astype(theta.dtype)
    penalty, pull = _penalty(parameters, prior)
    return share * likelihood + penalty, jax.tree.map(lambda g, p: share * g + p, gradient, pull)


def _penalty(parameters: Parameters, prior: Prior) -> tuple[Array, Parameters]:
    """Minus the log prior, and its gradient."""
    off = jax.tree.map(jnp.subtract, parameters, prior.centre)
    mean = off.log_theta.mean()
    each = (off.log_theta - mean) / prior.spread_each
    rest = jnp.stack([mean / prior.spread_mean, off.log_nu / prior.spread_nu, off.log_w / prior.spread_w])
    by_theta = each / prior.spread_each + mean / prior.spread_mean**2 / len(each)
    pull = Parameters(by_theta, off.log_nu / prior.spread_nu**2, off.log_w / prior.spread_w**2)
    return 0.5 * ((each**2).sum() + (rest**2).sum()), pull


def _covariance(rows: Rows, theta, nu, w, odd: bool, jitter: float) -> tuple[Array, Array, Array]:
    """The prior covariance of the rows without its scale, and its two smooth components."""
    smooth, rough = kernel(rows.signs, theta, odd), kernel(rows.signs, ROUGH * theta, odd)
    together = rows.live[:, None] & rows.live
    identity = jnp.eye(len(smooth), dtype=smooth.dtype)
    return jnp.where(together, smooth + w * rough, 0) + jnp.where(rows.live, nu + jitter, 1) * identity, smooth, rough


def _within(parameters: Parameters) -> Parameters:
    return Parameters(*(jnp.clip(part, *ends) for part, *ends in zip(parameters, LOWEST, HIGHEST, strict=True)))


def _free(parameters: Parameters, gradient: Parameters) -> Parameters:
    """The gradient without the directions that lead out of bounds."""
    parts = zip(parameters, gradient, LOWEST, HIGHEST, strict=True)
    return Parameters(*(jnp.where(((p <= low) & (g > 0)) | ((p >= high) & (g < 0)), 0, g) for p, g, low, high in parts))


def _inner(left: Parameters, right: Parameters) -> Float[Array, ""]:
    return sum((jnp.vdot(a, b) for a, b in zip(left, right, strict=True)), start=jnp.zeros((), left.log_nu.dtype))
