"""A table for each path: what each of its features gets, by which of its conditions a row meets."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.trees.paths import Paths

MOST_DENSE = 8  # features for which a table is one product with a constant matrix
ROWS_AT_ONCE, PATHS_AT_ONCE = (
    1024,
    64,
)  # sums of a few paths are summed in turn: float32 keeps two digits more


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
    """The same for the interaction of features i > j: ± s! t!/(s+t+1)!, the two themselves not
    counted.
    """
    row, other, only_row, only_other, all_met = _patterns(width)
    weights = factorials(width, 0, 0)
    found = []
    for i, j in pairs(width):
        first, second = ((row >> bit) % 2 - (other >> bit) % 2 for bit in (i, j))
        s = np.maximum(only_row - (first > 0) - (second > 0), 0)
        t = np.maximum(only_other - (first < 0) - (second < 0), 0)
        found.append(first * second * all_met * weights[s, t])
    return np.stack(found)


@functools.cache
def factorials(width: int, less_s: int, less_t: int) -> Float[np.ndarray, "s t"]:
    """(s − less_s)! (t − less_t)!/(s + t − less_s − less_t + 1)! where both are there, else 0.

    With one taken away it is the weight of a feature, (s−1)! t!/(s+t)!; with two, that of a pair.
    """
    found = np.zeros((width + 1, width + 1))
    for s in range(less_s, width + 1):
        for t in range(less_t, width + 1 - s):
            a, b = s - less_s, t - less_t
            found[s, t] = math.factorial(a) * math.factorial(b) / math.factorial(a + b + 1)
    return found


def pairs(width: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(width) for j in range(i)]


def product_patterns(rates: Float[Array, "paths k"]) -> Float[Array, "paths patterns"]:
    """How likely each pattern is when each condition is met by chance, independently."""
    chances = jnp.ones((len(rates), 1), rates.dtype)
    for j in range(rates.shape[1] - 1, -1, -1):
        both = jnp.stack([1 - rates[:, j], rates[:, j]], axis=-1)
        chances = (chances[:, :, None] * both[:, None]).reshape(len(rates), -1)
    return chances


def tables(
    chances: Float[Array, "paths patterns"],
    sibling_chances: Float[Array, "paths patterns"],
    paths: Paths,
    values: Float[Array, "leaves outputs"],
    num_siblings: int,
    order: int = 1,
) -> Float[Array, "paths slots patterns"]:
    """What each feature (or pair, `order` 2) gets of both leaves, for each pattern of a row and
    chances of patterns
    of the background; slots are outputs times features. Only the first `num_siblings` paths have a
    second leaf.
    """
    width = paths.column.shape[1]
    found = values[paths.leaf][:, :, None, None] * _weighted(chances, width, order)[:, None]
    if num_siblings:
        second = _weighted(sibling_chances[:num_siblings], width, order)
        second = second.reshape(*second.shape[:2], 2, -1)[:, :, ::-1].reshape(
            second.shape
        )  # its last bit is turned
        number = jnp.asarray(paths.sibling[:num_siblings])
        sibling = jnp.where(number[:, None] < 0, 0, values[number])
        found = found.at[:num_siblings].add(sibling[:, :, None, None] * second[:, None])
    return found.reshape(len(found), -1, found.shape[-1])


def _weighted(
    chances: Float[Array, "paths patterns"], width: int, order: int
) -> Float[Array, "paths k patterns"]:
    if order == 2 or width <= MOST_DENSE:
        return _product((shares if order == 1 else pair_shares)(width), chances)
    return jax.lax.map(lambda one: _integrated(one, width), chances, batch_size=16)


def _product(
    weights: Float[np.ndarray, "k patterns patterns"], chances: Float[Array, "paths patterns"]
) -> Float[Array, "paths k patterns"]:
    """Σ_B weights[k, A, B] chances[B], leaving out those B that miss a condition, among the first
    three, that A misses.

    The weights are 0 there, which spares more than half of the products; small ones are faster as
    they are.
    """
    parts = 8 if weights.shape[1] >= 2**MOST_DENSE else 1
    blocks = weights.reshape(len(weights), parts, -1, parts, weights.shape[1] // parts)
    chances = chances.reshape(len(chances), parts, -1)
    found = []
    for part in range(parts):
        others = [other for other in range(parts) if part | other == parts - 1]
        block = jnp.asarray(blocks[:, part][:, :, others], chances.dtype)
        found.append(
            jnp.einsum("pob,kaob->pka", chances[:, np.array(others)], block, precision="highest")
        )
    return jnp.concatenate(found, axis=2)


def _integrated(chances: Float[Array, "patterns"], width: int) -> Float[Array, "k patterns"]:
    """The same as a product with `shares`, by Gauss–Legendre over the chance q of taking the row's
    side.

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
        return jnp.concatenate([off, on], axis=-1), jnp.stack([without, within], axis=-1).reshape(
            -1
        )

    _, turned = jax.lax.scan(show, jax.lax.fori_loop(0, width, mix, mixed), length=width)
    back = [turned[j].reshape(2**j, -1).T.reshape(-1) for j in range(width)]
    return jnp.stack(back)


