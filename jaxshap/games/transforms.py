"""Transforms of tables of 2**n worths, each O(n 2**n): Möbius, zeta, Walsh–Hadamard, Shapley.

Coalition S stands at index Σ_{i∈S} 2**i. One step acts on the top bit and rotates the index by one
bit, so after n steps every player has had a turn and the original order is back: one compiled body
serves all players.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.games.coalitions import gain_weights
from jaxshap.games.precision import full_precision
from jaxshap.games.subsets import sets_up_to, without_each

AnyArray = Array | np.ndarray


def moebius(worths: Float[AnyArray, "size *out"]) -> Float[Array, "size *out"]:
    """Dividends m(T) = Σ_{S⊆T} (−1)^|T∖S| v(S): what T adds that no smaller coalition explains."""
    return _butterfly(lambda without, joined: (without, joined - without), worths)


def zeta(dividends: Float[AnyArray, "size *out"]) -> Float[Array, "size *out"]:
    """Worths v(S) = Σ_{T⊆S} m(T): the inverse of `moebius`."""
    return _butterfly(lambda without, joined: (without, without + joined), dividends)


def walsh(worths: Float[AnyArray, "size *out"]) -> Float[Array, "size *out"]:
    """Coefficients c_T of v(S) = Σ_T c_T (−1)^|S∩T|."""
    return _butterfly(
        lambda without, joined: ((without + joined) / 2, (without - joined) / 2), worths
    )


def inverse_walsh(coefficients: Float[AnyArray, "size *out"]) -> Float[Array, "size *out"]:
    """Worths from Walsh coefficients."""
    return _butterfly(lambda without, joined: (without + joined, without - joined), coefficients)


@full_precision
def shapley(worths: Float[AnyArray, "size *out"]) -> Float[Array, "n *out"]:
    """Exact Shapley values as weighted sums of gains; a player who adds nothing gets exactly 0."""
    num_players = len(worths).bit_length() - 1
    sizes = np.bitwise_count(np.arange(2 ** (num_players - 1), dtype=np.uint32))
    weights = jnp.asarray(gain_weights(num_players)[sizes], worths.dtype)

    def turn(table, _):
        without, joined = table.reshape(2, -1, *worths.shape[1:])
        return _rotate(without, joined), jnp.tensordot(weights, joined - without, 1)

    _, values = jax.lax.scan(turn, jnp.asarray(worths), length=num_players)
    return values[::-1]  # the top bit, the last player, had the first turn


def superset_sums(
    table: Float[AnyArray, "size *out"], order: int
) -> Float[Array, "sets sizes *out"]:
    """Σ of table[T] over all T ⊇ S with |T∖S| = 0..n, for every set S of `sets_up_to(n, order)`.

    One player at a time is put in S, in T∖S or in neither, which halves the table that remains.
    Sums of sums of two lose no digits, as one long sum would.
    """
    num_players = len(table).bit_length() - 1
    # axes: sets S so far, |T∖S|, coalitions of the players still to come, *out
    sums = jnp.asarray(table)[None, None]
    codes = np.zeros(1, np.int64)
    for player in reversed(range(num_players)):
        halves = sums.reshape(*sums.shape[:2], 2, -1, *table.shape[1:])
        no_padding = [(0, 0)] * (sums.ndim - 2)
        neither = jnp.pad(halves[:, :, 0], [(0, 0), (0, 1), *no_padding])
        in_rest = jnp.pad(halves[:, :, 1], [(0, 0), (1, 0), *no_padding])
        extendable = np.flatnonzero(np.bitwise_count(codes) < order)
        in_set = jnp.pad(halves[extendable, :, 1], [(0, 0), (0, 1), *no_padding])
        sums = jnp.concatenate([neither + in_rest, in_set])
        codes = np.concatenate([codes, codes[extendable] + 2**player])
    wanted = sets_up_to(num_players, order) @ 2 ** np.arange(num_players)
    by_code = np.argsort(codes)
    return sums[by_code[np.searchsorted(codes, wanted, sorter=by_code)], :, 0]


def small_moebius(
    worths: Float[AnyArray, "sets *out"], num_players: int, order: int
) -> Float[Array, "sets *out"]:
    """`moebius` from the worths of `sets_up_to(n, order)` alone, in that order.

    Step j subtracts from each set the current number of the set without its j-th player.
    """

    def turn(dividends, without):
        known = (without >= 0).reshape(-1, *(1,) * (dividends.ndim - 1))
        return dividends - jnp.where(known, dividends[without], 0), None

    steps = jnp.asarray(without_each(num_players, order))
    return jax.lax.scan(turn, jnp.asarray(worths), steps)[0]


def _butterfly(step: Callable, table: Float[AnyArray, "size *out"]) -> Float[Array, "size *out"]:
    """Apply `step` to the worths without and with each player in turn."""

    def turn(table, _):
        without, joined = table.reshape(2, -1, *table.shape[1:])
        return _rotate(*step(without, joined)), None

    return jax.lax.scan(turn, jnp.asarray(table), length=len(table).bit_length() - 1)[0]


def _rotate(
    without: Float[Array, "half *out"], joined: Float[Array, "half *out"]
) -> Float[Array, "2*half *out"]:
    """Make the top bit the lowest."""
    return jnp.stack([without, joined], axis=1).reshape(-1, *without.shape[1:])
