"""How many draws each size of coalition deserves, from a pilot."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxshap.engine.defaults import read_budget, read_key
from jaxshap.engine.runner import answer
from jaxshap.engine.units import unit_over_first
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Stratified
from jaxshap.games import Game, check_game


def neyman_allocation(key: Any, game: Game, budget: int) -> tuple[float, ...]:
    """How many draws each size of coalition deserves, from the spread of gains in a pilot.

    Draws in proportion to the spread have the least variance for their number. The pilot's
    evaluations come on top of the estimate's: `Stratified(neyman_allocation(key, game, 500))`.

    Args:
        key: a JAX key, or a whole number.
        game: the game that is then estimated.
        budget: evaluations of the pilot.

    Returns:
        One share per size 1..n−2 of the coalition joined, for `jaxshap.Stratified`.

    Raises:
        BudgetError: the pilot has a single gain at some size.
        InputError: the game has fewer than three players.

    Example:
        >>> import jax, jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda s: jnp.where(s[:3].all(), 1.0, 0.0), 4)
        >>> one, two = jaxshap.engine.neyman_allocation(jax.random.key(0), game, budget=100)
        >>> two > 100 * one  # joining a single player gains nothing
        True
    """
    check_game(game)
    if game.num_players < 3:
        raise InputError(
            f"a game of {game.num_players} players has no sizes to choose between: pass it to "
            "jaxshap.shapley_values, which is exact."
        )
    budget = read_budget(budget, game.num_players)
    plan = Stratified().plan(read_key(key), game.num_players, budget)
    gains = jnp.asarray(answer(game, plan).worths - game.empty)
    unit = unit_over_first(gains.ravel())  # shares are ratios
    _, variances = Stratified().moments(plan, gains / unit)
    drawn = np.bincount(np.asarray(plan.detail))[1:]
    if min(drawn) < 2:
        raise BudgetError(
            f"budget={budget} buys one gain a size, which shows no spread: pass twice as much."
        )
    spread = np.sqrt(np.asarray(variances).reshape(len(drawn), -1).mean(1) * drawn)
    floor = 1e-3 * spread.mean() + np.finfo(float).tiny  # every size keeps a share
    return tuple((spread + floor).tolist())
