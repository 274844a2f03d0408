"""Coalitions: enumerating, drawing and pairing them, and the weights of their sizes."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt

LARGEST_RANK = 2**31  # sizes with fewer coalitions are drawn without replacement, by rank


def as_key(key: Key[Array, ""] | int) -> Key[Array, ""]:
    """A JAX key as it is, or the key of a whole number."""
    return jax.random.key(int(key)) if isinstance(key, int | np.integer) else key


def all_coalitions(num_players: int) -> Bool[Array, "size n"]:
    """Every coalition; S stands at index Σ_{i∈S} 2**i."""
    index = jnp.arange(2**num_players, dtype=jnp.uint32)
    return (index[:, None] >> jnp.arange(num_players, dtype=jnp.uint32)) & 1 == 1


def gain_weights(num_players: int) -> Float[np.ndarray, "n"]:
    """Shapley's weight of a gain v(S∪i) − v(S) by |S| = 0..n−1: 1 / (n C(n−1, |S|)), in log space."""
    sizes = np.arange(num_players)
    return np.exp(-log_binomial(num_players - 1, sizes)) / num_players


def kernel_mass(num_players: int) -> Float[np.ndarray, "n-1"]:
    """The Shapley kernel summed over the coalitions of each size 1..n−1: (n−1) / (s (n−s))."""
    sizes = np.arange(1, num_players)
    return (num_players - 1) / (sizes * (num_players - sizes))


def reuse_mass(num_players: int) -> Float[np.ndarray, "n-1"]:
    """How often to draw each size 1..n−1 when every worth counts for all players: ∝ 1/√(s(n−s)).

    Of all choices it has the least variance for worths of constant square.
    """
    return np.sqrt(kernel_mass(num_players))


def reuse_weights(coalitions: Bool[Array, "m n"], dtype) -> Float[Array, "m n"]:
    """What a worth counts for each player, over the chance of its coalition under `reuse_mass`."""
    num_players = coalitions.shape[1]
    mass = reuse_mass(num_players)
    size = coalitions.sum(1)
    over_chance = jnp.asarray(mass.sum() / mass, dtype)[size - 1][:, None]
    size = size.astype(dtype)[:, None]
    return over_chance * jnp.where(coalitions, 1 / size, -1 / (num_players - size))


