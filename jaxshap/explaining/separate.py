"""Each row with draws of its own: errors are then independent from row to row."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, Options, estimate, jitted_with_model, run, shared_batch_size
from jaxshap.errors import ModelOutputError
from jaxshap.estimators import Estimate, Estimator
from jaxshap.explaining.problem import Problem, pad_rows
from jaxshap.games import Game, Host, as_pytree, grouped, runs_on_cpu

MAX_ROWS_AT_ONCE = 128  # that share a device, each with a plan and a solve of its own


class Separate(NamedTuple):
    """Values and errors `(players, rows, *outputs)`, v(∅) per row, and the first row's game."""

    estimate: Estimate
    empty: Any
    game: Game


def estimate_separately(
    problem: Problem, key: Key[Array, ""], estimator: Estimator, budget: int, batch_size: BatchSize
) -> Separate:
    """One compiled loop over rows, or one row after the other on the host."""
    rows = problem.inputs.rows
    first = problem.game_of(jax.tree.map(lambda leaf: leaf[:1], rows))  # shows what is wrong
    on_host = isinstance(problem.predict, Host)
    solve = _on_host if on_host else _on_device
    estimate_of_rows, empty = solve(problem, key, estimator, budget, batch_size)
    if not np.isfinite(estimate_of_rows.values).all():
        raise ModelOutputError(
            "the model returned NaN or infinity for masked inputs: explain without separate_draws= "
            "to see for which rows."
        )
    return Separate(estimate_of_rows, empty, first)


def _on_host(problem: Problem, key, estimator: Estimator, budget: int, batch_size: BatchSize):
    each = []
    for number in range(problem.num_rows):
        own = slice(number, number + 1)
        game = problem.game_of(jax.tree.map(lambda leaf, own=own: leaf[own], problem.inputs.rows))
        own_key = jax.random.fold_in(key, number)
        options = Options(batch_size, progress=False)
        each.append((run(own_key, game, estimator, budget, options).estimate, game.empty))
    rows = [row for row, _ in each]
    together = jax.tree.map(lambda *fields: np.concatenate(fields, axis=1), *rows)
    return together, np.concatenate([empty for _, empty in each])


def _on_device(problem: Problem, key, estimator: Estimator, budget: int, batch_size: BatchSize):
    references = problem.references
    rows = jax.tree.map(pad_rows, problem.inputs.rows, problem.inputs.references)
    options = dict(problem.inputs.options)
    players, groups = options.pop("players", None), problem.inputs.groups
    groups = None if groups is None else tuple(map(tuple, groups))
    how = problem.value, players, groups, estimator, budget, batch_size
    return row_by_row(*how, key, as_pytree(problem.predict), rows, references, options)


@functools.partial(jitted_with_model, static_argnums=range(6))
def row_by_row(
    value: Any,
    players: Any,
    groups: Any,
    estimator: Estimator,
    budget: int,
    batch_size: BatchSize,
    key: Key[Array, ""],
    predict: Any,
    rows: Any,
    references: Any,
    options: dict[str, Any],
) -> tuple[Estimate, Any]:
    """The estimate of each row by itself, and v(∅); off the CPU, of many rows at a time."""
    if players is not None:
        options = options | {"players": players}
    count = len(jax.tree.leaves(rows)[0])
    at_once = 1 if runs_on_cpu() else min(count, MAX_ROWS_AT_ONCE)

    def of_row(numbered):
        number, row = numbered
        game = value(predict, jax.tree.map(lambda leaf: leaf[None], row), references, **options)
        game = game if groups is None else grouped(game, groups)
        own_key = jax.random.fold_in(key, number)
        size = shared_batch_size(batch_size, game, budget, at_once)
        own = estimate(own_key, game, estimator, budget, batch_size=size)
        return jax.tree.map(lambda field: field[:, 0], own), game.empty[0]

    numbered = jnp.arange(count), rows
    together = None if at_once == 1 else at_once
    estimates, empty = jax.lax.map(of_row, numbered, batch_size=together)
    return jax.tree.map(lambda field: jnp.moveaxis(field, 0, 1), estimates), empty
