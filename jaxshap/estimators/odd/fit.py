"""Fitting the hyperparameters of a sign process, for many outputs at once, and how far to trust its
errors.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.odd.process import Parameters, Posterior, Prior, Rows, objective, posterior

MOST_FITTED, MOST_FITTED_EACH = (
    500,
    300,
)  # rows that the likelihood looks at: all outputs together, and each of many
MOST_COLUMNS = 4  # that all outputs together count for
MOST_WORK = 5e10  # multiplications that a fit for each output may cost unasked: a second or two
LEAST_WORK = 1.5e8  # multiplications in the time that a fit takes however few its rows
LOWEST, HIGHEST = (-7.0, -16.0, -12.0), (float(np.log(3)), 3.0, 3.0)  # of log θ, log ν, log w
ReadOut = Callable[[Float[Array, "m n"], Parameters], tuple[Float[Array, "m k"], Float[Array, "k"]]]


def fitted(
    rows: Rows,
    telling: Bool[Array, "out"],
    read_out: ReadOut,
    elsewhere: Float[Array, "r n"],
    *,
    odd: bool,
    fit_each: bool | None = None,
) -> Posterior:
    """The posterior of what `read_out` asks for and at points `elsewhere`, given the most probable
    hyperparameters.

    They are fitted to all `telling` outputs together, then, with `fit_each`, a few steps for each;
    None does so where it is little work. Gradients hold them as they are, so that the posterior
    means are linear in the targets.
    """
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = (
        1e-7 if dtype == jnp.float64 else 2e-8 * min(num_rows, MOST_FITTED)
    )  # what rounding does to the factor
    jitter *= 1 + 2e-3 * len(elsewhere)  # and to means that as many other worths are compared with
    own_work = LEAST_WORK + 18 * min(num_rows, MOST_FITTED_EACH) ** 3 + 2 * num_rows**3
    if fit_each is None:
        fit_each = outputs * own_work <= MOST_WORK
    looked_at = _looked_at(
        num_rows, num_players, MOST_FITTED_EACH if fit_each and outputs > 1 else MOST_FITTED
    )
    seen = jax.lax.stop_gradient(Rows(*(part[looked_at] for part in rows)))
    begin, prior = start(num_players, dtype), first_prior(num_players, dtype)

    def read(rows, parameters):
        return posterior(
            rows, parameters, *read_out(rows.signs, parameters), elsewhere, odd=odd, jitter=jitter
        )

    if outputs == 1:
        return read(rows, fit(seen, begin, prior, 32, odd=odd, jitter=jitter))
    together = seen._replace(targets=_combined(jnp.where(telling, seen.targets, 0)))
    if not fit_each:
        return read(rows, fit(together, begin, prior, 20, odd=odd, jitter=jitter))

    def stage(pooled, item):
        """All outputs together, then each of them: one after the other, and compiled once."""
        first, targets = item
        around = jax.tree.map(lambda *ends: jnp.where(first, *ends), prior, prior_around(pooled))
        point = jax.tree.map(lambda *ends: jnp.where(first, *ends), begin, pooled)
        turns = jnp.where(first, 20, 6)
        own = fit(seen._replace(targets=targets), point, around, turns, odd=odd, jitter=jitter)
        return jax.tree.map(lambda *ends: jnp.where(first, *ends), own, pooled), own

    alone = jnp.pad(
        seen.targets.T[:, :, None], ((0, 0), (0, 0), (0, together.targets.shape[1] - 1))
    )
    items = jnp.arange(outputs + 1) == 0, jnp.concatenate([together.targets[None], alone])
    _, own = jax.lax.scan(stage, begin, items)

    def of_output(item):
        column, parameters = item
        return jax.tree.map(
            lambda part: part[:, 0], read(rows._replace(targets=column[:, None]), parameters)
        )

    each = jax.lax.map(of_output, (rows.targets.T, jax.tree.map(lambda part: part[1:], own)))
    return jax.tree.map(jnp.transpose, each)


def _looked_at(num_rows: int, num_players: int, most: int) -> Int[np.ndarray, "few"]:
    """Rows for the likelihood, in their order: at most half of them N and single players, which
    come first.
    """
    single = np.arange(min(num_players + 1, most // 2 if num_rows > most else num_rows))
    return np.concatenate([single, np.arange(num_players + 1, num_rows)])[:most]


def _combined(targets: Float[Array, "m out"]) -> Float[Array, "m few"]:
    """A few columns that stand for all of them: themselves, or sums with random signs, which weigh
    all alike.
    """
    outputs = targets.shape[1]
    if outputs <= MOST_COLUMNS:
        return targets
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (outputs, MOST_COLUMNS))
    return targets @ jnp.asarray(signs, targets.dtype)


def widened_error(rows: Rows, found: Posterior) -> Float[Array, "k out"]:
    """The posterior's standard errors, widened by how well it predicts rows left out.

    By (1.1 + 3/√m) r² (κ/3)^0.4 for m rows: r is the size of standardised left-out errors beyond
    the single players, not below 0.6, and κ the kurtosis of all of them, not below 3. The posterior
    is too sure of itself with few rows, of games that jump (κ large), and not sure enough of sparse
    ones (r small). The form and its numbers were chosen on random games of seventeen kinds.
    """
    count = rows.live.sum().astype(found.values.dtype)
    standard = jnp.where(rows.live[:, None], found.left_out / jnp.maximum(found.expected, 1e-30), 0)
    beyond = rows.live & (jnp.abs(rows.signs.sum(1)) < rows.signs.shape[1] - 2)
    square = (jnp.where(beyond[:, None], standard, 0) ** 2).sum(0) / jnp.maximum(
        beyond.sum(), 1
    ).astype(count.dtype)
    fourth, second = ((standard**power).sum(0) / count for power in (4, 2))
    kurtosis = fourth / jnp.maximum(second**2, 1e-30)
    apart = jnp.where(beyond.any(), jnp.maximum(jnp.sqrt(square), 0.6), 1)
    factor = (1.1 + 3 / jnp.sqrt(count)) * apart**2 * jnp.maximum(kurtosis / 3, 1) ** 0.4
    return factor * jnp.sqrt(found.variance)


def start(num_players: int, dtype) -> Parameters:
    """Where the first fit begins: interactions that fade within a few players, however many there
    are.

    A sum of θ far above that of the game (it was 1 to 2 for networks of 100 to 784 players) takes
    more steps to leave than there are.
    """
    return Parameters(
        jnp.full(num_players, np.log(min(0.3, 2 / num_players)), dtype),
        jnp.asarray(-4.0, dtype),
        jnp.asarray(-3.0, dtype),
    )


def first_prior(num_players: int, dtype) -> Prior:
    """Interactions fade with the number of players; θ, ν and w are known to an order of magnitude
    or two.
    """
    centre = jnp.full(num_players, -0.5 * np.log(num_players), dtype)
    return Prior(
        Parameters(centre, jnp.asarray(-5.0, dtype), jnp.asarray(-3.0, dtype)), 2.0, 1.0, 4.0, 2.0
    )


def prior_around(parameters: Parameters) -> Prior:
    """For one output, about what fits all of them."""
    return Prior(parameters, 1.0, 1.0, 3.0, 2.0)


def fit(
    rows: Rows,
    begin: Parameters,
    prior: Prior,
    num_evaluations: int | Int[Array, ""],
    *,
    odd: bool,
    jitter: float,
) -> Parameters:
    """The most probable hyperparameters for all columns together, by L-BFGS within bounds.

    Exactly `num_evaluations` of the objective: a step that does not descend is shortened in the
    next turn, so that the loop can be mapped over columns.
    """
    optimiser = optax.scale_by_lbfgs(memory_size=8)
    tolerance = 1e-6 if rows.targets.dtype == jnp.float32 else 0.0
    first, parameters_of = ravel_pytree(begin)
    lowest, highest = (
        ravel_pytree(Parameters(*map(jnp.full_like, begin, ends)))[0] for ends in (LOWEST, HIGHEST)
    )

    def turn(_, carry):
        point, value, slope, direction, length, state = carry
        trial = jnp.clip(point + length * direction, lowest, highest)
        found, gradient = objective(rows, parameters_of(trial), prior, odd=odd, jitter=jitter)
        gradient = ravel_pytree(gradient)[0]
        finite = jnp.isfinite(found + gradient @ gradient)
        better = finite & (
            found <= value + 1e-4 * slope @ (trial - point) + tolerance * jnp.abs(value)
        )
        outward = ((trial <= lowest) & (gradient > 0)) | ((trial >= highest) & (gradient < 0))
        free = jnp.where(outward, 0, gradient)
        with jax.numpy_dtype_promotion(
            "standard"
        ):  # the optimiser's own counters mix widths of integers
            update, next_state = optimiser.update(free, state, trial)
        step = jnp.where(free == 0, 0, -jnp.asarray(update))
        step = jnp.where(step @ free < 0, step, -0.1 * free)
        step = step / jnp.maximum(1, jnp.abs(step).max())
        taken = (trial, found, gradient, step, jnp.ones_like(length), next_state)
        kept = (point, value, slope, direction, 0.3 * length, state)
        return jax.tree.map(lambda new, old: jnp.where(better, new, old), taken, kept)

    still, dtype = jnp.zeros_like(first), first.dtype  # the first turn evaluates where it stands
    carry = (
        first,
        jnp.asarray(1e30, dtype),
        still,
        still,
        jnp.ones((), dtype),
        optimiser.init(first),
    )
    return parameters_of(jax.lax.fori_loop(0, num_evaluations, turn, carry)[0])
