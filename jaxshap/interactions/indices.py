"""Interaction indices of sets of players: exact, from all worths, by one transform."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxshap.engine import compiled, evaluate_all, is_traced
from jaxshap.errors import InputError
from jaxshap.games import (
    MOST_SETS,
    VALUES,
    WEIGHTS,
    Game,
    check_game,
    check_order,
    full_precision,
    sets_up_to,
    superset_sums,
    walsh,
    walsh_weights,
)
from jaxshap.interactions.decomposition import decompose
from jaxshap.interactions.index_values import Interactions

MAX_PLAYERS = MOST_SETS.bit_length() - 1  # whose 2**n worths can be held at once


def exact_interactions(game: Game | Any, index: str = "SII", order: int = 2) -> Interactions:
    """An interaction index of all sets of at most `order` players.

    It is exact, from all 2**n worths. "SII" is the Shapley interaction index, "k-SII" the same
    made to add up, "STII" Shapley–Taylor, "FSII" the best fit to the game, and "BII" the Banzhaf
    interaction index; "SV" and "BV" are the values of single players. "k-SII", "STII", "FSII" and,
    at order n, "Moebius" sum to v(N) − v(∅).

    Args:
        game: the game, of at most 22 players unless the index is "Moebius".
        index: "SII" (the default), "k-SII", "STII", "FSII", "BII", "SV", "BV" or "Moebius", which
            evaluates only coalitions of at most `order` players.
        order: the number of players in the largest sets, 2 by default; 1 for "SV" and "BV".

    Returns:
        The `Interactions`, whose standard errors are 0.

    Raises:
        InputTypeError: a model or a function was passed in place of a game.
        InputError: the index is unknown, the order does not fit, or there are too many players.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
        >>> interactions = jaxshap.interactions.exact_interactions(game, "SII", order=2)
        >>> print(interactions.sets[3:], interactions[0, 1])
        [(0, 1), (0, 2), (1, 2)] 3.0
    """
    check_game(game)
    number = game.num_players
    check_indices(index, order, number)
    if index == "Moebius":
        values = decompose(game, order).values[1:]
    elif number > MAX_PLAYERS:
        raise InputError(
            f"{index} needs all 2**{number} worths: at most {MAX_PLAYERS} players; "
            'jaxshap.estimate_interactions samples pairs, and index="Moebius" asks for small '
            "coalitions alone."
        )
    else:
        worths = evaluate_all(game)
        solve = _from_worths if is_traced(worths) else _compiled_from_worths
        values = solve(worths, index, order)
    base = jnp.asarray(game.empty, values.dtype)
    return Interactions(values, jnp.zeros_like(values), base, index, number, order)


def check_indices(index: Any, order: Any, num_players: int) -> None:
    """Refuse an index or an order that is not there."""
    check_order(order, num_players)
    if not isinstance(index, str) or index not in WEIGHTS:
        raise InputError(f"there is no index {shown(index)}: pass one of {', '.join(WEIGHTS)}.")
    if index in VALUES and order != 1:
        raise InputError(
            f'{index} is of single players: pass order=1, or index="{VALUES[index]}" for sets.'
        )


@full_precision
def _from_worths(
    worths: Float[Array, "size *out"], index: str, order: int
) -> Float[Array, "sets *out"]:
    number = len(worths).bit_length() - 1
    sizes = sets_up_to(number, order)[1:].sum(1)
    weights = jnp.asarray(walsh_weights(index, order, number)[sizes - 1], worths.dtype)
    sums = superset_sums(walsh(worths), order)[1:]
    return jax.vmap(lambda weight, sums: jnp.tensordot(weight, sums, 1))(weights, sums)


_compiled_from_worths = compiled(_from_worths, static_argnums=(1, 2))
