"""Exact Shapley values of a game, from all its coalitions."""

import jax
from jaxtyping import Array, Float

from jaxshap.engine.evaluation import evaluate
from jaxshap.estimators import Exact
from jaxshap.games import Game, check_game


def shapley_values(game: Game) -> Float[Array, "n *out"]:
    """Exact Shapley values by asking for all 2**n coalitions; memory sets the limit, near n = 24.

    Example:
        >>> import jaxshap
        >>> jaxshap.shapley_values(jaxshap.table([0.0, 1.0, 2.0, 6.0])).tolist()
        [2.5, 3.5]
    """
    check_game(game)
    plan = Exact().plan(None, game.num_players, 2**game.num_players)
    return _solve(plan, evaluate(game, plan.coalitions), game.empty, game.full).values


_solve = jax.jit(Exact().solve)