def patterns(paths: Paths, codes: Int[Array, "columns rows"]) -> Int[Array, "paths rows"]:
    """Which conditions each row meets, one bit a feature; codes may be narrow, a missing value the
    largest of them.
    """
    width, missing_code = paths.column.shape[1], jnp.iinfo(codes.dtype).max
    dtype = jnp.uint8 if width <= 8 else jnp.uint16 if width <= 16 else jnp.uint32
    powers = 2 ** jnp.arange(width, dtype=jnp.uint32)[:, None]

    def of_path(_, path):
        column, low, high, missing = path
        code = codes[column]
        met = ((code > low[:, None]) & (code <= high[:, None])) | (
            (code == missing_code) & missing[:, None]
        )
        return None, jnp.where(met, powers, 0).sum(0).astype(dtype)

    low, high = (
        jnp.minimum(part, missing_code - 1).astype(codes.dtype) for part in (paths.low, paths.high)
    )
    return jax.lax.scan(
        of_path, None, (jnp.asarray(paths.column), low, high, jnp.asarray(paths.missing))
    )[1]


def apply_tables(
    entries: Float[Array, "paths slots patterns"],
    found: Int[Array, "paths rows"],
    places: Int[Array, "paths slots"],
    num_places: int,
) -> Float[Array, "places rows"]:
    """The sum over paths of their tables' entries at the rows' patterns, each slot added to its
    place.
    """
    start = jnp.zeros((num_places, found.shape[1]), entries.dtype)

    def of_path(total, path):
        table, pattern, place = path
        return total.at[place].add(
            table.at[:, pattern].get(mode="promise_in_bounds"), mode="promise_in_bounds"
        ), None

    def of_block(total, block):
        return total + jax.lax.scan(of_path, start, block)[0], None

    return jax.lax.scan(of_block, start, blocked((entries, found, places), PATHS_AT_ONCE))[0]


def blocked(parts: tuple, size: int) -> tuple:
    """Arrays over paths as blocks of `size`, the last filled up with zeros."""
    count = -(-len(parts[0]) // size)

    def one(part):
        padded = jnp.pad(part, ((0, count * size - len(part)),) + ((0, 0),) * (part.ndim - 1))
        return padded.reshape(count, size, *part.shape[1:])

    return tuple(one(jnp.asarray(part)) for part in parts)


def _patterns(width: int):
    """Patterns of a row and of a background row: how many only one of them meets, and whether all
    are met.
    """
    ones = np.array([number.bit_count() for number in range(2**width)])
    row, other = np.arange(2**width)[:, None], np.arange(2**width)[None, :]
    return row, other, ones[row & ~other], ones[other & ~row], (row | other) == 2**width - 1
