"""Interactions of two players from sampled coalitions."""

from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, estimate
from jaxshap.errors import InputError
from jaxshap.estimators import Estimate, OddInteractions
from jaxshap.games import Game, check_game


def estimate_interactions(
    key: Key[Array, ""] | int,
    game: Game,
    budget: int | None = None,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """The Shapley interaction index of every two players with standard errors, both (n, n, *out), 0
    on the diagonal.

    I_ij is the mean of v(S∪ij) − v(S∪i) − v(S∪j) + v(S) over coalitions without i and j, sizes
    equally likely. Exact when 2**n fits the budget; otherwise the counterpart of OddGP on the even
    part of the game, biased like it.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(abs(np.asarray(jaxshap.estimate_interactions(0, game).values).round(3)))
        [[0. 2. 0.]
         [2. 0. 0.]
         [0. 0. 0.]]
    """
    check_game(game)
    if game.num_players < 2:
        raise InputError(
            "a game of one player has no interactions: pass a game of two players or more."
        )
    found = estimate(key, game, OddInteractions(), budget, batch_size=batch_size, progress=progress)
    shape = (game.num_players, game.num_players, *game.empty.shape)
    return Estimate(*(part.reshape(shape) for part in found))
