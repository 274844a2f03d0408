"""Without tables, where paths are long or rows few: some paths at a time, vectorised over rows and background."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt

from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import factorials, pairs, patterns

PATHS_AT_ONCE = 16
POINTS_AT_ONCE = 2**18  # rows times background rows times paths


def quadrature_sum(paths: Paths, places, values, codes, _, order: int, num_places: int) -> Float[Array, "places rows"]:
    """∫ (a_j − r_j) Π_{i≠j} (q a_i + (1−q) r_i) dq for every row, by Gauss–Legendre, which is exact.

    a_j says whether the row meets condition j, r_j is its rate. A leaf and its sibling share all but the last factor.
    """
    width, dtype = paths.column.shape[1], values.dtype
    nodes, weights = np.polynomial.legendre.leggauss(width // 2 + 1)
    q, weight = (jnp.asarray(part, dtype)[:, None] for part in ((nodes + 1) / 2, weights / 2))
    lost = -1 / (1 - q)  # (a − r)/(q a + (1−q) r) where the condition is not met, whatever the rate

    def of_block(pattern, rates, sibling_rate, own, sibling):
        """Slots (paths, outputs, features, rows). Loops over features and nodes are unrolled: the rest is vectors."""
        rates = rates.astype(dtype)[..., None, None]
        met = [((pattern >> j) & 1).astype(bool)[:, None] for j in range(width)]  # paths, 1, rows
        product = weight
        for j in range(width - 1):
            met_factor, unmet_factor = q + (1 - q) * rates[:, j], (1 - q) * rates[:, j]
            product = product * jnp.where(met[j], met_factor, unmet_factor)
        gained = (1 - rates) / (q + (1 - q) * rates)  # the same where it is met
        product, own, sibling = product[:, None], own[..., None, None], sibling[..., None, None]
        met_last, rate = met[-1][:, None].astype(dtype), rates[:, -1][:, None]
        turned_rate = sibling_rate.astype(dtype)[:, None, None, None]
        of_last = own * (met_last - rate) + sibling * (1 - met_last - turned_rate)  # paths, outputs, 1, rows
        both = own * (q * met_last + (1 - q) * rate) + sibling * (q * (1 - met_last) + (1 - q) * turned_rate)
        whole, last = jax.lax.optimization_barrier((product * both, product * of_last))  # paths, outputs, nodes, rows

        def summed(part):
            return sum(part[:, :, node] for node in range(len(nodes)))

        if order == 1:
            without = summed(whole * lost)
            slots = [jnp.where(met[j], summed(whole * gained[:, None, j]), without) for j in range(width - 1)]
            return jnp.stack([*slots, summed(last)], axis=2)
        moved = jnp.stack([jnp.where(met[j], gained[:, j], lost) for j in range(width - 1)], axis=1)
        with_last = jnp.einsum("poqr,pjqr->pojr", last, moved, precision="highest")
        i, j = np.array(pairs(width - 1)).T
        others = jnp.einsum("poqr,psqr->posr", whole, moved[:, i] * moved[:, j], precision="highest")
        return jnp.concatenate([others, with_last], axis=2)  # in the order of `pairs`: those of the last come last

    found = patterns(paths, codes)
    blocks = found, paths.rates, paths.sibling_rate, *_leaf_values(paths, values)
    return _summed(of_block, blocks, places, PATHS_AT_ONCE, num_places, dtype)


def background_sum(
    paths: Paths, places, values, codes, background, order: int, num_places: int
) -> Float[Array, "places rows"]:
    """The closed form of `tables.shares` for every row, path and background row, sums over the latter as products."""
    width, dtype = paths.column.shape[1], values.dtype
    share = (background.weights / background.weights.sum()).astype(dtype)
    last = jnp.uint32(1 << (width - 1))

    def of_block(row, other, own, sibling, has_sibling):
        slots = own[..., None, None] * _gains(row, other, share, width, order)[:, None]

        def with_siblings():
            return slots + sibling[..., None, None] * _gains(row ^ last, other ^ last, share, width, order)[:, None]

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

    Where every condition is met by one of the two, the row alone meets the s that the other does not, and the other
    alone the t that the row does not. All t of them lose the same, and together what the s gain, since s!(t−1)!/(s+t)!
    is s/t of (s−1)!t!/(s+t)!; if there is no s, they lose the whole leaf.
    """
    dtype = share.dtype
    s, t = (width - jax.lax.population_count(part).astype(jnp.int32) for part in (other, row))
    all_met = (row[:, :, None] | other[:, None]) == jnp.uint32(2**width - 1)
    bit = jnp.arange(width, dtype=jnp.uint32)
    unmet_other, unmet_row = (
        (1 - ((part >> bit[:, None, None]) & 1)).astype(dtype).transpose(1, 0, 2) for part in (other, row)
    )  # paths, features, background or rows
    of_s = jax.nn.one_hot(s, width + 1, dtype=dtype) * share[:, None]

    def summed(weights, bits):
        return jnp.einsum("prb,pkb->pkr", weights, bits, precision="highest")

    def weights(less_s: int, less_t: int):
        table = jnp.asarray(factorials(width, less_s, less_t), dtype)
        every = jnp.einsum("prs,pbs->prb", table.T[t], of_s, precision="highest")  # a product beats a gather
        return jnp.where(all_met, every, 0)

    if order == 1:
        gained = summed(weights(1, 0), unmet_other)
        whole = jnp.where(s == 0, share, 0).sum(1)[:, None]
        return gained - ((gained.sum(1) + whole) / jnp.maximum(t, 1).astype(dtype))[:, None] * unmet_row
    i, j = np.array(pairs(width)).T
    across = summed(weights(1, 1), unmet_other)
    alike = summed(weights(2, 0), unmet_other[:, i] * unmet_other[:, j])
    alike += weights(0, 2).sum(2)[:, None] * unmet_row[:, i] * unmet_row[:, j]
    return alike - across[:, i] * unmet_row[:, j] - unmet_row[:, i] * across[:, j]


def _leaf_values(paths: Paths, values) -> tuple[Float[Array, "paths outputs"], Float[Array, "paths outputs"]]:
    """Of each path's leaf and of its sibling, 0 where there is none."""
    return values[paths.leaf], jnp.where(jnp.asarray(paths.sibling < 0)[:, None], 0, values[paths.sibling])


def _summed(of_block: Callable, parts: tuple, places, at_once: int, num_places: int, dtype):
    """The sum over paths, each slot added to its place; within a block first, so that float32 keeps more digits."""
    num_paths, rows = parts[0].shape[:2]
    blocks = -(-num_paths // at_once)

    def blocked(part):
        padded = jnp.pad(part, ((0, blocks * at_once - num_paths),) + ((0, 0),) * (part.ndim - 1))
        return padded.reshape(blocks, at_once, *part.shape[1:])

    start = jnp.zeros((num_places, rows), dtype)

    def step(total, block):
        place, *rest = block
        slots = of_block(*rest)
        return total + start.at[place.reshape(-1)].add(slots.reshape(-1, rows)), None

    return jax.lax.scan(step, start, tuple(map(blocked, (places, *map(jnp.asarray, parts)))))[0]
