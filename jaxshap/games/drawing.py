"""Drawing coalitions, distinct or independent; draw i is the same whatever their number."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt

from jaxshap.games.devices import steps_at_once

MAX_RANKED = 2**31  # a size with fewer coalitions is drawn by rank, without replacement
GOLDEN_RATIO = 0.6180339887498949  # its multiples modulo 1 are spread most evenly


@functools.cache
def num_pairs(num_players: int) -> tuple[int, ...]:
    """How many pairs {S, N∖S} have a smaller side of size 1..⌊n/2⌋, capped at `MAX_RANKED`."""
    sizes = range(1, num_players // 2 + 1)
    counts = (math.comb(num_players, size) for size in sizes)
    halves = (2 * size == num_players for size in sizes)  # of which each pair has two
    return tuple(
        min(count // 2 if half else count, MAX_RANKED)
        for count, half in zip(counts, halves, strict=True)
    )


def draw_pairs(
    key: Key[Array, ""], num_players: int, count: int, rates: tuple[float, ...]
) -> Bool[Array, "pairs {num_players}"]:
    """One side each of `count` distinct pairs {S, N∖S}; pair i depends on `key` and i alone.

    `rates[s − 1]` says how fast pairs with a smaller side of size s come in; an infinite rate puts
    all of them first. Fewer pairs come back where there are no more.
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
) -> Bool[Array, "m {num_players}"]:
    """Coalition number `turns` of each size, in a random order of the first `supply` of that size.

    Different turns of one size give different coalitions. From `MAX_RANKED` coalitions on, draws
    are independent instead, and hardly ever equal.
    """
    by_rank = np.flatnonzero(supply < MAX_RANKED)
    by_chance = np.flatnonzero(supply >= MAX_RANKED)
    rank_key = jax.random.fold_in(key, num_players + 1)  # sizes take the numbers below
    rounds = jax.random.bits(rank_key, (num_players + 1, 6), jnp.uint32)[sizes[by_rank]]
    numbers = (jnp.asarray(column[by_rank], jnp.uint32) for column in (turns, supply))
    ranks = jax.vmap(_shuffled_rank)(rounds, *numbers)
    largest = int(sizes[by_rank].max(initial=1))
    ranked = _of_rank(num_players, jnp.asarray(sizes[by_rank]), ranks, largest)
    if not by_chance.size:
        return ranked
    keys = jax.vmap(lambda size: jax.random.fold_in(key, size))(jnp.arange(num_players + 1))
    keys = keys[sizes[by_chance]]
    keys = jax.vmap(jax.random.fold_in)(keys, jnp.asarray(turns[by_chance], jnp.uint32))
    chances = jax.vmap(lambda draw: jax.random.uniform(draw, (num_players,), jnp.float32))(keys)
    drawn = draw_coalitions(chances, jnp.asarray(sizes[by_chance]))
    return jnp.concatenate([ranked, drawn])[np.argsort(np.concatenate([by_rank, by_chance]))]


def draw_of_sizes(
    key: Key[Array, ""], num_players: int, sizes: Int[Array, "m"], turns: Int[Array, "m"]
) -> Bool[Array, "m {num_players}"]:
    """`draw_distinct` for sizes 0..n that are themselves drawn: coalition number `turns` of each.

    A size above n/2 is drawn by its complement, so that no rank exceeds `MAX_RANKED`.
    """
    every_size = range(num_players + 1)
    supply = np.array([min(math.comb(num_players, size), MAX_RANKED) for size in every_size])
    smaller = np.minimum(np.arange(num_players + 1), num_players - np.arange(num_players + 1))
    largest = int(smaller[supply < MAX_RANKED].max())
    rounds = jax.random.bits(jax.random.fold_in(key, num_players + 1), (len(supply), 6), jnp.uint32)
    ranks = jax.vmap(_shuffled_rank)(
        rounds[sizes], turns.astype(jnp.uint32), jnp.asarray(supply, jnp.uint32)[sizes]
    )
    side = _of_rank(num_players, jnp.asarray(np.minimum(smaller, largest))[sizes], ranks, largest)
    ranked = side ^ (2 * sizes > num_players)[:, None]
    if (supply < MAX_RANKED).all():
        return ranked

    def by_chance(size, turn):
        of_draw = jax.random.fold_in(jax.random.fold_in(key, size), turn)
        return jax.random.uniform(of_draw, (num_players,), jnp.float32)

    drawn = draw_coalitions(jax.vmap(by_chance)(sizes, turns), sizes)
    return jnp.where(jnp.asarray(supply < MAX_RANKED)[sizes][:, None], ranked, drawn)


