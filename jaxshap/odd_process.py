"""A Gaussian process on the odd part of a game, y(z) = (v(S) − v(N∖S))/2 with z = ±1, and its Shapley read-out.

The prior covariance is s² (k_θ + w k_{8θ} + ν 1[z = z']), k_θ(z, z') = sinh(Σ θ_r z_r z'_r)/sinh(Σ θ_r): products of
signs of every odd order, the higher the rarer. Rows that are not `live` are padding: they stand apart with variance 1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float

from jaxshap.coalitions import gain_weights

ROUGH = 8.0  # how much rougher the second component is
LOWEST, HIGHEST = (-7.0, -16.0, -12.0), (float(np.log(3.0)), 3.0, 3.0)  # of log θ, log ν, log w


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


class ReadOut(NamedTuple):
    """Shapley values in units of the targets, their posterior variance, and the kurtosis of leave-one-out residuals."""

    values: Float[Array, "n out"]
    variance: Float[Array, "n out"]
    kurtosis: Float[Array, "out"]


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


def fit(rows: Rows, begin: Parameters, prior: Prior, num_evaluations: int, jitter: float) -> Parameters:
    """The most probable hyperparameters for all columns together, by L-BFGS within bounds.

    Exactly `num_evaluations` of the objective: a step that does not descend is shortened in the next turn, so that the
    loop can be mapped over columns.
    """
    optimiser = optax.scale_by_lbfgs(memory_size=8)
    tolerance = 1e-6 if rows.targets.dtype == jnp.float32 else 0.0

    def turn(carry, _):
        point, value, slope, direction, length, state = carry
        trial = _within(jax.tree.map(lambda p, d: p + length * d, point, direction))
        found, gradient = _objective(rows, trial, prior, jitter)
        moved = jax.tree.map(jnp.subtract, trial, point)
        promise = sum(jnp.vdot(g, d) for g, d in zip(slope, moved, strict=True))
        finite = jnp.isfinite(found) & jax.tree.reduce(
            jnp.logical_and, jax.tree.map(lambda g: jnp.isfinite(g).all(), gradient)
        )
        better = finite & (found <= value + 1e-4 * promise + tolerance * jnp.abs(value))
        free = _free(trial, gradient)
        with jax.numpy_dtype_promotion("standard"):  # the optimiser's own counters mix widths of integers
            update, next_state = optimiser.update(free, state, trial)
        step = jax.tree.map(lambda u, f: jnp.where(f == 0, 0, -u), update, free)
        downhill = sum(jnp.vdot(s, g) for s, g in zip(step, free, strict=True)) < 0
        step = jax.tree.map(lambda s, f: jnp.where(downhill, s, -0.1 * f), step, free)
        longest = jax.tree.reduce(jnp.maximum, jax.tree.map(lambda s: jnp.abs(s).max(), step))
        step = jax.tree.map(lambda s: s * jnp.minimum(1, 1 / jnp.maximum(longest, 1e-30)), step)
        taken = (trial, found, gradient, step, jnp.ones_like(length), next_state)
        kept = (point, value, slope, direction, 0.3 * length, state)
        return jax.tree.map(lambda new, old: jnp.where(better, new, old), taken, kept), None

    still = jax.tree.map(jnp.zeros_like, begin)  # the first turn evaluates where it stands
    dtype = rows.targets.dtype
    carry = (begin, jnp.asarray(1e30, dtype), still, still, jnp.ones((), dtype), optimiser.init(begin))
    return jax.lax.scan(turn, carry, length=num_evaluations)[0][0]


def read_out(rows: Rows, parameters: Parameters, jitter: float) -> ReadOut:
    """The posterior of the Shapley values; linear in the targets for given hyperparameters."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    factor = jnp.linalg.cholesky(_covariance(rows, theta, nu, w, jitter)[0])
    cross = _cross(rows.signs, theta) + w * _cross(rows.signs, ROUGH * theta) + nu * _white_cross(rows.signs)
    cross = jnp.where(rows.live[:, None], cross, 0)
    half = solve_triangular(factor, cross, lower=True)
    solved = solve_triangular(factor, rows.targets, lower=True)
    count = rows.live.sum().astype(factor.dtype)
    prior = _prior_variance(theta) + w * _prior_variance(ROUGH * theta) + nu * _white_variance(theta)
    remaining = jnp.maximum(prior - (half**2).sum(0), 0)
    scale = (solved**2).sum(0) / count
    inverse = solve_triangular(factor, jnp.eye(len(factor), dtype=factor.dtype), lower=True)
    left_out = (inverse.T @ solved) / jnp.sqrt((inverse**2).sum(0))[:, None]
    fourth, second = ((left_out**power).sum(0) / count for power in (4, 2))
    return ReadOut(half.T @ solved, remaining[:, None] * scale, fourth / jnp.maximum(second**2, 1e-30))


