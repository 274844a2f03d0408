"""Sums without tables, for long paths or few rows: a few paths at a time, vectorised over rows."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt

from jaxshap.games import full_precision
from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import blocked, factorials, pairs, patterns

PATHS_AT_ONCE = 16
POINTS_AT_ONCE = 2**17  # rows times background rows times paths
MAX_PRODUCT_PLACES = 64  # up to which a product with zeros and ones is faster than a scatter


@full_precision
def quadrature_sum(
    paths: Paths, places, values, codes, _, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """∫ (a_j − r_j) Π_{i≠j} (q a_i + (1−q) r_i) dq for every row, exactly, by Gauss–Legendre.

    a_j says whether the row meets condition j, r_j is its rate. A leaf and its sibling share all
    but the last factor.
    """
    width, dtype = paths.column.shape[1], values.dtype
    nodes, weights = np.polynomial.legendre.leggauss(width // 2 + 1)
    q, weight = (jnp.asarray(half, dtype)[:, None] for half in ((nodes + 1) / 2, weights / 2))
    lost = -1 / (1 - q)  # (a − r)/(q a + (1−q) r) where the condition is not met, whatever the rate

    def of_block(pattern, rates, sibling_rate, own, sibling):
        """Slots (paths, outputs, features, rows), with unrolled loops over features and nodes."""
        bits = jnp.arange(width, dtype=pattern.dtype)[:, None]
        met = ((pattern[:, None] >> bits) & 1).astype(dtype)  # (paths, features, rows)
        met = jax.lax.optimization_barrier(met)
        rates = rates.astype(dtype)[..., None]
        product = weight
        for j in range(width - 1):
            product = product * (q * met[:, j, None] + (1 - q) * rates[:, j, None])
        met, met_last = met[:, None, :-1], met[:, None, -1:]  # with an axis for outputs
        rate, turned_rate = rates[:, None, -1:], sibling_rate.astype(dtype)[:, None, None, None]
        own, sibling = own[..., None, None], sibling[..., None, None]
        both = own * (q * met_last + (1 - q) * rate)
        both += sibling * (q * (1 - met_last) + (1 - q) * turned_rate)
        of_last = own * (met_last - rate) + sibling * (1 - met_last - turned_rate)
        products = product[:, None] * both, product[:, None] * of_last
        whole, last = jax.lax.optimization_barrier(products)  # (paths, outputs, nodes, rows)
        gained = (1 - rates) / (q.T + (1 - q.T) * rates)  # as `lost`, where the condition is met
        gained = gained[:, None, :-1]

        def summed(factors, products):
            """Over nodes, of (paths, outputs, slots, nodes, …) by (paths, outputs, nodes, rows)."""
            return sum(
                factors[:, :, :, node] * products[:, :, node, None] for node in range(len(nodes))
            )

        if order == 1:
            without = (whole * lost).sum(2, keepdims=True)
            slots = without + met * (summed(gained[..., None], whole) - without)
            return jnp.concatenate([slots, last.sum(2, keepdims=True)], axis=2)
        moved = lost + met[:, :, :, None] * (gained[..., None] - lost)
        i, j = np.array(pairs(width - 1)).T
        earlier = summed(moved[:, :, i] * moved[:, :, j], whole)
        return jnp.concatenate([earlier, summed(moved, last)], axis=2)  # in the order of `pairs`

    rates = paths.rates, paths.sibling_rate
    blocks = patterns(paths, codes), *rates, *_leaf_values(paths, values)
    return _summed(of_block, blocks, places, PATHS_AT_ONCE, num_places, dtype)


@full_precision
def background_sum(
    paths: Paths, places, values, codes, background, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """The closed form of `tables.shares` for every row, path and background row.

    Sums over the background are matrix products.
    """
    width, dtype = paths.column.shape[1], values.dtype
    share = (background.weights / background.weights.sum()).astype(dtype)
    last = jnp.uint32(1 << (width - 1))

    def of_block(row, other, own, sibling, has_sibling):
        slots = own[..., None, None] * _gains(row, other, share, width, order)[:, None]

        def with_siblings():
            gains = _gains(row ^ last, other ^ last, share, width, order)
            return slots + sibling[..., None, None] * gains[:, None]

        return jax.lax.cond(has_sibling.any(), with_siblings, lambda: slots)

    row, other = (patterns(paths, table).astype(jnp.uint32) for table in (codes, background.codes))
    at_once = int(np.clip(POINTS_AT_ONCE // (row.shape[1] * other.shape[1]), 1, PATHS_AT_ONCE))
    blocks = row, other, *_leaf_values(paths, values), jnp.asarray(paths.sibling >= 0)
    return _summed(of_block, blocks, places, at_once, num_places, dtype)


def _gains(
    row: UInt[Array, "paths rows"],
    other: UInt[Array, "paths background"],
    share: Float[Array, "background"],
    width: int,
    order: int,
) -> Float[Array, "paths slots rows"]:
    """What each feature, or pair of features, gets of a leaf of value 1.

    Where every condition is met by one of the two, the row alone meets the s that the other does
    not, and the other alone the t that the row does not. All t of them lose the same, and together
    what the s gain, since s!(t−1)!/(s+t)! is s/t of (s−1)!t!/(s+t)!; if there is no s, they lose
    the whole leaf.
    """
    dtype = share.dtype
    s, t = (width - jax.lax.population_count(met).astype(jnp.int32) for met in (other, row))
    all_met = (other[:, :, None] | row[:, None]) == jnp.uint32(2**width - 1)
    bit = jnp.arange(width, dtype=jnp.uint32)[:, None]
    unmet_other, unmet_row = (
        (1 - ((met[:, None] >> bit) & 1)).astype(dtype) for met in (other, row)
    )
    of_s = [jnp.where(s == count, share, 0)[:, :, None] for count in range(width + 1)]

    def weights(less_s: int, less_t: int) -> Float[Array, "paths background rows"]:
        """By products with zeros and ones, which are faster than looking up."""
        table = jnp.asarray(factorials(width, less_s, less_t), dtype)
        every = sum(of_s[count] * table[count][t][:, None] for count in range(less_s, width + 1))
        return jax.lax.optimization_barrier(jnp.where(all_met, every, 0))

    def summed(bits, weights):
        return jnp.einsum("pkb,pbr->pkr", bits, weights)

    if order == 1:
        gained = summed(unmet_other, weights(1, 0))
        whole = jnp.where(s == 0, share, 0).sum(1)[:, None]
        lost = (gained.sum(1) + whole) / jnp.maximum(t, 1).astype(dtype)
        return gained - lost[:, None] * unmet_row
    i, j = np.array(pairs(width)).T
    across = summed(unmet_other, weights(1, 1))
    alike = summed(unmet_other[:, i] * unmet_other[:, j], weights(2, 0))
    alike += weights(0, 2).sum(1)[:, None] * unmet_row[:, i] * unmet_row[:, j]
    return alike - across[:, i] * unmet_row[:, j] - unmet_row[:, i] * across[:, j]


def _leaf_values(
    paths: Paths, values: Float[Array, "leaves outputs"]
) -> tuple[Float[Array, "paths outputs"], Float[Array, "paths outputs"]]:
    """Of each path's leaf and of its sibling, 0 where there is none."""
    is_alone = jnp.asarray(paths.sibling < 0)[:, None]
    return values[paths.leaf], jnp.where(is_alone, 0, values[paths.sibling])


def _summed(
    of_block: Callable,
    arrays: tuple,
    places: Int[Array | np.ndarray, "paths slots"],
    at_once: int,
    num_places: int,
    dtype: np.dtype,
) -> Float[Array, "places rows"]:
    """The sum over paths, slot by slot; within a block first, so that float32 keeps more digits."""
    rows = arrays[0].shape[1]
    start = jnp.zeros((num_places, rows), dtype)

    def step(total, block):
        place, *rest = block
        place, slots = place.reshape(-1), of_block(*rest).reshape(-1, rows)
        if num_places > MAX_PRODUCT_PLACES:
            return total + start.at[place].add(slots), None
        chosen = (place == jnp.arange(num_places, dtype=place.dtype)[:, None]).astype(dtype)
        return total + chosen @ slots, None

    return jax.lax.scan(step, start, blocked((places, *arrays), at_once))[0]
