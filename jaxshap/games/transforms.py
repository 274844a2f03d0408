"""Transforms of tables of 2**n worths, each O(n 2**n): Möbius, zeta, Walsh–Hadamard, and the
Shapley value.

Coalition S stands at index Σ_{i∈S} 2**i. One step acts on the top bit and rotates the index by one
bit, so after n steps every player has had a turn and the order is the old one: one compiled body
serves all players.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.games.coalitions import gain_weights
from jaxshap.games.subsets import sets_up_to, without_each


def moebius(worths: Float[Array, "size *out"]) -> Float[Array, "size *out"]:
    """Dividends m(T) = Σ_{S⊆T} (−1)^|T∖S| v(S): what T adds that no smaller coalition explains."""
    return _butterfly(lambda out, join: (out, join - out), worths)


def zeta(dividends: Float[Array, "size *out"]) -> Float[Array, "size *out"]:
    """Worths v(S) = Σ_{T⊆S} m(T): the inverse of `moebius`."""
    return _butterfly(lambda out, join: (out, out + join), dividends)


def walsh(worths: Float[Array, "size *out"]) -> Float[Array, "size *out"]:
    """Coefficients c_T of v(S) = Σ_T c_T (−1)^|S∩T|; `inverse_walsh` is the same sum without the
    division.
    """
    return _butterfly(lambda out, join: ((out + join) / 2, (out - join) / 2), worths)


def inverse_walsh(coefficients: Float[Array, "size *out"]) -> Float[Array, "size *out"]:
    """Worths from Walsh coefficients."""
    return _butterfly(lambda out, join: (out + join, out - join), coefficients)


def shapley(worths: Float[Array, "size *out"]) -> Float[Array, "n *out"]:
    """Exact Shapley values, as weighted sums of gains: a player who never adds anything gets
    exactly 0.
    """
    num_players = len(worths).bit_length() - 1
    sizes = np.bitwise_count(np.arange(2 ** (num_players - 1), dtype=np.uint32))
    weights = jnp.asarray(gain_weights(num_players)[sizes], worths.dtype)

    def turn(table, _):
        out, join = table.reshape(2, -1, *worths.shape[1:])
        return _rotate(out, join), jnp.tensordot(weights, join - out, 1)

    _, values = jax.lax.scan(turn, worths, length=num_players)
    return values[::-1]  # the top bit, the last player, had the first turn


def superset_sums(table: Float[Array, "size *out"], order: int) -> Float[Array, "sets n+1 *out"]:
    """Σ of table[T] over all T ⊇ S with |T∖S| = 0..n, for every set S of `sets_up_to(n, order)`.

    One player at a time is in S, in T∖S or in neither; what is left of the table halves each time.
    Sums of sums of two lose no digits, as one long sum would.
    """
    num_players = len(table).bit_length() - 1
    sums = table[
        None, None
    ]  # sets of the players that had their turn, |T∖S|, coalitions of the others, *out
    codes = np.zeros(1, np.int64)
    for player in reversed(range(num_players)):
        halves = sums.reshape(*sums.shape[:2], 2, -1, *table.shape[1:])
        longer = [(0, 0)] * (sums.ndim - 2)
        out = jnp.pad(halves[:, :, 0], [(0, 0), (0, 1), *longer])
        extra = jnp.pad(halves[:, :, 1], [(0, 0), (1, 0), *longer])
        room = np.flatnonzero(np.bitwise_count(codes) < order)
        member = jnp.pad(halves[room, :, 1], [(0, 0), (0, 1), *longer])
        sums = jnp.concatenate([out + extra, member])
        codes = np.concatenate([codes, codes[room] + 2**player])
    wanted = sets_up_to(num_players, order) @ 2 ** np.arange(num_players)
    by_code = np.argsort(codes)
    return sums[by_code[np.searchsorted(codes, wanted, sorter=by_code)], :, 0]


def small_moebius(
    worths: Float[Array, "sets *out"], num_players: int, order: int
) -> Float[Array, "sets *out"]:
    """`moebius` from the worths of small coalitions alone: those of `sets_up_to(n, order)`, in this
    order.

    Step j takes away what each set is worth once its j-th player has left, players before it having
    had their turn.
    """

    def turn(found, without):
        known = (without >= 0).reshape(-1, *(1,) * (found.ndim - 1))
        return found - jnp.where(known, found[without], 0), None

    return jax.lax.scan(turn, worths, jnp.asarray(without_each(num_players, order)))[0]


def _butterfly(step: Callable, table: Float[Array, "size *out"]) -> Float[Array, "size *out"]:
    def turn(table, _):
        out, join = table.reshape(2, -1, *table.shape[1:])
        return _rotate(*step(out, join)), None

    return jax.lax.scan(turn, table, length=len(table).bit_length() - 1)[0]


def _rotate(
    out: Float[Array, "half *out"], join: Float[Array, "half *out"]
) -> Float[Array, "size *out"]:
    """Make the top bit the lowest."""
    return jnp.stack([out, join], axis=1).reshape(-1, *out.shape[1:])