def _objective(rows: Rows, parameters: Parameters, prior: Prior, jitter: float) -> tuple[Array, Parameters]:
    """Minus the log posterior of the hyperparameters with the scale of each column profiled out, and its gradient.

    Columns share one covariance; together they count for at most four, since they are not independent.
    """
    theta, nu, w = (jnp.exp(part) for part in parameters)
    count = rows.live.sum().astype(theta.dtype)
    covariance, smooth, rough = _covariance(rows, theta, nu, w, jitter)
    factor = jnp.linalg.cholesky(covariance)
    inverse = cho_solve((factor, True), jnp.eye(len(factor), dtype=factor.dtype))
    weights = inverse @ rows.targets
    column = (rows.targets * weights).sum(0) / count
    used = column > 0
    columns = used.sum().astype(theta.dtype)
    column = jnp.where(used, column, 1)
    likelihood = 0.5 * count * jnp.log(column).sum() / columns + jnp.log(jnp.diag(factor)).sum()
    slope = 0.5 * (inverse - (weights / (column * columns)) @ weights.T)
    slope = jnp.where(rows.live[:, None] & rows.live, slope, 0)
    total = theta.sum()
    along = slope * (_cosh_kernel(rows.signs, theta) + ROUGH * w * _cosh_kernel(rows.signs, ROUGH * theta))
    shrink = _coth(total) * (slope * smooth).sum() + ROUGH * w * _coth(ROUGH * total) * (slope * rough).sum()
    by_theta = ((along @ rows.signs) * rows.signs).sum(0) - shrink
    gradient = Parameters(by_theta * theta, jnp.trace(slope) * nu, (slope * rough).sum() * w)
    share = jnp.minimum(4, columns)
    off = jax.tree.map(jnp.subtract, parameters, prior.centre)
    mean = off.log_theta.mean()
    each = (off.log_theta - mean) / prior.spread_each
    rest = jnp.stack([mean / prior.spread_mean, off.log_nu / prior.spread_nu, off.log_w / prior.spread_w])
    penalty = Parameters(
        each / prior.spread_each + mean / prior.spread_mean**2 / len(theta),
        off.log_nu / prior.spread_nu**2,
        off.log_w / prior.spread_w**2,
    )
    value = share * likelihood + 0.5 * ((each**2).sum() + (rest**2).sum())
    return value, jax.tree.map(lambda g, p: share * g + p, gradient, penalty)


def _covariance(rows: Rows, theta, nu, w, jitter: float) -> tuple[Array, Array, Array]:
    """The prior covariance of the rows without its scale, and its two smooth components."""
    smooth, rough = _sinh_kernel(rows.signs, theta), _sinh_kernel(rows.signs, ROUGH * theta)
    together = rows.live[:, None] & rows.live
    identity = jnp.eye(len(smooth), dtype=smooth.dtype)
    return jnp.where(together, smooth + w * rough, 0) + jnp.where(rows.live, nu + jitter, 1) * identity, smooth, rough


def _sinh_kernel(signs: Float[Array, "m n"], theta: Float[Array, "n"]) -> Float[Array, "m m"]:
    """sinh(Σ θ z z')/sinh(Σ θ), without overflow."""
    inner, total = (signs * theta) @ signs.T, theta.sum()
    size = jnp.abs(inner)
    return jnp.sign(inner) * (jnp.exp(size - total) - jnp.exp(-size - total)) / -jnp.expm1(-2 * total)


