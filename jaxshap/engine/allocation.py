"""How many draws each size of coalition deserves, from a pilot."""

import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine.evaluation import evaluate
from jaxshap.errors import BudgetError
from jaxshap.estimators import Stratified
from jaxshap.games import Game


def neyman_allocation(key: Key[Array, ""], game: Game, budget: int) -> tuple[float, ...]:
    """Draws in proportion to the spread of the gains at each size, over all players and outputs,
    from a pilot.

    The pilot's evaluations come on top of the estimate's: `Stratified(neyman_allocation(key, game,
    budget=500))`.

    Example:
        >>> import jax, jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda s: jnp.where(s[:3].all(), 1.0, 0.0), 4)  # joining one other gains nothing
        >>> one, two = jaxshap.engine.neyman_allocation(jax.random.key(0), game, budget=100)
        >>> two > 100 * one
        True
    """
    plan = Stratified().plan(key, game.num_players, budget)
    _, variances = Stratified().moments(plan, evaluate(game, plan.coalitions))
    drawn = np.bincount(np.asarray(plan.detail))[1:]
    if min(drawn) < 2:
        raise BudgetError(
            f"budget={budget} buys one gain a size, which shows no spread: pass twice as much."
        )
    spread = np.sqrt(np.asarray(variances).reshape(len(drawn), -1).mean(1) * drawn)
    return tuple(
        (spread + 1e-3 * spread.mean() + np.finfo(float).tiny).tolist()
    )  # every size keeps a share
