"""Paths with too many features for a table: one path at a time, vectorised over rows and background."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt

from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import factorials, pairs, patterns


def quadrature_sum(paths: Paths, places, values, codes, _, order: int, num_places: int) -> Float[Array, "places rows"]:
    """∫ (a_j − r_j) Π_{i≠j} (q a_i + (1−q) r_i) dq for every row, by Gauss–Legendre, which is exact."""
    width, dtype = paths.column.shape[1], values.dtype
    nodes, weights = np.polynomial.legendre.leggauss(width // 2 + 1)
    q, weight = (jnp.asarray(part, dtype)[:, None] for part in ((nodes + 1) / 2, weights / 2))
    one, other = _both_leaves(paths)

    def of_path(total, path):
        pattern, rates, leaf, place, turned = path
        bits = (pattern >> jnp.arange(width, dtype=jnp.uint32)[:, None]) & 1
        met = jnp.where(turned & (jnp.arange(width) == width - 1)[:, None], 1 - bits, bits).astype(dtype)
        rates = rates.astype(dtype)[:, None]
        factors = q * met[:, None] + (1 - q) * rates[:, None]  # features, nodes, rows
        safe = jnp.where(factors == 0, 1, factors)
        product = weight * jnp.prod(factors, axis=0)
        moved = (met - rates)[:, None] / safe
        if order == 1:
            gains = (product * moved).sum(1)
        else:
            first, second = np.array(pairs(width)).T
            gains = (product * moved[first] * moved[second]).sum(1)
        value = jnp.where(leaf < 0, 0, values[leaf])
        slots = (value[:, None, None] * gains).reshape(-1, gains.shape[-1])
        return total.at[place].add(slots), None

    found = patterns(paths, codes).astype(jnp.uint32)
    total = jnp.zeros((num_places, codes.shape[1]), dtype)
    for rates, leaf, turned in (one, other):
        total = jax.lax.scan(of_path, total, (found, rates, leaf, places, turned))[0]
    return total


def background_sum(
    paths: Paths, places, values, codes, background, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """The closed form of `tables.shares` for every row, path and background row, sums over the latter as products."""
    width, dtype = paths.column.shape[1], values.dtype
    share = (background.weights / background.weights.sum()).astype(dtype)
    last = jnp.uint32(1 << (width - 1))

    def of_path(total, path):
        row, other, leaf, sibling, place = path
        own = values[leaf][:, None, None] * _gains(row, other, share, width, order)
        turned = jnp.where(sibling < 0, 0, values[sibling])[:, None, None]
        slots = own + turned * _gains(row ^ last, other ^ last, share, width, order)
        return total.at[place].add(slots.reshape(-1, slots.shape[-1])), None

    found, others = (patterns(paths, part).astype(jnp.uint32) for part in (codes, background.codes))
    start = jnp.zeros((num_places, codes.shape[1]), dtype)
    return jax.lax.scan(of_path, start, (found, others, paths.leaf, paths.sibling, places))[0]


def _gains(
    row: UInt[Array, "rows"],
    other: UInt[Array, "background"],
    share: Float[Array, "background"],
    width: int,
    order: int,
) -> Float[Array, "slots rows"]:
    """What each feature, or pair of features, gets of a leaf of value 1 on one path.

    Where every condition is met by one of the two, the row alone meets those that the other does not, and the reverse.
    """
    dtype = share.dtype
    s, t = (width - jax.lax.population_count(part).astype(jnp.int32) for part in (other, row))  # met by one alone
    one_hot = jax.nn.one_hot(s, width + 1, dtype=dtype)
    all_met = (row[:, None] | other) == jnp.uint32(2**width - 1)
    bit = jnp.arange(width, dtype=jnp.uint32)
    unmet_other, unmet_row = ((1 - ((part[:, None] >> bit) & 1)).astype(dtype) for part in (other, row))

    def weights(less_s: int, less_t: int):
        table = jnp.asarray(factorials(width, less_s, less_t), dtype)
        return jnp.where(all_met, summed(table.T[t], (one_hot * share[:, None]).T), 0)  # a product beats a gather

    def summed(weight, bits):
        return jnp.dot(weight, bits, precision="highest")

    if order == 1:
        return (summed(weights(1, 0), unmet_other) - weights(0, 1).sum(1, keepdims=True) * unmet_row).T
    i, j = np.array(pairs(width)).T
    across = summed(weights(1, 1), unmet_other)
    alike = summed(weights(2, 0), unmet_other[:, i] * unmet_other[:, j])
    alike += weights(0, 2).sum(1, keepdims=True) * unmet_row[:, i] * unmet_row[:, j]
    return (alike - across[:, i] * unmet_row[:, j] - unmet_row[:, i] * across[:, j]).T


def _both_leaves(paths: Paths):
    """Rates, leaf and whether the last condition is turned, for each leaf and for its sibling."""
    own = jnp.asarray(paths.rates), jnp.asarray(paths.leaf), jnp.zeros(len(paths.leaf), bool)
    rates = jnp.asarray(paths.rates).at[:, -1].set(jnp.asarray(paths.sibling_rate))
    return own, (rates, jnp.asarray(paths.sibling), jnp.ones(len(paths.leaf), bool))
