"""Exact Shapley values of a game, from all its coalitions."""

import jax
from jaxtyping import Array, Float

from jaxshap.engine.batches import is_traced
from jaxshap.engine.defaults import read_key
from jaxshap.engine.options import Options
from jaxshap.engine.runner import run
from jaxshap.errors import InputError
from jaxshap.estimators import Exact
from jaxshap.games import Game, check_game

MAX_PLAYERS = 26  # whose 2**n coalitions and worths a machine holds


def shapley_values(game: Game) -> Float[Array, "n *out"]:
    """Exact Shapley values by asking for all 2**n coalitions; memory sets the limit, near n = 24.

    Args:
        game: the game, as from `jaxshap.marginal` or `jaxshap.make_game`.

    Returns:
        The values, `(n, *out)`.

    Raises:
        InputError: there are too many players to ask for all coalitions.

    Example:
        >>> import jaxshap
        >>> jaxshap.shapley_values(jaxshap.table([0.0, 1.0, 2.0, 6.0])).tolist()
        [2.5, 3.5]
    """
    check_game(game)
    if game.num_players > MAX_PLAYERS:
        gigabytes = 2**game.num_players * (game.num_players + 4 * max(1, game.empty.size)) / 2**30
        raise InputError(
            f"exact values of {game.num_players} players need 2**{game.num_players} coalitions, "
            f"about {gigabytes:,.0f} GB: use jaxshap.estimate(key, game), which samples."
        )
    options = Options(progress=False)
    spent = run(read_key(0), game, Exact(), 2**game.num_players, options)
    values = spent.estimate.values
    return values if is_traced(values) else jax.device_put(values)
