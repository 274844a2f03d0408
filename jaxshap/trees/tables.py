"""A table for each path: what each of its features gets, by which of its conditions a row meets."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt

from jaxshap.games import full_precision
from jaxshap.trees.paths import Paths

MAX_DENSE_FEATURES = 8  # up to which a table is one product with a constant matrix
ROWS_AT_ONCE = 1024
PATHS_AT_ONCE = 64  # each block is summed by itself, by which float32 keeps two digits more


@functools.cache
def shares(width: int) -> Float[np.ndarray, "k patterns patterns"]:
    """What feature j gets of a leaf of value 1, for the pattern of a row and of a background row.

    With s features that only the row meets and t that only the background row meets, and none that
    neither does: (s−1)! t!/(s+t)! for each of the former, −s! (t−1)!/(s+t)! for each of the latter.
    """
    row, other, only_row, only_other, all_met = _patterns(width)
    gain, loss = (factorials(width, *less)[only_row, only_other] for less in ((1, 0), (0, 1)))
    bits = [(row >> j) % 2 - (other >> j) % 2 for j in range(width)]
    return np.stack(
        [np.where(bit > 0, gain, np.where(bit < 0, -loss, 0)) * all_met for bit in bits]
    )


@functools.cache
def pair_shares(width: int) -> Float[np.ndarray, "pairs patterns patterns"]:
    """The same for the interaction of features i > j: ± s! t!/(s+t+1)!, not counting i and j."""
    row, other, only_row, only_other, all_met = _patterns(width)
    weights = factorials(width, 0, 0)
    shares_of_pairs = []
    for i, j in pairs(width):
        first, second = ((row >> bit) % 2 - (other >> bit) % 2 for bit in (i, j))
        s = np.maximum(only_row - (first > 0) - (second > 0), 0)
        t = np.maximum(only_other - (first < 0) - (second < 0), 0)
        shares_of_pairs.append(first * second * all_met * weights[s, t])
    return np.stack(shares_of_pairs)


@functools.cache
def factorials(width: int, less_s: int, less_t: int) -> Float[np.ndarray, "s t"]:
    """(s − less_s)! (t − less_t)!/(s + t − less_s − less_t + 1)! where s ≥ less_s and t ≥ less_t.

    Elsewhere 0. One less is the weight of a feature, (s−1)! t!/(s+t)!; two less, that of a pair.
    """
    weights = np.zeros((width + 1, width + 1))
    for s in range(less_s, width + 1):
        for t in range(less_t, width + 1 - s):
            a, b = s - less_s, t - less_t
            weights[s, t] = math.factorial(a) * math.factorial(b) / math.factorial(a + b + 1)
    return weights


def pairs(width: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(width) for j in range(i)]


def product_patterns(rates: Float[Array, "paths k"]) -> Float[Array, "paths patterns"]:
    """How likely each pattern is when each condition is met by chance, independently."""
    chances = jnp.ones((len(rates), 1), rates.dtype)
    for j in range(rates.shape[1] - 1, -1, -1):
        both = jnp.stack([1 - rates[:, j], rates[:, j]], axis=-1)
        chances = (chances[:, :, None] * both[:, None]).reshape(len(rates), -1)
    return chances


@full_precision
def tables(
    chances: Float[Array, "paths patterns"],
    sibling_chances: Float[Array, "paths patterns"],
    paths: Paths,
    values: Float[Array, "leaves outputs"],
    num_siblings: int,
    order: int = 1,
) -> Float[Array, "paths slots patterns"]:
    """What each feature (or pair, `order` 2) gets of both leaves, for each pattern of a row.

    The chances are those of patterns of the background; slots are outputs times features. Only the
    first `num_siblings` paths have a second leaf.
    """
    width = paths.column.shape[1]
    entries = values[paths.leaf][:, :, None, None] * _weighted(chances, width, order)[:, None]
    if num_siblings:
        second = _weighted(sibling_chances[:num_siblings], width, order)
        halves = second.reshape(*second.shape[:2], 2, -1)
        second = halves[:, :, ::-1].reshape(second.shape)  # the last bit is flipped
        number = jnp.asarray(paths.sibling[:num_siblings])
        sibling = jnp.where(number[:, None] < 0, 0, values[number])
        entries = entries.at[:num_siblings].add(sibling[:, :, None, None] * second[:, None])
    return entries.reshape(len(entries), -1, entries.shape[-1])


def _weighted(
    chances: Float[Array, "paths patterns"], width: int, order: int
) -> Float[Array, "paths k patterns"]:
    if order == 2 or width <= MAX_DENSE_FEATURES:
        return _product((shares if order == 1 else pair_shares)(width), chances)
    return jax.lax.map(lambda of_path: _integrated(of_path, width), chances, batch_size=16)


def _product(
    weights: Float[np.ndarray, "k patterns patterns"], chances: Float[Array, "paths patterns"]
) -> Float[Array, "paths k patterns"]:
    """Σ_B weights[k, A, B] chances[B], omitting blocks where all weights are 0.

    They are 0 where A and B both miss one of the last three conditions: to omit these blocks saves
    more than half of a large product. A small product is faster as it is.
    """
    parts = 8 if weights.shape[1] >= 2**MAX_DENSE_FEATURES else 1
    blocks = weights.reshape(len(weights), parts, -1, parts, weights.shape[1] // parts)
    chances = chances.reshape(len(chances), parts, -1)
    sums = []
    for part in range(parts):
        others = [other for other in range(parts) if part | other == parts - 1]
        block = jnp.asarray(blocks[:, part][:, :, others], chances.dtype)
        chosen = chances[:, np.array(others)]
        sums.append(jnp.einsum("pob,kaob->pka", chosen, block))
    return jnp.concatenate(sums, axis=2)


def _integrated(chances: Float[Array, "patterns"], width: int) -> Float[Array, "k patterns"]:
    """The same as a product with `shares`, by Gauss–Legendre over the chance q of the row's side.

    At each q all bits are mixed by [[0, 1−q], [q, 1]]; undoing this for bit j shows what j adds.
    """
    nodes, weights = np.polynomial.legendre.leggauss(-(-width // 2))
    q, weight = (
        jnp.asarray(part, chances.dtype)[:, None] for part in ((nodes + 1) / 2, weights / 2)
    )
    mixed = jnp.broadcast_to(chances, (len(q), len(chances)))

    def mix(_, mixed):  # the lowest bit, which then becomes the highest
        halves = mixed.reshape(len(q), -1, 2)
        off, on = halves[..., 0], halves[..., 1]
        return jnp.concatenate([(1 - q) * on, q * off + on], axis=-1)

    def show(mixed, _):
        halves = mixed.reshape(len(q), -1, 2)
        off, on = halves[..., 0], halves[..., 1]
        without = (-weight / (1 - q) * off).sum(0)
        within = (weight / q * (on - off / (1 - q))).sum(0)
        by_pattern = jnp.stack([without, within], axis=-1).reshape(-1)
        return jnp.concatenate([off, on], axis=-1), by_pattern

    _, turned = jax.lax.scan(show, jax.lax.fori_loop(0, width, mix, mixed), length=width)
    back = [turned[j].reshape(2**j, -1).T.reshape(-1) for j in range(width)]
    return jnp.stack(back)


def patterns(paths: Paths, codes: Int[Array, "columns rows"]) -> UInt[Array, "paths rows"]:
    """Which conditions each row meets, one bit per feature.

    The largest number of the codes' integer type stands for a missing value.
    """
    width, missing_code = paths.column.shape[1], jnp.iinfo(codes.dtype).max
    dtype = jnp.uint8 if width <= 8 else jnp.uint16 if width <= 16 else jnp.uint32
    powers = 2 ** jnp.arange(width, dtype=jnp.uint32)[:, None]

    def of_path(_, path):
        column, low, high, missing = path
        code = codes[column]
        inside = (code > low[:, None]) & (code <= high[:, None])
        met = inside | ((code == missing_code) & missing[:, None])
        return None, jnp.where(met, powers, 0).sum(0).astype(dtype)

    low, high = (
        jnp.minimum(part, missing_code - 1).astype(codes.dtype) for part in (paths.low, paths.high)
    )
    conditions = jnp.asarray(paths.column), low, high, jnp.asarray(paths.missing)
    return jax.lax.scan(of_path, None, conditions)[1]


def apply_tables(
    entries: Float[Array, "paths slots patterns"],
    row_patterns: UInt[Array, "paths rows"],
    places: Int[Array | np.ndarray, "paths slots"],
    num_places: int,
) -> Float[Array, "places rows"]:
    """The sum over paths of their tables' entries at the rows' patterns, added slot by slot."""
    start = jnp.zeros((num_places, row_patterns.shape[1]), entries.dtype)

    def of_path(total, path):
        table, pattern, place = path
        slots = table.at[:, pattern].get(mode="promise_in_bounds")
        return total.at[place].add(slots, mode="promise_in_bounds"), None

    def of_block(total, block):
        return total + jax.lax.scan(of_path, start, block)[0], None

    blocks = blocked((entries, row_patterns, places), PATHS_AT_ONCE)
    return jax.lax.scan(of_block, start, blocks)[0]


def blocked(arrays: tuple, size: int) -> tuple:
    """Arrays over paths as blocks of `size`, the last filled up with zeros."""
    count = -(-len(arrays[0]) // size)

    def in_blocks(array):
        padded = jnp.pad(array, ((0, count * size - len(array)),) + ((0, 0),) * (array.ndim - 1))
        return padded.reshape(count, size, *array.shape[1:])

    return tuple(in_blocks(jnp.asarray(array)) for array in arrays)


def _patterns(
    width: int,
) -> tuple[
    Int[np.ndarray, "row 1"],
    Int[np.ndarray, "1 other"],
    Int[np.ndarray, "row other"],
    Int[np.ndarray, "row other"],
    Bool[np.ndarray, "row other"],
]:
    """Patterns of two rows: how many conditions only one of them meets, and whether all are met."""
    ones = np.array([number.bit_count() for number in range(2**width)])
    row, other = np.arange(2**width)[:, None], np.arange(2**width)[None, :]
    return row, other, ones[row & ~other], ones[other & ~row], (row | other) == 2**width - 1
