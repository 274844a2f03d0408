"""Fitting the hyperparameters of a sign process, for many outputs at once, and how far to trust its errors."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from jaxshap.sign_process import Parameters, Posterior, Prior, Rows, objective, posterior

MOST_FITTED = 500  # rows that the likelihood looks at; the read-out takes them all
MOST_WORK = 2e11  # multiplications that fitting each output by itself may cost
LOWEST, HIGHEST = (-7.0, -16.0, -12.0), (float(np.log(3)), 3.0, 3.0)  # of log θ, log ν, log w
ReadOut = Callable[[Float[Array, "m n"], Parameters], tuple[Float[Array, "m k"], Float[Array, "k"]]]


def fitted(rows: Rows, telling: Bool[Array, "out"], read_out: ReadOut, *, odd: bool) -> Posterior:
    """The posterior of what `read_out` asks for, each output with hyperparameters of its own.

    They are fitted to all `telling` outputs together, then a few steps for each, where that is not too much work.
    Gradients hold them as they are, so that the posterior means are linear in the targets.
    """
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = 1e-7 if dtype == jnp.float64 else 2e-8 * min(num_rows, MOST_FITTED)  # what rounding does to the factor
    seen = jax.lax.stop_gradient(Rows(*(part[:MOST_FITTED] for part in rows)))
    begin, prior = start(num_players, dtype), first_prior(num_players, dtype)

    def read(rows, parameters):
        return posterior(rows, parameters, *read_out(rows.signs, parameters), odd=odd, jitter=jitter)

    if outputs == 1:
        return read(rows, fit(seen, begin, prior, 32, odd=odd, jitter=jitter))
    shared = seen._replace(targets=jnp.where(telling, seen.targets, 0))
    pooled = fit(shared, begin, prior, 20, odd=odd, jitter=jitter)
    if outputs * 6 * num_rows**3 > MOST_WORK:
        return read(rows, pooled)

    def of_output(column):
        """One output after the other: batched factorisations are no faster on a CPU."""
        alone = seen._replace(targets=jax.lax.stop_gradient(column[:MOST_FITTED, None]))
        own = fit(alone, pooled, prior_around(pooled), 6, odd=odd, jitter=jitter)
        return jax.tree.map(lambda part: part[:, 0], read(rows._replace(targets=column[:, None]), own))

    return jax.tree.map(jnp.transpose, jax.lax.map(of_output, rows.targets.T))


def widened_error(rows: Rows, found: Posterior) -> Float[Array, "k out"]:
    """The posterior's standard errors, widened by how well it predicts rows left out.

    By (1.1 + 3/√m) r² (κ/3)^0.4 for m rows: r is the size of standardised left-out errors beyond the single players,
    not below 0.6, and κ the kurtosis of all of them, not below 3. The posterior is too sure of itself with few rows, of
    games that jump (κ large), and not sure enough of sparse ones (r small). The form and its numbers were chosen on
    random games of seventeen kinds.
    """
    count = rows.live.sum().astype(found.values.dtype)
    standard = jnp.where(rows.live[:, None], found.left_out / jnp.maximum(found.expected, 1e-30), 0)
    beyond = rows.live & (jnp.abs(rows.signs.sum(1)) < rows.signs.shape[1] - 2)
    square = (jnp.where(beyond[:, None], standard, 0) ** 2).sum(0) / jnp.maximum(beyond.sum(), 1).astype(count.dtype)
    fourth, second = ((standard**power).sum(0) / count for power in (4, 2))
    kurtosis = fourth / jnp.maximum(second**2, 1e-30)
    apart = jnp.where(beyond.any(), jnp.maximum(jnp.sqrt(square), 0.6), 1)
    factor = (1.1 + 3 / jnp.sqrt(count)) * apart**2 * jnp.maximum(kurtosis / 3, 1) ** 0.4
    return factor * jnp.sqrt(found.variance)


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


def _within(parameters: Parameters) -> Parameters:
    return Parameters(*(jnp.clip(part, *ends) for part, *ends in zip(parameters, LOWEST, HIGHEST, strict=True)))


def _free(parameters: Parameters, gradient: Parameters) -> Parameters:
    """The gradient without the directions that lead out of bounds."""
    parts = zip(parameters, gradient, LOWEST, HIGHEST, strict=True)
    return Parameters(*(jnp.where(((p <= low) & (g > 0)) | ((p >= high) & (g < 0)), 0, g) for p, g, low, high in parts))


def _inner(left: Parameters, right: Parameters) -> Float[Array, ""]:
    return sum((jnp.vdot(a, b) for a, b in zip(left, right, strict=True)), start=jnp.zeros((), left.log_nu.dtype))
