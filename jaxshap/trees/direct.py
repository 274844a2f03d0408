"""Without tables, where paths are long or rows few: some paths at a time, vectorised over rows and
background.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt

from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import blocked, factorials, pairs, patterns

PATHS_AT_ONCE = 16
POINTS_AT_ONCE = 2**17  # rows times background rows times paths
MOST_PLACES = 64  # to which a product with zeros and ones adds faster than a scatter


def quadrature_sum(
    paths: Paths, places, values, codes, _, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """∫ (a_j − r_j) Π_{i≠j} (q a_i + (1−q) r_i) dq for every row, by Gauss–Legendre, which is
    exact.

    a_j says whether the row meets condition j, r_j is its rate. A leaf and its sibling share all
    but the last factor.
    """
    width, dtype = paths.column.shape[1], values.dtype
    nodes, weights = np.polynomial.legendre.leggauss(width // 2 + 1)
    q, weight = (jnp.asarray(part, dtype)[:, None] for part in ((nodes + 1) / 2, weights / 2))
    lost = -1 / (1 - q)  # (a − r)/(q a + (1−q) r) where the condition is not met, whatever the rate

    def of_block(pattern, rates, sibling_rate, own, sibling):
        """Slots (paths, outputs, features, rows). Loops over features and nodes are unrolled: the
        rest is vectors.
        """
        bits = jnp.arange(width, dtype=pattern.dtype)[:, None]
        met = jax.lax.optimization_barrier(
            ((pattern[:, None] >> bits) & 1).astype(dtype)
        )  # paths, features, rows
        rates = rates.astype(dtype)[..., None]
        product = weight
        for j in range(width - 1):
            product = product * (q * met[:, j, None] + (1 - q) * rates[:, j, None])
        met, met_last = met[:, None, :-1], met[:, None, -1:]  # with an axis for outputs
        rate, turned_rate = rates[:, None, -1:], sibling_rate.astype(dtype)[:, None, None, None]
        own, sibling = own[..., None, None], sibling[..., None, None]
        both = own * (q * met_last + (1 - q) * rate) + sibling * (
            q * (1 - met_last) + (1 - q) * turned_rate
        )
        of_last = own * (met_last - rate) + sibling * (1 - met_last - turned_rate)
        parts = product[:, None] * both, product[:, None] * of_last
        whole, last = jax.lax.optimization_barrier(parts)  # paths, outputs, nodes, rows
        gained = ((1 - rates) / (q.T + (1 - q.T) * rates))[
            :, None, :-1
        ]  # as `lost`, where the condition is met

        def summed(factors, products):
            """Over nodes: (paths, 1 or outputs, slots, nodes or nodes and rows) times (paths,
            outputs, nodes, rows).
            """
            return sum(
                factors[:, :, :, node] * products[:, :, node, None] for node in range(len(nodes))
            )

        if order == 1:
            without = (whole * lost).sum(2, keepdims=True)
            slots = without + met * (summed(gained[..., None], whole) - without)
            return jnp.concatenate([slots, last.sum(2, keepdims=True)], axis=2)
        moved = lost + met[:, :, :, None] * (gained[..., None] - lost)
        i, j = np.array(pairs(width - 1)).T
        others = summed(moved[:, :, i] * moved[:, :, j], whole)
        return jnp.concatenate(
            [others, summed(moved, last)], axis=2
        )  # in the order of `pairs`: the last come last

    found = patterns(paths, codes)
    blocks = found, paths.rates, paths.sibling_rate, *_leaf_values(paths, values)
    return _summed(of_block, blocks, places, PATHS_AT_ONCE, num_places, dtype)


def background_sum(
    paths: Paths, places, values, codes, background, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """The closed form of `tables.shares` for every row, path and background row, sums over the
    latter as products.
    """
    width, dtype = paths.column.shape[1], values.dtype
    share = (background.weights / background.weights.sum()).astype(dtype)
    last = jnp.uint32(1 << (width - 1))

    def of_block(row, other, own, sibling, has_sibling):
        slots = own[..., None, None] * _gains(row, other, share, width, order)[:, None]

        def with_siblings():
            return (
                slots
                + sibling[..., None, None]
                * _gains(row ^ last, other ^ last, share, width, order)[:, None]
            )

        return jax.lax.cond(has_sibling.any(), with_siblings, lambda: slots)

    found, others = (patterns(paths, part).astype(jnp.uint32) for part in (codes, background.codes))
    at_once = int(np.clip(POINTS_AT_ONCE // (found.shape[1] * others.shape[1]), 1, PATHS_AT_ONCE))
    blocks = found, others, *_leaf_values(paths, values), jnp.asarray(paths.sibling >= 0)
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
    s, t = (width - jax.lax.population_count(part).astype(jnp.int32) for part in (other, row))
    all_met = (other[:, :, None] | row[:, None]) == jnp.uint32(2**width - 1)
    bit = jnp.arange(width, dtype=jnp.uint32)[:, None]
    unmet_other, unmet_row = (
        (1 - ((part[:, None] >> bit) & 1)).astype(dtype) for part in (other, row)
    )
    of_s = [jnp.where(s == count, share, 0)[:, :, None] for count in range(width + 1)]

    def weights(less_s: int, less_t: int) -> Float[Array, "paths background rows"]:
        """By products with zeros and ones, which are faster than looking up."""
        table = jnp.asarray(factorials(width, less_s, less_t), dtype)
        every = sum(of_s[count] * table[count][t][:, None] for count in range(less_s, width + 1))
        return jax.lax.optimization_barrier(jnp.where(all_met, every, 0))

    def summed(bits, weights):
        return jnp.einsum("pkb,pbr->pkr", bits, weights, precision="highest")

    if order == 1:
        gained = summed(unmet_other, weights(1, 0))
        whole = jnp.where(s == 0, share, 0).sum(1)[:, None]
        return (
            gained
            - ((gained.sum(1) + whole) / jnp.maximum(t, 1).astype(dtype))[:, None] * unmet_row
        )
    i, j = np.array(pairs(width)).T
    across = summed(unmet_other, weights(1, 1))
    alike = summed(unmet_other[:, i] * unmet_other[:, j], weights(2, 0))
    alike += weights(0, 2).sum(1)[:, None] * unmet_row[:, i] * unmet_row[:, j]
    return alike - across[:, i] * unmet_row[:, j] - unmet_row[:, i] * across[:, j]


def _leaf_values(
    paths: Paths, values
) -> tuple[Float[Array, "paths outputs"], Float[Array, "paths outputs"]]:
    """Of each path's leaf and of its sibling, 0 where there is none."""
    return values[paths.leaf], jnp.where(
        jnp.asarray(paths.sibling < 0)[:, None], 0, values[paths.sibling]
    )


def _summed(of_block: Callable, parts: tuple, places, at_once: int, num_places: int, dtype):
    """The sum over paths, each slot added to its place; within a block first, so that float32 keeps
    more digits.
    """
    rows = parts[0].shape[1]
    start = jnp.zeros((num_places, rows), dtype)

    def step(total, block):
        place, *rest = block
        place, slots = place.reshape(-1), of_block(*rest).reshape(-1, rows)
        if num_places > MOST_PLACES:
            return total + start.at[place].add(slots), None
        chosen = (place == jnp.arange(num_places, dtype=place.dtype)[:, None]).astype(dtype)
        return total + jnp.dot(chosen, slots, precision="highest"), None

    return jax.lax.scan(step, start, blocked((places, *parts), at_once))[0]