def draw_chances(
    key: Key[Array, ""], draws: Int[Array, "m"], length: int
) -> Float[Array, "m {length}"]:
    """Uniform numbers, those of draw i from `fold_in(key, i)`.

    They are always float32, so that the precision of a game does not change its plan.
    """

    def numbers(draw):
        return jax.random.uniform(jax.random.fold_in(key, draw), (length,), jnp.float32)

    return jax.vmap(numbers)(draws)


def draw_coalitions(chances: Float[Array, "m n"], sizes: Int[Array, "m"]) -> Bool[Array, "m n"]:
    """A uniformly random coalition of each size, each player in with chance still needed / left.

    Sequential selection needs no sorting: at 300 players it is many times faster than ranking
    uniform numbers.
    """

    def turn(needed, step):
        chance, left = step
        take = chance * left < needed
        return needed - take.astype(jnp.float32), take

    left = jnp.arange(chances.shape[1], 0, -1, dtype=jnp.float32)
    start, turns = sizes.astype(jnp.float32), (chances.T, left)
    return jax.lax.scan(turn, start, turns, unroll=steps_at_once())[1].T


def inserted_absent(
    partners: Bool[Array, "draws others"], player: Int[Array, ""]
) -> Bool[Array, "draws others+1"]:
    """Coalitions of all players, without `player`, from coalitions of the other players."""
    num_others = partners.shape[1]
    column = jnp.arange(num_others + 1)
    source = jnp.clip(jnp.where(column > player, column - 1, column), 0, max(num_others - 1, 0))
    return partners[:, source] & (column != player)


def draw_independent(
    key: Key[Array, ""], num_players: int, count: int, mass: Float[np.ndarray, "{num_players}-1"]
) -> Bool[Array, "{count} {num_players}"]:
    """Independent coalitions; sizes 1..n−1 come in proportion to `mass`."""
    chances = draw_chances(key, jnp.arange(count), num_players + 1)
    steps = jnp.asarray(np.cumsum(mass)[:-1] / mass.sum(), jnp.float32)
    sizes = 1 + (chances[:, :1] >= steps).sum(1)
    return draw_coalitions(chances[:, 1:], sizes)


@functools.lru_cache(maxsize=256)
def schedule(
    supply: tuple[int, ...], count: int, rates: tuple[float, ...]
) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
    """The class of each of `count` draws and its turn within the class; more draws only add.

    Classes come in at their rates in a fixed low-discrepancy order, so that at every count their
    shares are as even as whole numbers allow, until their supply is used up. An infinite rate puts
    all of a class first.
    """
    stock, rate = np.asarray(supply), np.asarray(rates, float)
    at_once = np.isinf(rate)
    # offsets keep rare classes from coming in together
    offset = np.modf(np.arange(1, len(rate) + 1) * GOLDEN_RATIO)[0]
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
    times = (turns + offset[classes]) / np.where(at_once, 1, rate)[classes]
    order = np.lexsort((classes, np.where(at_once[classes], -1.0, times)))[:count]
    return classes[order].astype(np.int32), turns[order].astype(np.int32)


def _of_rank(
    num_players: int, sizes: Int[Array, "m"], ranks: UInt[Array, "m"], largest: int
) -> Bool[Array, "m {num_players}"]:
    """The coalition of each size, `largest` at most, with this rank in lexicographic order."""
    binomials = _binomial_table(num_players, largest)
    columns = jnp.arange(1, binomials.shape[1] + 1, dtype=jnp.uint32)

    def turn(carry, row):
        needed, rank = carry
        # how many coalitions continue with this player as a member
        with_player = jnp.where(needed[:, None] == columns, row, 0).sum(1, dtype=jnp.uint32)
        take = rank < with_player
        return (needed - take.astype(jnp.uint32), jnp.where(take, rank, rank - with_player)), take

    start, table = (sizes.astype(jnp.uint32), ranks), jnp.asarray(binomials)
    return jax.lax.scan(turn, start, table, unroll=steps_at_once())[1].T


def _binomial_table(num_players: int, largest: int) -> UInt[np.ndarray, "{num_players} {largest}"]:
    """C(n − 1 − i, s − 1) for player i = 0..n−1 and s = 1..largest, capped at `MAX_RANKED`."""
    entries = (
        min(math.comb(num_players - 1 - i, s - 1), MAX_RANKED)
        for i in range(num_players)
        for s in range(1, largest + 1)
    )
    return np.fromiter(entries, np.uint32, num_players * largest).reshape(num_players, largest)


def _shuffled_rank(
    rounds: UInt[Array, "6"], turn: UInt[Array, ""], supply: UInt[Array, ""]
) -> UInt[Array, ""]:
    """The place of `turn` in a random order of 0..supply−1: a keyed Feistel permutation.

    The permutation of the next power of 4 is repeated until it lands below `supply`. It costs a few
    multiplications per draw and no table, whatever the supply (Black & Rogaway 2002).
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
