"""Paths with too many features for a table: one row and path at a time, vectorised over rows."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import pairs, patterns


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
    factorial = np.array([math.factorial(number) for number in range(width + 2)], float)
    s, t = np.arange(width + 1)[:, None], np.arange(width + 1)
    total = np.minimum(s + t, width)
    gain = np.where(s > 0, factorial[np.maximum(s - 1, 0)] * factorial[t] / factorial[total], 0)
    loss = np.where(t > 0, factorial[s] * factorial[np.maximum(t - 1, 0)] / factorial[total], 0)
    gain, loss = jnp.asarray(gain, dtype), jnp.asarray(loss, dtype)
    every = jnp.uint32(2**width - 1)

    def of_path(total, path):
        row, other, leaf, sibling, has_sibling, place = path
        slots = jnp.zeros((values.shape[1], place.shape[0] // values.shape[1], row.shape[0]), dtype)
        for number, flipped in ((leaf, jnp.uint32(0)), (sibling, jnp.uint32(1 << (width - 1)))):
            mine, its = row ^ flipped, other ^ flipped
            gains = _by_feature(mine, its)
            value = jnp.where(has_sibling | (flipped == 0), values[number], 0)
            slots = slots + value[:, None, None] * gains
        return total_at(total, place, slots), None

    def total_at(total, place, slots):
        return total.at[place].add(slots.reshape(-1, slots.shape[-1]))

    def _by_feature(mine, its):
        only_mine = width - jax.lax.population_count(its).astype(jnp.int32)
        only_its = width - jax.lax.population_count(mine).astype(jnp.int32)
        all_met = (mine[:, None] | its) == every
        gained = jnp.where(all_met, gain[only_mine, only_its[:, None]], 0) * share
        lost = jnp.where(all_met, loss[only_mine, only_its[:, None]], 0) * share
        bit = jnp.arange(width, dtype=jnp.uint32)
        absent = (1 - ((its[:, None] >> bit) & 1)).astype(dtype)
        missing = (1 - ((mine[:, None] >> bit) & 1)).astype(dtype)
        return (jnp.dot(gained, absent, precision="highest") - lost.sum(1)[:, None] * missing).T

    if order == 2:
        raise NotImplementedError(
            f"interactions with a background are for paths of at most 10 features; one here has {width}. "
            "Take path-dependent interactions, or a shallower model."
        )
    found, others = (patterns(paths, part).astype(jnp.uint32) for part in (codes, background.codes))
    start = jnp.zeros((num_places, codes.shape[1]), dtype)
    has_sibling = jnp.asarray(paths.sibling >= 0)
    return jax.lax.scan(of_path, start, (found, others, paths.leaf, paths.sibling, has_sibling, places))[0]


def _both_leaves(paths: Paths):
    """Rates, leaf and whether the last condition is turned, for each leaf and for its sibling."""
    own = jnp.asarray(paths.rates), jnp.asarray(paths.leaf), jnp.zeros(len(paths.leaf), bool)
    rates = jnp.asarray(paths.rates).at[:, -1].set(jnp.asarray(paths.sibling_rate))
    return own, (rates, jnp.asarray(paths.sibling), jnp.ones(len(paths.leaf), bool))
