"""Residuals from random edges with estimated entries: the estimator that the noise-stability one is
compared with.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, evaluate
from jaxshap.errors import BudgetError
from jaxshap.estimators import Estimate
from jaxshap.games import Game, as_key, check_game


def edge_norms(
    key: Key[Array, ""] | int,
    game: Game,
    budget: int,
    *,
    draws_an_entry: int = 8,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖² of every player from entries r_i(S, S∪j) at random edges, each entry itself estimated.
    Ngo (2020).

    The potential is v_i(S) = ±½ E[D_i v(S')], S' a copy of S that keeps each membership with chance
    ρ ~ U(0, 1), so an entry is a mean over `draws_an_entry` copies, each for n + 1 evaluations at
    either end. Squares of noisy entries are too large: it is biased upwards until an entry takes
    many draws. `estimate_norms` is not.

    Example: no interactions, no residuals, and then no noise either.

    >>> import jaxshap
    >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
    >>> jaxshap.residuals.edge_norms(0, game, 1000).values.round(3).tolist()
    [0.0, 0.0, 0.0]
    """
    check_game(game)
    key = as_key(key)
    number = game.num_players
    cost = 2 + 2 * draws_an_entry * (number + 1)
    edges = budget // cost
    if edges < 2 or draws_an_entry < 1:
        raise BudgetError(
            f"budget={budget} buys {edges} edges of {cost} evaluations: pass {2 * cost} or more."
        )
    ends, players, copies = jax.vmap(
        lambda edge: _draw(jax.random.fold_in(key, edge), number, draws_an_entry)
    )(jnp.arange(edges))
    flips = jnp.concatenate([jnp.zeros((1, number), bool), jnp.eye(number, dtype=bool)])
    asked = (copies[..., None, :] ^ flips).reshape(edges, -1, number)
    worths = evaluate(
        game,
        jnp.concatenate([ends, asked], axis=1).reshape(-1, number),
        batch_size=batch_size,
        progress=progress,
    ).reshape(edges, cost, *game.empty.shape)
    gain = worths[:, 1] - worths[:, 0]
    around = worths[:, 2:].reshape(edges, draws_an_entry, 2, number + 1, *game.empty.shape)
    signs = jnp.where(copies, 1, -1).astype(worths.dtype)
    signs = signs.reshape(*signs.shape, *(1,) * game.empty.ndim)
    gains = (signs * (around[:, :, :, :1] - around[:, :, :, 1:])).mean(
        1
    )  # D_i v(S'): edges, end, n, *out
    own = jnp.where(ends, 0.5, -0.5).astype(worths.dtype)
    own = own.reshape(*own.shape, *(1,) * game.empty.ndim)
    potential = own * gains
    joins = (jnp.arange(number) == players[:, None]).reshape(edges, number, *(1,) * game.empty.ndim)
    entries = jnp.where(joins, gain[:, None], 0) - (potential[:, 1] - potential[:, 0])
    squares = number * 2.0 ** (number - 1) * entries**2
    return Estimate(squares.mean(0), squares.std(0, ddof=1) / np.sqrt(edges))


def _draw(key: Key[Array, ""], number: int, copies: int):
    """A random edge, the player that joins along it, and noisy copies of both ends that share their
    noise.
    """
    first, second, third = jax.random.split(key, 3)
    player = jax.random.randint(first, (), 0, number)
    joins = jnp.arange(number) == player
    start = jax.random.bernoulli(second, shape=(number,)) & ~joins
    ends = jnp.stack([start, start | joins])

    def copy(own):
        level, keep, coin = jax.random.split(own, 3)
        keeps = jax.random.uniform(keep, (number,)) < jax.random.uniform(level)
        return jnp.where(keeps, ends, jax.random.bernoulli(coin, shape=(number,)))

    return ends, player, jax.vmap(copy)(jax.random.split(third, copies))
