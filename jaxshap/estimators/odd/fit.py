"""Fitting the hyperparameters of a process, for many outputs at once."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.odd.mixture import SignMixture
from jaxshap.estimators.odd.process import Posterior, Prior, Rows, objective, posterior

MAX_FIT_ROWS = 500  # in the likelihood of one output, or of all outputs together
MAX_FIT_ROWS_PER_OUTPUT = 300  # in the likelihood of each of several outputs
MAX_POOLED_COLUMNS = 4  # that stand for all outputs in a likelihood
MAX_FIT_FLOPS = 5e10  # a second or two; above, outputs share length scales unless fit_each=True
MIN_FIT_FLOPS = 1.5e8  # what a fit takes in time, however few its rows
POOLED_EVALUATIONS, OWN_EVALUATIONS, SINGLE_EVALUATIONS = 20, 6, 32  # of the objective, by fit
BACKTRACK = 0.3  # factor for a step that did not descend


def fitted(
    rows: Rows,
    informative: Bool[Array, "out"],
    elsewhere: Float[Array, "r n"],
    *,
    odd: bool,
    fit_each: bool | None = None,
) -> Posterior:
    """The posterior of the read-out and at points `elsewhere`, given the most probable
    hyperparameters.

    They are fitted to all `informative` outputs together, then, with `fit_each`, by a few steps to
    each; None does so where it is little work. Gradients hold them fixed, so that the posterior
    means are linear in the targets.
    """
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = _jitter(num_rows, len(elsewhere), dtype)
    if fit_each is None:
        fit_each = outputs * _fit_flops(num_rows) <= MAX_FIT_FLOPS
    max_rows = MAX_FIT_ROWS_PER_OUTPUT if fit_each and outputs > 1 else MAX_FIT_ROWS
    selected = _selected_rows(num_rows, num_players, max_rows)
    seen = jax.lax.stop_gradient(Rows(*(array[selected] for array in rows)))
    begin, prior = start(num_players, dtype, odd), first_prior(num_players, dtype, odd)
    if outputs == 1:
        mixture = fit(seen, begin, prior, SINGLE_EVALUATIONS, jitter=jitter)
        return posterior(rows, mixture, elsewhere, jitter=jitter)
    pooled = _pooled(jnp.where(informative, seen.targets, 0))
    if not fit_each:
        together = seen._replace(targets=pooled)
        mixture = fit(together, begin, prior, POOLED_EVALUATIONS, jitter=jitter)
        return posterior(rows, mixture, elsewhere, jitter=jitter)
    mixtures = _fit_each(seen, pooled, begin, prior, jitter)

    def of_output(column_and_mixture):
        column, mixture = column_and_mixture
        own = rows._replace(targets=column[:, None])
        return jax.tree.map(
            lambda array: array[:, 0], posterior(own, mixture, elsewhere, jitter=jitter)
        )

    return jax.tree.map(jnp.transpose, jax.lax.map(of_output, (rows.targets.T, mixtures)))


def _fit_each(
    seen: Rows, pooled: Float[Array, "m few"], begin: SignMixture, prior: Prior, jitter: float
) -> SignMixture:
    """A mixture per output: fitted to the pooled columns first, then to each output from there.

    One after the other in one loop, so that the fit is compiled once.
    """

    def stage(shared, first_and_targets):
        first, targets = first_and_targets
        around = jax.tree.map(lambda *ends: jnp.where(first, *ends), prior, prior_around(shared))
        point = jax.tree.map(lambda *ends: jnp.where(first, *ends), begin, shared)
        turns = jnp.where(first, POOLED_EVALUATIONS, OWN_EVALUATIONS)
        own = fit(seen._replace(targets=targets), point, around, turns, jitter=jitter)
        return jax.tree.map(lambda *ends: jnp.where(first, *ends), own, shared), own

    outputs = seen.targets.shape[1]
    alone = jnp.pad(seen.targets.T[:, :, None], ((0, 0), (0, 0), (0, pooled.shape[1] - 1)))
    columns = jnp.concatenate([pooled[None], alone])
    _, mixtures = jax.lax.scan(stage, begin, (jnp.arange(outputs + 1) == 0, columns))
    return jax.tree.map(lambda array: array[1:], mixtures)


def _jitter(num_rows: int, num_elsewhere: int, dtype) -> float:
    """What rounding does to the factor, and to means with which many other worths are compared."""
    jitter = 1e-7 if dtype == jnp.float64 else 2e-8 * min(num_rows, MAX_FIT_ROWS)
    return jitter * (1 + 2e-3 * num_elsewhere)


def _fit_flops(num_rows: int) -> float:
    """Of a fit to one output and its posterior."""
    return MIN_FIT_FLOPS + 18 * min(num_rows, MAX_FIT_ROWS_PER_OUTPUT) ** 3 + 2 * num_rows**3


def _selected_rows(num_rows: int, num_players: int, max_rows: int) -> Int[np.ndarray, "few"]:
    """Rows for the likelihood, in their order: at most half of them N and single players, which
    come first.
    """
    single = np.arange(min(num_players + 1, max_rows // 2 if num_rows > max_rows else num_rows))
    return np.concatenate([single, np.arange(num_players + 1, num_rows)])[:max_rows]


def _pooled(targets: Float[Array, "m out"]) -> Float[Array, "m few"]:
    """A few columns that stand for all of them: themselves, or sums with random signs, which weigh
    all alike.
    """
    outputs = targets.shape[1]
    if outputs <= MAX_POOLED_COLUMNS:
        return targets
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (outputs, MAX_POOLED_COLUMNS))
    return targets @ jnp.asarray(signs, targets.dtype)


def start(num_players: int, dtype, odd: bool) -> SignMixture:
    """Where the first fit begins: interactions that fade within a few players, however many there
    are.

    A sum of θ far above that of the game (it was 1 to 2 for networks of 100 to 784 players) takes
    more steps to leave than there are.
    """
    theta = float(np.log(min(0.3, 2 / num_players)))
    return _mixture(num_players, dtype, odd, theta, nu=-4.0, w=-3.0)


def first_prior(num_players: int, dtype, odd: bool) -> Prior:
    """Interactions fade with the number of players; θ, ν and w are known to an order of magnitude
    or two.
    """
    centre = _mixture(num_players, dtype, odd, -0.5 * float(np.log(num_players)), nu=-5.0, w=-3.0)
    return Prior(centre, _mixture(num_players, dtype, odd, 1.0, nu=4.0, w=2.0), 2.0)


def prior_around(mixture: SignMixture) -> Prior:
    """For one output, about the mixture that fits all of them."""
    num_players, dtype = len(mixture.log_theta), mixture.log_theta.dtype
    return Prior(mixture, _mixture(num_players, dtype, mixture.odd, 1.0, nu=3.0, w=2.0), 1.0)


def bounds(num_players: int, dtype, odd: bool) -> tuple[SignMixture, SignMixture]:
    """The least and the greatest hyperparameters that a fit may take."""
    return (
        _mixture(num_players, dtype, odd, -7.0, nu=-16.0, w=-12.0),
        _mixture(num_players, dtype, odd, float(np.log(3)), nu=3.0, w=3.0),
    )


def _mixture(num_players: int, dtype, odd: bool, theta: float, *, nu: float, w: float):
    """A mixture from numbers, all of them logarithms."""
    return SignMixture(
        log_theta=jnp.full(num_players, theta, dtype),
        log_nu=jnp.asarray(nu, dtype),
        log_w=jnp.asarray(w, dtype),
        odd=odd,
    )


def fit(
    rows: Rows,
    begin: SignMixture,
    prior: Prior,
    num_evaluations: int | Int[Array, ""],
    *,
    jitter: float,
) -> SignMixture:
    """The most probable hyperparameters for all columns together, by L-BFGS within bounds.

    Exactly `num_evaluations` of the objective: a step that does not descend is shortened in the
    next turn, so that the loop can be mapped over columns.
    """
    optimiser = optax.scale_by_lbfgs(memory_size=8)
    tolerance = 1e-6 if rows.targets.dtype == jnp.float32 else 0.0
    first, mixture_of = ravel_pytree(begin)
    lowest, highest = (
        ravel_pytree(end)[0] for end in bounds(rows.signs.shape[1], first.dtype, begin.odd)
    )

    def turn(_, carry):
        point, value, slope, direction, length, state = carry
        trial = jnp.clip(point + length * direction, lowest, highest)
        trial_value, gradient = objective(rows, mixture_of(trial), prior, jitter=jitter)
        gradient = ravel_pytree(gradient)[0]
        finite = jnp.isfinite(trial_value + gradient @ gradient)
        expected = value + 1e-4 * slope @ (trial - point) + tolerance * jnp.abs(value)
        outward = ((trial <= lowest) & (gradient > 0)) | ((trial >= highest) & (gradient < 0))
        free = jnp.where(outward, 0, gradient)
        with jax.numpy_dtype_promotion("standard"):  # the optimiser's counters mix integer widths
            update, next_state = optimiser.update(free, state, trial)
        step = jnp.where(free == 0, 0, -jnp.asarray(update))
        step = jnp.where(step @ free < 0, step, -0.1 * free)
        step = step / jnp.maximum(1, jnp.abs(step).max())
        taken = (trial, trial_value, gradient, step, jnp.ones_like(length), next_state)
        kept = (point, value, slope, direction, BACKTRACK * length, state)
        better = finite & (trial_value <= expected)
        return jax.tree.map(lambda new, old: jnp.where(better, new, old), taken, kept)

    still, dtype = jnp.zeros_like(first), first.dtype  # the first turn evaluates where it stands
    one, worst = jnp.ones((), dtype), jnp.asarray(1e30, dtype)
    carry = (first, worst, still, still, one, optimiser.init(first))
    return mixture_of(jax.lax.fori_loop(0, num_evaluations, turn, carry)[0])
