"""Exact residuals from all 2**n worths: in the Walsh basis, all of it is diagonal."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from jaxshap.engine import check_squares, evaluate_all, unit_over_first
from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import (
    Game,
    all_coalitions,
    check_game,
    full_precision,
    inverse_walsh,
    shown,
    walsh,
)
from jaxshap.inputs import is_list

MAX_EXACT_PLAYERS = 22  # a table of 2**22 worths fits into memory


class Flows(NamedTuple):
    """The potentials v_i of all players, and the residual flows r_i along all edges.

    Coalition S stands at index Σ_{i∈S} 2**i, as in `jaxshap.table`.

    Attributes:
        potentials: v_i(S), of shape (n, 2**n, *outputs).
        flows: r_i along the edge from S without j to S with j, at the index of S without j, of
            shape (n, n, 2**n, *outputs) with i first and j second; 0 where S has j already.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> potentials, flows = jaxshap.residuals.flows(game)
        >>> potentials.shape, flows.shape
        ((3, 8), (3, 3, 8))
    """

    potentials: Float[Array, "n size *out"]
    flows: Float[Array, "n n size *out"]


def norms(
    game: Game | Any, players: Sequence[Sequence[int]] | None = None
) -> Float[Array, "sets *out"]:
    """‖r_i‖² of every player, or ‖r_S‖² of sets of players with r_S = Σ_{i∈S} r_i.

    Exact, from all 2**n worths; `estimate_norms` samples. It is 0 for a player who adds the same to
    every coalition. Norms of pairs say which pairs interact with the remaining players.

    Args:
        game: the game, of at most 22 players.
        players: sets of players, each a list of numbers; by default every player alone.

    Returns:
        Squared norms of shape (sets, *outputs), in squared units of the worths.

    Raises:
        InputError: for too many players, or a set that is empty or holds a player out of range.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # player 2 always adds 3
        >>> jaxshap.residuals.norms(game).tolist()
        [2.0, 2.0, 0.0]
    """
    gains = _worths(game)
    unit = unit_over_first(gains)
    check_squares(unit, 2.0**game.num_players)
    members = _memberships(players, game.num_players)
    return _norms(walsh(gains / unit) ** 2, members, residual=True) * unit * unit


def shares(
    game: Game | Any, players: Sequence[Sequence[int]] | None = None
) -> Float[Array, "sets *out"]:
    """‖r_i‖² as a share of ‖∇_i v‖², between 0 and 1: what no single number says about a player.

    Exact, from all 2**n worths; `estimate_shares` samples. It is 0 for a player who adds the same
    to every coalition, and also for one who never adds anything.

    Args:
        game: the game, of at most 22 players.
        players: sets of players, each a list of numbers; by default every player alone.

    Returns:
        Shares of shape (sets, *outputs).

    Raises:
        InputError: for too many players, or a set that is empty or holds a player out of range.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # player 2 always adds 3
        >>> print(np.asarray(jaxshap.residuals.shares(game)).round(3))
        [0.1  0.05 0.  ]
    """
    gains = _worths(game)
    squares = walsh(gains / unit_over_first(gains)) ** 2
    members = _memberships(players, game.num_players)
    gradient = _norms(squares, members, residual=False)
    return _norms(squares, members, residual=True) / jnp.where(gradient > 0, gradient, 1)


def flows(game: Game | Any) -> Flows:
    """The potentials v_i and the residuals r_i themselves, n² 2**n numbers per output.

    Exact. Each player's potential rises by the player's Shapley value from ∅ to N.

    Args:
        game: the game, of at most 22 players.

    Returns:
        A `Flows` with the `potentials` and the `flows`.

    Raises:
        InputError: for too many players.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> potentials, flows = jaxshap.residuals.flows(game)
        >>> (potentials[:, -1] - potentials[:, 0]).tolist()
        [2.0, 3.0, 3.0]
    """
    coefficients, number = walsh(_worths(game)), game.num_players
    sets = _append_axes(all_coalitions(number), coefficients.ndim + 1)  # (size, n, 1, …)
    size = jnp.maximum(sets.sum(1, keepdims=True), 1).astype(coefficients.dtype)
    share = jnp.where(sets, coefficients[:, None] / size, 0)
    potentials = jnp.moveaxis(inverse_walsh(share), 1, 0)
    worths, index = inverse_walsh(coefficients), np.arange(2**number)
    is_player = jnp.eye(number, dtype=bool)

    def flows_along(player: int) -> Float[Array, "n size *out"]:
        """Flows of all r_i along the edges in which `player` joins."""
        joined, absent = index | (1 << player), (index >> player) & 1 == 0
        gain = worths[joined] - worths
        own_gain = jnp.where(_append_axes(is_player[player], potentials.ndim), gain, 0)
        flow = own_gain - (potentials[:, joined] - potentials)
        return jnp.where(_append_axes(jnp.asarray(absent), worths.ndim), flow, 0)

    return Flows(potentials, jnp.stack([flows_along(player) for player in range(number)], axis=1))


def _worths(game: Game | Any) -> Float[Array, "size *out"]:
    check_game(game)
    if game.num_players > MAX_EXACT_PLAYERS:
        raise InputError(
            f"exact residuals need all 2**{game.num_players} worths: at most {MAX_EXACT_PLAYERS} "
            "players; sample with residuals.estimate_norms instead."
        )
    return evaluate_all(game)


def _memberships(
    players: Sequence[Sequence[int]] | None, number: int
) -> Bool[np.ndarray, "sets n"]:
    if players is None:
        return np.eye(number, dtype=bool)
    if isinstance(players, str | bytes) or not is_list(players):
        raise InputTypeError(f"players={shown(players)}: pass a list of lists of players.")
    players = list(players)
    memberships = np.zeros((len(players), number), bool)
    for row, members in zip(memberships, players, strict=True):
        if not is_list(members) or not all(_is_player(member, number) for member in members):
            raise InputError(f"{shown(members)} is not a set of players from 0 to {number - 1}.")
        if not len(members):
            raise InputError("a set of players is empty: leave it out.")
        row[list(members)] = True
    return memberships


def _is_player(member: Any, number: int) -> bool:
    whole = isinstance(member, int | np.integer) and not isinstance(member, bool)
    return bool(whole and 0 <= member < number)


@full_precision
def _norms(
    squares: Float[Array, "size *out"], members: Bool[np.ndarray, "sets n"], *, residual: bool
) -> Float[Array, "sets *out"]:
    """‖r_S‖² = 2^(n+1) Σ_T c_T² (|T∩S| − |T∩S|²/|T|), or ‖∇_S v‖² = 2^(n+1) Σ_T c_T² |T∩S|."""
    number = members.shape[1]
    index = np.arange(2**number, dtype=np.uint32)
    size = np.maximum(np.bitwise_count(index), 1).astype(float)

    def norm_of_set(mask: UInt32[Array, ""]) -> Float[Array, "*out"]:
        common = jax.lax.population_count(jnp.asarray(index) & mask).astype(squares.dtype)
        weight = common * (1 - common / jnp.asarray(size, squares.dtype)) if residual else common
        return 2.0 ** (number + 1) * jnp.tensordot(weight, squares, 1)

    masks = (members * 2 ** np.arange(number)).sum(1).astype(np.uint32)
    return jax.lax.map(norm_of_set, jnp.asarray(masks))


def _append_axes(array: Array, ndim: int) -> Array:
    """With axes of length 1 appended, so that it has `ndim` axes."""
    return array.reshape(*array.shape, *(1,) * (ndim - array.ndim))
