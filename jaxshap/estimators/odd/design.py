"""Balanced designs: few pairs {S, N∖S} that tell much about a smooth game."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.games import draw_pairs, num_pairs, runs_on_cpu

MAX_POOL_PAIRS = 2560  # candidates beyond the single players
MAX_CHOSEN_PAIRS = 512  # picked from the pool; random pairs beyond are nearly balanced
MAX_PLAYERS_IN_TWOS = 48  # beyond, sets of two players are too many to ask about all of them
LAST = 1e9  # a score beyond all others
PICKS_PER_TURN = 8  # of a loop, off the CPU: fewer kernels are launched
MAX_PLAYERS_TO_BALANCE = 128  # beyond, random pairs are nearly balanced and choosing takes long


def least_pairs(num_players: int) -> int:
    """A player alone against the rest, for each player; or all pairs there are."""
    return min(num_players, 2 ** (num_players - 1) - 1)


def balanced_rates(num_players: int, *, all_twos: bool = False) -> Float[np.ndarray, "half"]:
    """How fast pairs with a smaller side of size 1..⌊n/2⌋ come in: single players first, perhaps
    all sets of two, then all sizes at the same rate.
    """
    sizes = np.arange(1, num_players // 2 + 1)
    first = 2 if all_twos and num_players <= MAX_PLAYERS_IN_TWOS else 1
    return np.where(sizes <= first, np.inf, np.where(2 * sizes == num_players, 1.0, 2.0))


def balanced_pairs(
    key: Key[Array, ""], num_players: int, count: int, *, all_twos: bool = False
) -> Bool[Array, "count n"]:
    """One side each of `count` distinct pairs: single players, then greedily the most balanced of a
    random pool.

    Balance is a small Σ (z·z'/n)⁴ over the pairs so far, z = ±1, which an orthogonal array of
    strength 4 would minimise. N and the single players together count as one pair in it: counted in
    full they keep out everything but halves of N, and the design is blind to how worths depend on
    size. Sizes in the pool are equally likely. The pool depends on the number of players alone, so
    a larger count keeps every pair; sums of integers make the order exact. Once all of the pool is
    in, the pairs are those of `draw_pairs`, which came in at `balanced_rates`.

    With `all_twos`, all sets of two players follow on the first picks, and the other picks on
    them: they determine games with interactions of at most four players.
    """
    rates = tuple(balanced_rates(num_players, all_twos=all_twos).tolist())
    supply = num_pairs(num_players)
    num_twos = supply[1] if rates[1:2] == (np.inf,) else 0
    others = num_players + min(160 * num_players, MAX_POOL_PAIRS)
    pool_size = min(sum(supply), others + num_twos)
    before = _picks_before_twos(num_players) if num_twos else 0
    most = num_twos + max(min(8 * num_players, MAX_CHOSEN_PAIRS), before)
    most = min(most, (pool_size - num_players) // 2)
    most = most if num_players <= MAX_PLAYERS_TO_BALANCE else 0
    num_picks = max(min(most, count - num_players), 0)
    drawn = draw_pairs(key, num_players, max(count, pool_size) if num_picks else count, rates)
    if not num_picks:
        return drawn[:count]
    signs = jnp.where(drawn[:pool_size], 1, -1).astype(jnp.float32)
    single, pool = signs[:num_players], signs[num_players:]
    first = jnp.concatenate([jnp.ones((1, num_players), jnp.float32), single])
    start = ((pool @ first.T / num_players) ** 4).sum(1) / num_players
    # while sets of two have their turn
    waits = (jnp.arange(len(pool)) >= num_twos) & (num_twos > 0)

    def pick(score, turn):
        best = jnp.argmin(jnp.where((turn >= before) & waits, score + LAST, score))
        # off the CPU a sum that goes into one kernel with what follows; both are of integers
        inner = pool @ pool[best] if runs_on_cpu() else (pool * pool[best]).sum(1)
        score = score + (inner / num_players) ** 4
        return jnp.where(jnp.arange(len(pool)) == best, jnp.inf, score), best

    unroll = 1 if runs_on_cpu() else PICKS_PER_TURN
    score, picks = jax.lax.scan(pick, start, jnp.arange(num_picks), unroll=unroll)
    left = jnp.argsort(jnp.isinf(score), stable=True)[: len(pool) - num_picks]  # as drawn
    order = jnp.concatenate([jnp.arange(num_players), num_players + picks, num_players + left])
    return jnp.concatenate([drawn[order], drawn[pool_size:]])[:count]


def _picks_before_twos(num_players: int) -> int:
    """So many that all sets of two are in by 20 n evaluations, if that leaves 3.4 n picks or more;
    otherwise they come after 20 n evaluations, and after half as many picks as there are of them.
    """
    early = 9 * num_players - 1 - math.comb(num_players, 2)
    if early >= 3.4 * num_players:
        return early
    return max(9 * num_players, num_players * (num_players + 1) // 4)