def _cosh_kernel(signs: Float[Array, "m n"], theta: Float[Array, "n"]) -> Float[Array, "m m"]:
    """cosh(Σ θ z z')/sinh(Σ θ), the derivative of the above."""
    size, total = jnp.abs((signs * theta) @ signs.T), theta.sum()
    return (jnp.exp(size - total) + jnp.exp(-size - total)) / -jnp.expm1(-2 * total)


def _coth(total: Float[Array, ""]) -> Float[Array, ""]:
    return (1 + jnp.exp(-2 * total)) / -jnp.expm1(-2 * total)


def _cross(signs: Float[Array, "m n"], theta: Float[Array, "n"]) -> Float[Array, "m n"]:
    """Covariance of φ_i and y(z): c ρ_i z_i ∫₋₁¹ Π_{r≠i} (1 + t ρ_r z_r) dt, ρ = tanh θ, c = Π cosh θ / sinh Σθ."""
    scaled, log_constant = signs * jnp.tanh(theta), _log_constant(theta)

    def node(total, point):
        position, weight = point
        factors = 1 + position * scaled
        return total + weight * jnp.exp(jnp.log(factors).sum(1) + log_constant)[:, None] / factors, None

    return scaled * jax.lax.scan(node, jnp.zeros_like(signs), _nodes(len(theta), theta.dtype))[0]


def _prior_variance(theta: Float[Array, "n"]) -> Float[Array, "n"]:
    """Variance of φ_i: c ρ_i ∬ Π_{r≠i} (1 + t u ρ_r) dt du."""
    positions, weights = _nodes(len(theta), theta.dtype)
    rho = jnp.tanh(theta)
    factors = 1 + (positions[:, None] * positions).reshape(-1, 1) * rho
    products = (weights[:, None] * weights).reshape(-1) * jnp.exp(jnp.log(factors).sum(1) + _log_constant(theta))
    return rho * (products @ (1 / factors))


def _log_constant(theta: Float[Array, "n"]) -> Float[Array, ""]:
    """log(Π cosh θ / sinh Σθ)."""
    return jnp.log1p(jnp.exp(-2 * theta)).sum() - (len(theta) - 1) * np.log(2.0) - jnp.log(-jnp.expm1(-2 * theta.sum()))


def _nodes(num_players: int, dtype) -> tuple[Array, Array]:
    """Gauss–Legendre nodes on [−1, 1], exact for all products up to 78 players and close enough beyond."""
    positions, weights = np.polynomial.legendre.leggauss(min(num_players // 2 + 1, 40))
    return jnp.asarray(positions, dtype), jnp.asarray(weights, dtype)


def _white_cross(signs: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """What a pair counts for each player in the exact Shapley sum: the read-out of the part that no kernel predicts."""
    num_players = signs.shape[1]
    gain = jnp.asarray(np.append(gain_weights(num_players), 0), signs.dtype)
    size = (signs > 0).sum(1)
    inside, outside = 2 * gain[jnp.maximum(size - 1, 0)][:, None], -2 * gain[size][:, None]
    return jnp.where(signs > 0, inside, outside)


def _white_variance(theta: Float[Array, "n"]) -> float:
    num_players = len(theta)
    return float(4 * (gain_weights(num_players) / num_players).sum())


def _within(parameters: Parameters) -> Parameters:
    return Parameters(*(jnp.clip(part, *ends) for part, *ends in zip(parameters, LOWEST, HIGHEST, strict=True)))


def _free(parameters: Parameters, gradient: Parameters) -> Parameters:
    """The gradient without the directions that lead out of bounds."""
    parts = zip(parameters, gradient, LOWEST, HIGHEST, strict=True)
    return Parameters(*(jnp.where(((p <= low) & (g > 0)) | ((p >= high) & (g < 0)), 0, g) for p, g, low, high in parts))