@functools.cache
def num_pairs(num_players: int) -> tuple[int, ...]:
    """How many pairs {S, N∖S} have a smaller side of size 1..⌊n/2⌋; `LARGEST_RANK` stands for more
    than that.
    """
    sizes = range(1, num_players // 2 + 1)
    counts = (
        math.comb(num_players, size) // (2 if 2 * size == num_players else 1) for size in sizes
    )
    return tuple(min(count, LARGEST_RANK) for count in counts)


def affordable_pairs(num_players: int, budget: int) -> int:
    """How many pairs {S, N∖S} a budget buys beside {∅, N}: not more than there are."""
    return min((budget - 2) // 2, 2 ** (num_players - 1) - 1)


def without_ends(coalitions: Bool[Array, "m n"]) -> Bool[Array, "m n"]:
    """∅ and N replaced by a stand-in that may be evaluated; `with_ends` puts the known worths in
    its place.
    """
    ends = coalitions.all(1) | ~coalitions.any(1)
    return jnp.where(ends[:, None], jnp.arange(coalitions.shape[1]) == 0, coalitions)


def with_ends(
    worths: Float[Array, "m *out"],
    coalitions: Bool[Array, "m n"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
) -> Float[Array, "m *out"]:
    """Worths with those of ∅ and N as they are known."""
    shape = (len(worths),) + (1,) * empty.ndim
    none, every = (~coalitions.any(1)).reshape(shape), coalitions.all(1).reshape(shape)
    return jnp.where(none, empty, jnp.where(every, full, worths))


def draw_pairs(
    key: Key[Array, ""], num_players: int, count: int, rates: tuple[float, ...]
) -> Bool[Array, "count n"]:
    """One side each of `count` distinct pairs {S, N∖S}; pair i depends on `key` and i alone.

    `rates[s − 1]` says how fast pairs with a smaller side of size s come in; an infinite rate means
    all of them first.
    """
    sizes, turns = schedule(num_pairs(num_players), count, rates)
    supply = np.asarray(num_pairs(num_players))[sizes]
    return draw_distinct(key, num_players, sizes + 1, turns, supply)


def draw_distinct(
    key: Key[Array, ""],
    num_players: int,
    sizes: Int[np.ndarray, "m"],
    turns: Int[np.ndarray, "m"],
    supply: Int[np.ndarray, "m"],
) -> Bool[Array, "m n"]:
    """Coalition number `turns` of this size, in an order of the first `supply` of them that is
    random for each size.

    Without replacement: different turns of one size give different coalitions (up to
    `LARGEST_RANK`; beyond that, independent draws, which hardly ever meet).
    """
    by_rank = np.flatnonzero(supply < LARGEST_RANK)
    by_chance = np.flatnonzero(supply >= LARGEST_RANK)
    apart = jax.random.fold_in(key, num_players + 1)  # sizes take the numbers below
    rounds = jax.random.bits(apart, (num_players + 1, 6), jnp.uint32)[sizes[by_rank]]
    numbers = (jnp.asarray(part[by_rank], jnp.uint32) for part in (turns, supply))
    ranked = _of_rank(num_players, sizes[by_rank], jax.vmap(_shuffled_rank)(rounds, *numbers))
    if not by_chance.size:
        return ranked
    keys = jax.vmap(lambda size: jax.random.fold_in(key, size))(jnp.arange(num_players + 1))
    draws = jax.vmap(jax.random.fold_in)(
        keys[sizes[by_chance]], jnp.asarray(turns[by_chance], jnp.uint32)
    )
    chances = jax.vmap(lambda draw: jax.random.uniform(draw, (num_players,), jnp.float32))(draws)
    drawn = draw_coalitions(chances, jnp.asarray(sizes[by_chance]))
    return jnp.concatenate([ranked, drawn])[np.argsort(np.concatenate([by_rank, by_chance]))]


def draw_chances(
    key: Key[Array, ""], draws: Int[Array, "m"], length: int
) -> Float[Array, "m length"]:
    """Uniform numbers, those of draw i from `fold_in(key, i)`; always float32, so that dtypes do
    not change plans.
    """
    return jax.vmap(
        lambda draw: jax.random.uniform(jax.random.fold_in(key, draw), (length,), jnp.float32)
    )(draws)


def draw_coalitions(chances: Float[Array, "m n"], sizes: Int[Array, "m"]) -> Bool[Array, "m n"]:
    """A uniformly random coalition of each size: players are taken in turn with chance left /
    remaining.

    Sequential selection needs no sorting: at 300 players it is many times faster than ranking
    uniforms.
    """

    def turn(left, step):
        chance, remaining = step
        take = chance * remaining < left
        return left - take.astype(jnp.float32), take

    remaining = jnp.arange(chances.shape[1], 0, -1, dtype=jnp.float32)
    return jax.lax.scan(turn, sizes.astype(jnp.float32), (chances.T, remaining))[1].T


def draw_independent(
    key: Key[Array, ""], num_players: int, count: int, mass: Float[np.ndarray, "n-1"]
) -> Bool[Array, "count n"]:
    """Independent coalitions with sizes 1..n−1 in proportion to `mass`; draw i comes from
    `fold_in(key, i)`.
    """
    chances = draw_chances(key, jnp.arange(count), num_players + 1)
    steps = jnp.asarray(np.cumsum(mass)[:-1] / mass.sum(), jnp.float32)
    sizes = 1 + (chances[:, :1] >= steps).sum(1)
    return draw_coalitions(chances[:, 1:], sizes)


def paired(side: Bool[Array, "m n"]) -> Bool[Array, "2*m n"]:
    """Each coalition followed by its complement."""
    return jnp.stack([side, ~side], axis=1).reshape(-1, side.shape[1])


@functools.lru_cache(maxsize=256)
def schedule(
    supply: tuple[int, ...], count: int, rates: tuple[float, ...]
) -> tuple[Int[np.ndarray, "count"], Int[np.ndarray, "count"]]:
    """Which class each of `count` draws comes from, and which draw of its class it is; a prefix for
    every count.

    Classes come in at their rates in a fixed low-discrepancy order, so that at every count their
    shares are as even as whole numbers allow, until their supply is used up; an infinite rate means
    all of that class first.
    """
    stock, rate = np.asarray(supply), np.asarray(rates, float)
    at_once = np.isinf(rate)
    offset = np.modf(np.arange(1, len(rate) + 1) * 0.6180339887498949)[
        0
    ]  # so that rare classes do not come together
    count = min(count, sum(supply))

    def arrived(time: float) -> Int[np.ndarray, "classes"]:
        number = np.floor(np.where(at_once, 0, rate) * time + 1 - offset)
        return np.where(at_once, stock, np.clip(number, 0, stock)).astype(int)

    latest = 1.0
    while arrived(latest).sum() < count:
        latest *= 2
    numbers = np.minimum(arrived(latest), count)
    classes = np.repeat(np.arange(len(rate)), numbers)
    turns = np.concatenate([np.arange(number) for number in numbers])
    times = np.where(
        at_once[classes], -1.0, (turns + offset[classes]) / np.where(at_once, 1, rate)[classes]
    )
    order = np.lexsort((classes, times))[:count]
    return classes[order].astype(np.int32), turns[order].astype(np.int32)


def _of_rank(
    num_players: int, sizes: Int[np.ndarray, "m"], ranks: UInt[Array, "m"]
) -> Bool[Array, "m n"]:
    """The coalition of each size with this rank in lexicographic order."""
    binomials = _binomial_table(num_players, int(sizes.max(initial=1)))
    columns = jnp.arange(1, binomials.shape[1] + 1, dtype=jnp.uint32)

    def turn(carry, row):
        left, rank = carry
        going_on = jnp.where(
            left[:, None] == columns, row, 0
        )  # how many coalitions go on with this player in
        with_player = going_on.sum(1, dtype=jnp.uint32)
        take = rank < with_player
        return (left - take.astype(jnp.uint32), jnp.where(take, rank, rank - with_player)), take

    return jax.lax.scan(turn, (jnp.asarray(sizes, jnp.uint32), ranks), jnp.asarray(binomials))[1].T


def _shuffled_rank(
    rounds: UInt[Array, "6"], turn: UInt[Array, ""], supply: UInt[Array, ""]
) -> UInt[Array, ""]:
    """Where `turn` stands in a random order of 0..supply−1: a keyed Feistel permutation, walked
    until it lands inside.

    It costs a few multiplications a draw and no table, whatever the supply (Black & Rogaway 2002).
    """
    half = (33 - jax.lax.clz(jnp.maximum(supply, 2) - 1)) // 2  # bits: 4**half ≥ supply
    mask = (jnp.uint32(1) << half) - 1

    def permute(number):
        high, low = number >> half, number & mask
        for constant in rounds:
            high, low = low, high ^ (_mix(low + constant) & mask)
        return (high << half) | low

    return jax.lax.while_loop(lambda number: number >= supply, permute, permute(turn))


def _mix(word: UInt[Array, ""]) -> UInt[Array, ""]:
    """Spread every bit over the word (the finaliser of MurmurHash3)."""
    word = (word ^ (word >> 16)) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * jnp.uint32(0xC2B2AE35)
    return word ^ (word >> 16)


def _binomial_table(num_players: int, largest: int) -> UInt[np.ndarray, "n largest"]:
    """C(n − 1 − i, s − 1) for player i = 0..n−1 and s = 1..largest still to take; capped where
    ranks never reach.
    """
    rows = (
        (math.comb(num_players - 1 - i, s - 1) for s in range(1, largest + 1))
        for i in range(num_players)
    )
    return np.array(
        [[min(entry, LARGEST_RANK) for entry in row] for row in rows], np.uint32
    ).reshape(num_players, -1)


def log_binomial(total: int, chosen: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """log C(total, chosen)."""
    log_factorial = np.array([math.lgamma(number + 1) for number in range(total + 1)])
    return log_factorial[total] - log_factorial[chosen] - log_factorial[total - chosen]
