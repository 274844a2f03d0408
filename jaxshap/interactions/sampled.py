"""Interactions of every two players from sampled coalitions."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, estimate, read_budget
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Estimate, OddInteractions, stated
from jaxshap.games import Game, check_game
from jaxshap.interactions.indices import exact_interactions


def estimate_interactions(
    key: Key[Array, ""] | int,
    game: Game | Any,
    budget: int | None = None,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """The Shapley interaction index of every two players, with standard errors.

    I_ij is the mean of v(S∪ij) − v(S∪i) − v(S∪j) + v(S) over coalitions S without i and j, all
    sizes equally likely. It is exact when 2**n fits the budget; otherwise it comes from the
    counterpart of `OddGP` on the even part of the game, and is biased like it.

    Args:
        key: a JAX key, or an int that makes one.
        game: the game of two players or more.
        budget: how many coalitions may be evaluated, ∅ and N included; by default as many as for
            `estimate`.
        batch_size: how many coalitions are evaluated at once; by default as many as fit in memory.
        progress: whether to show a progress bar; None shows one on a terminal.

    Returns:
        An `Estimate` whose values and standard errors have shape (n, n, *out), 0 on the diagonal.

    Raises:
        InputTypeError: a model or a function was passed in place of a game.
        InputError: the game has a single player.
        BudgetError: the budget is too small; `needed` holds the least that would do.

    Example:
        >>> import jaxshap, numpy as np
        >>> worths = [0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]  # players 0 and 1 add 2 together
        >>> pairs = jaxshap.estimate_interactions(0, jaxshap.table(worths))
        >>> print(abs(np.asarray(pairs.values).round(3)))
        [[0. 2. 0.]
         [2. 0. 0.]
         [0. 0. 0.]]
    """
    check_game(game)
    if game.num_players < 2:
        raise InputError(
            "a game of one player has no interactions: pass a game of two players or more."
        )
    if game.num_players == 2:
        return _exact_pair(game, budget)
    pairs = estimate(key, game, OddInteractions(), budget, batch_size=batch_size, progress=progress)
    shape = (game.num_players, game.num_players, *game.empty.shape)
    return jax.tree.map(lambda field: field.reshape(shape), pairs)


def _exact_pair(game: Game, budget: int | None) -> Estimate:
    """Two players have four worths: with them nothing is left to estimate."""
    if budget is not None and (budget := read_budget(budget, 2)) < 4:
        raise BudgetError(
            f"budget={budget}: two players have four worths: pass budget=4 or more.", needed=4
        )
    both = exact_interactions(game)[0, 1]
    values = jnp.where(np.eye(2, dtype=bool).reshape(2, 2, *(1,) * both.ndim), 0, both)
    return stated(values, jnp.zeros_like(values), exact=True)
