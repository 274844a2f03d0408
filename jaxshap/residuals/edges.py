"""Residuals from random edges with estimated entries, to compare `estimate_norms` with."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from jaxshap.engine import (
    BatchSize,
    answer,
    check_squares,
    read_budget,
    read_key,
    read_options,
    unit_over_first,
)
from jaxshap.errors import BudgetError
from jaxshap.estimators import Estimate, Plan, mean_of_draws, no_less_than_rounding
from jaxshap.games import Game, check_game, read_whole


def edge_norms(
    key: Key[Array, ""] | int | np.integer,
    game: Game | Any,
    budget: int,
    *,
    draws_per_entry: int = 8,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖² of every player from entries r_i(S, S∪j) at random edges, each entry itself estimated.

    The potential is v_i(S) = ±½ E[D_i v(S')], S' a copy of S that keeps each membership with chance
    ρ ~ U(0, 1), so an entry is a mean over copies that each cost n + 1 evaluations at either end.
    Squares of noisy entries are too large: the estimate is biased upwards until an entry takes many
    draws. That of `estimate_norms` is not. Ngo (2020).

    Args:
        key: a JAX key, or a seed.
        game: the game.
        budget: how many evaluations may be spent; an edge costs 2 + 2 draws_per_entry (n + 1), and
            at least two edges are needed.
        draws_per_entry: how many noisy copies an entry is averaged over; 8 by default.
        batch_size: how many coalitions are evaluated at once; "auto" goes by memory.
        progress: whether to show a progress bar; None shows one on a terminal only.

    Returns:
        An `Estimate` whose `values` and `std_error` have shape (n, *outputs).

    Raises:
        BudgetError: where the budget buys fewer than two edges.
        InputError: where draws_per_entry is less than 1.

    Example:
        >>> import jaxshap
        >>> additive = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> jaxshap.residuals.edge_norms(0, additive, 1000).values.round(3).tolist()
        [0.0, 0.0, 0.0]
    """
    check_game(game)
    draws_per_entry = read_whole(draws_per_entry, "draws_per_entry")
    number, outputs = game.num_players, game.empty.shape
    budget = read_budget(budget, number)
    cost = 2 + 2 * draws_per_entry * (number + 1)
    num_edges = budget // cost
    if num_edges < 2:
        raise BudgetError(
            f"budget={budget} buys {num_edges} edges of {cost} evaluations: "
            f"pass {2 * cost} or more.",
            2 * cost,
        )
    ends, players, copies = _draw_edges(read_key(key), number, num_edges, draws_per_entry)
    flips = jnp.concatenate([jnp.zeros((1, number), bool), jnp.eye(number, dtype=bool)])
    around = (copies[..., None, :] ^ flips).reshape(num_edges, -1, number)
    asked = jnp.concatenate([ends, around], axis=1).reshape(-1, number)
    answers = answer(game, Plan(asked, len(asked)), read_options(batch_size, progress))
    gains_of_all = jnp.asarray(answers.worths - game.empty)  # in the precision of the worths
    unit = unit_over_first(gains_of_all)
    scale = number * 2.0 ** (number - 1)
    check_squares(unit, scale)
    worths = (gains_of_all / unit).reshape(num_edges, cost, *outputs)

    def per_output(array: Array) -> Array:
        return array.astype(worths.dtype).reshape(*array.shape, *(1,) * len(outputs))

    near = worths[:, 2:].reshape(num_edges, draws_per_entry, 2, number + 1, *outputs)
    signs = per_output(jnp.where(copies, 1, -1))
    gains = (signs * (near[:, :, :, :1] - near[:, :, :, 1:])).mean(1)  # (edges, end, n, *out)
    potential = per_output(jnp.where(ends, 0.5, -0.5)) * gains
    joins = per_output(jnp.arange(number) == players[:, None]) > 0
    gain = jnp.where(joins, (worths[:, 1] - worths[:, 0])[:, None], 0)
    entries = gain - (potential[:, 1] - potential[:, 0])
    estimate = mean_of_draws(entries**2, num_edges)
    estimate = no_less_than_rounding(estimate, (gain**2).max(0))
    squares = scale * unit * unit
    return estimate._replace(
        values=estimate.values * squares, std_error=estimate.std_error * squares
    )


def _draw_edges(
    key: Key[Array, ""], number: int, num_edges: int, num_copies: int
) -> tuple[Bool[Array, "edges 2 n"], Int[Array, "edges"], Bool[Array, "edges copies 2 n"]]:
    """Both ends of random edges, the player who joins, and noisy copies of both ends.

    The copies of the two ends of an edge share their noise.
    """

    def draw(edge):
        first, second, third = jax.random.split(jax.random.fold_in(key, edge), 3)
        player = jax.random.randint(first, (), 0, number)
        joins = jnp.arange(number) == player
        start = jax.random.bernoulli(second, shape=(number,)) & ~joins
        ends = jnp.stack([start, start | joins])

        def copy(own):
            level, keep, coin = jax.random.split(own, 3)
            keeps = jax.random.uniform(keep, (number,)) < jax.random.uniform(level)
            return jnp.where(keeps, ends, jax.random.bernoulli(coin, shape=(number,)))

        return ends, player, jax.vmap(copy)(jax.random.split(third, num_copies))

    return jax.vmap(draw)(jnp.arange(num_edges))
