"""Interactions of any index and order from sampled coalitions."""

import math
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, bucket, default_budget, estimate, plan_size, read_budget
from jaxshap.errors import BudgetError
from jaxshap.estimators import OddInteractions
from jaxshap.games import VALUES, Game, check_game, check_num_sets, num_sets
from jaxshap.interactions.index_values import Interactions
from jaxshap.interactions.indices import MAX_PLAYERS, check_indices, exact_interactions


def estimate_interactions(
    key: Key[Array, ""] | int,
    game: Game | Any,
    index: str = "SII",
    order: int = 2,
    budget: int | None = None,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Interactions:
    """An interaction index of all sets of at most `order` players, with standard errors.

    Values, pairs and higher orders come from one set of evaluations: pairs {S, N∖S}, whose
    differences tell the odd part of the game and whose sums the even part. It is exact when 2**n
    fits the budget, and the Moebius transform when all small coalitions do. Otherwise it is read
    out of the Gaussian processes of `OddInteractions`, and biased like them: worths of nearby
    coalitions are assumed to be alike. "k-SII", "STII" and "FSII" sum to v(N) − v(∅). Pure: jit,
    vmap and grad go through it, in the key and in the game.

    Args:
        key: a JAX key, or an int that makes one.
        game: the game.
        index: "SII" (the default), "k-SII", "STII", "FSII", "BII", "SV", "BV" or "Moebius", as in
            `exact_interactions`.
        order: the number of players in the largest sets, 2 by default; 1 for "SV" and "BV".
        budget: how many coalitions may be evaluated, ∅ and N included; by default as many as for
            `estimate`.
        batch_size: how many coalitions are evaluated at once; by default as many as fit in memory.
        progress: whether to show a progress bar; None shows one on a terminal.

    Returns:
        The `Interactions`, with one value and one standard error per set, and in `searched` what a
        search for a few interactions among many chose from.

    Raises:
        InputTypeError: a model or a function was passed in place of a game.
        InputError: the index is unknown, the order does not fit, or there are too many sets.
        BudgetError: the budget is too small; `needed` holds the least that would do.

    Example:
        >>> import jaxshap, numpy as np
        >>> worths = [0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]  # players 0 and 1 add 2 together
        >>> pairs = jaxshap.estimate_interactions(0, jaxshap.table(worths))
        >>> pairs.sets[3:], abs(np.asarray(pairs.values[3:]).round(3)).tolist()
        ([(0, 1), (0, 2), (1, 2)], [2.0, 0.0, 0.0])
    """
    check_game(game)
    number: int = game.num_players
    check_indices(index, order, number)
    check_num_sets(order, number)
    spent = read_budget(default_budget(number) if budget is None else budget, number)
    if _is_affordable(index, order, number, spent):
        return exact_interactions(game, index, order)
    if number <= 2:
        raise BudgetError(
            f"budget={budget}: a game of {number} players has {2**number} worths: pass "
            f"budget={2**number} or more.",
            needed=2**number,
        )
    estimator = OddInteractions(index=VALUES.get(index, index), order=order)
    sampled = estimate(key, game, estimator, budget, batch_size=batch_size, progress=progress)
    base = jnp.asarray(game.empty, sampled.values.dtype)
    asked = plan_size(estimator, number, bucket(spent))
    tried = estimator.search(asked, number, bucket(math.prod(base.shape)))
    return Interactions(sampled.values, sampled.std_error, base, index, number, order, tried)


def _is_affordable(index: str, order: int, num_players: int, budget: int) -> bool:
    """Whether the budget buys every worth that the exact index needs."""
    if not isinstance(budget, int) or isinstance(budget, bool):
        return False  # `estimate` reads it, or says what is wrong with it
    every = 2**num_players <= budget and num_players <= MAX_PLAYERS
    return every or (index == "Moebius" and num_sets(num_players, order) + 1 <= budget)
