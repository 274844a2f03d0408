"""Fitting the hyperparameters of a process, for many outputs at once."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.odd.design import MAX_PLAYERS_IN_TWOS, MAX_PLAYERS_TO_BALANCE
from jaxshap.estimators.odd.mixture import SignMixture
from jaxshap.estimators.odd.priors import (
    LOW_ODDS,
    NO_LOW_ODDS,
    bounds,
    first_prior,
    prior_around,
    smooth_start,
    start,
)
from jaxshap.estimators.odd.process import (
    Asked,
    Posterior,
    Prior,
    Rows,
    objective,
    player_values,
    posterior,
)
from jaxshap.games import mapped, num_pairs, runs_on_cpu

MAX_FIT_ROWS = 500  # in the likelihood of one output, or of all outputs together
MAX_FIT_ROWS_PER_OUTPUT = 300  # in the likelihood of each of several outputs
MAX_POOLED_COLUMNS = 4  # that stand for all outputs in a likelihood
MAX_FIT_FLOPS = 5e10  # a second or two; above, outputs share length scales unless fit_each=True
MIN_FIT_FLOPS = 1e7  # what a fit takes in time, however few its rows
FLOPS_PER_ENTRY = 4e3  # of a covariance in a fit: what its kernels take in time
MANY_PLAYERS_EVALUATIONS = 14  # with a choice of where to begin, for which the plan is not balanced
POOLED_EVALUATIONS, OWN_EVALUATIONS, SINGLE_EVALUATIONS = 20, 6, 24  # of the objective, by fit
MATRICES_OF_FIT = 16  # of all rows by all rows that one fit holds at a time
LBFGS_MEMORY = 3  # steps it remembers: 2 to 8 give the same accuracy within as few steps as these
BACKTRACK = 0.3  # factor for a step that did not descend


def fitted(
    rows: Rows,
    informative: Bool[Array, "out"],
    elsewhere: Float[Array, "r n"],
    *,
    odd: bool,
    fit_each: bool | None = None,
    asked: Asked = player_values,
) -> tuple[Posterior, Posterior]:
    """The posterior of what is asked and at points `elsewhere`, given the most probable
    hyperparameters; and the one that leaves out all products of more than three signs.

    They are fitted to all `informative` outputs together, then, with `fit_each`, by a few steps to
    each; None does so for few players where it is little work. Gradients hold them fixed, so that
    the posterior means are linear in the targets.
    """
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = _jitter(num_rows, len(elsewhere), dtype)
    if fit_each is None:
        quick = outputs * fit_flops(num_rows) <= MAX_FIT_FLOPS
        fit_each = quick and num_players <= MAX_PLAYERS_TO_BALANCE
    max_rows = MAX_FIT_ROWS_PER_OUTPUT if fit_each and outputs > 1 else MAX_FIT_ROWS
    selected = _selected_rows(num_rows, num_players, max_rows)
    seen = jax.lax.stop_gradient(Rows(*(array[selected] for array in rows)))
    low = jnp.where(odd & has_all_twos(rows), LOW_ODDS, NO_LOW_ODDS).astype(dtype)
    begin, prior = start(num_players, dtype, odd, low), first_prior(num_players, dtype, odd, low)
    pooled = seen.targets if outputs == 1 else _pooled(jnp.where(informative, seen.targets, 0))
    together = seen._replace(targets=pooled)
    turns = SINGLE_EVALUATIONS if outputs == 1 else POOLED_EVALUATIONS
    if num_players > MAX_PLAYERS_TO_BALANCE:
        smooth, turns = smooth_start(num_players, dtype, odd, low), MANY_PLAYERS_EVALUATIONS
        begin = _likelier(together, begin, smooth, prior, jitter)
    if outputs == 1 or not fit_each:
        mixture = fit(together, begin, prior, turns, jitter=jitter)
        return _posteriors(rows, mixture, elsewhere, jitter, asked)
    mixtures = _fit_each(seen, pooled, begin, prior, jitter)

    def of_output(column_and_mixture):
        column, mixture = column_and_mixture
        own = rows._replace(targets=column[:, None])
        posteriors = _posteriors(own, mixture, elsewhere, jitter, asked)
        return jax.tree.map(lambda array: array[:, 0], posteriors)

    each = mapped(of_output, (rows.targets.T, mixtures), _bytes_of_fit(num_rows, dtype))
    return jax.tree.map(jnp.transpose, each)


def _likelier(
    rows: Rows, first: SignMixture, second: SignMixture, prior: Prior, jitter: float
) -> SignMixture:
    """The one of two places to begin that explains the rows better."""
    both = jax.tree.map(lambda *two: jnp.stack(two), first, second)
    values = jax.lax.map(lambda one: objective(rows, one, prior, jitter=jitter)[0], both)
    return jax.tree.map(lambda *two: jnp.where(values[1] < values[0], *two[::-1]), first, second)


def _posteriors(
    rows: Rows,
    mixture: SignMixture,
    elsewhere: Float[Array, "r n"],
    jitter: float,
    asked: Asked,
) -> tuple[Posterior, Posterior]:
    """With products of all numbers of signs, and of three at most where that can be of use; in the
    even part of two.
    """
    if mixture.odd and not can_have_all_twos(*rows.signs.shape):
        every = posterior(rows, mixture, elsewhere, jitter=jitter, asked=asked)
        return every, every

    def of(mixture):
        return posterior(rows, mixture, elsewhere, jitter=jitter, asked=asked)

    # one after the other in a program that is compiled once
    both = jax.lax.map(of, jax.tree.map(lambda *two: jnp.stack(two), mixture, mixture.only_low()))
    every, low = (jax.tree.map(lambda array, k=k: array[k], both) for k in (0, 1))
    return every, low


def _fit_each(
    seen: Rows, pooled: Float[Array, "m few"], begin: SignMixture, prior: Prior, jitter: float
) -> SignMixture:
    """A mixture per output: fitted to the pooled columns first, then to each output from there.

    On a CPU one after the other in one loop, so that the fit is compiled once.
    """
    if not runs_on_cpu():
        pooled_rows = seen._replace(targets=pooled)
        shared = fit(pooled_rows, begin, prior, POOLED_EVALUATIONS, jitter=jitter)

        def of_output(column):
            own = seen._replace(targets=column[:, None])
            return fit(own, shared, prior_around(shared), OWN_EVALUATIONS, jitter=jitter)

        dtype = seen.targets.dtype
        return mapped(of_output, seen.targets.T, _bytes_of_fit(len(seen.signs), dtype))

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


def can_have_all_twos(num_rows: int, num_players: int) -> bool:
    """Whether a plan of so many rows may hold every set of two players."""
    return 4 <= num_players <= MAX_PLAYERS_IN_TWOS and num_rows > num_pairs(num_players)[1]


def has_all_twos(rows: Rows) -> Bool[Array, ""]:
    """Whether every set of two players and its complement is among the rows."""
    num_players = rows.signs.shape[1]
    if not can_have_all_twos(*rows.signs.shape):
        return jnp.zeros((), bool)
    is_two = jnp.abs(rows.signs.sum(1)) == abs(num_players - 4)
    return (is_two & rows.live).sum() == num_pairs(num_players)[1]


def _jitter(num_rows: int, num_elsewhere: int, dtype) -> float:
    """What rounding does to the factor, and to means with which many other worths are compared."""
    jitter = 8e-16 * num_rows**2 if dtype == jnp.float64 else 2e-8 * min(num_rows, MAX_FIT_ROWS)
    return jitter * (1 + 2e-3 * num_elsewhere)


def fit_flops(num_rows: int) -> float:
    """Of a fit to one output and its two posteriors."""
    seen = min(num_rows, MAX_FIT_ROWS_PER_OUTPUT)
    return MIN_FIT_FLOPS + FLOPS_PER_ENTRY * seen**2 + 18 * seen**3 + 4 * num_rows**3


def _bytes_of_fit(num_rows: int, dtype) -> int:
    """Of the covariances of a fit or of a posterior, and what is made of them."""
    return MATRICES_OF_FIT * num_rows**2 * dtype.itemsize


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
    optimiser = optax.scale_by_lbfgs(memory_size=LBFGS_MEMORY)
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
