"""Gradients at some places of all paths at once: one compiled program, whatever their number."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import byte_limit, bytes_of_call, jitted_with_model
from jaxshap.gradients.paths import Paths

PLACES_PER_CALL = 8
GRADIENT_BYTES = 4  # what a derivative keeps, beside what the largest step of it holds


def rows_per_batch(paths: Paths) -> int:
    """How many rows are asked about at once, each at all places of a call."""
    one = jax.tree.map(lambda leaf: leaf[:1], paths.rows)
    places = np.zeros(PLACES_PER_CALL, np.int32), np.zeros(PLACES_PER_CALL, np.float32)
    return max(1, byte_limit() // (GRADIENT_BYTES * bytes_of_call(paths.gains, one, *places)))


@partial(jitted_with_model, static_argnums=(0, 1))
def reduced_gains(
    reduce: Callable,
    batch_size: int,
    paths: Paths,
    reference: Int[Array | np.ndarray, "places"],
    place: Float[Array | np.ndarray, "places"],
    weights: Float[Array | np.ndarray, "places"],
) -> Any:
    """`reduce(gains (places, rows, players, *out), weights)` of all rows, a batch at a time."""

    def of_rows(rows):
        return reduce(paths.gains(rows, reference, place), weights)

    def of_row(row):
        one = of_rows(jax.tree.map(lambda leaf: leaf[None], row))
        return jax.tree.map(lambda leaf: leaf[0], one)

    if len(jax.tree.leaves(paths.rows)[0]) <= batch_size:
        return of_rows(paths.rows)
    return jax.lax.map(of_row, paths.rows, batch_size=batch_size)


def weighted_gains(gains: Array, weights: Array) -> Array:
    """Σ_k w_k gains_k."""
    precision = jax.lax.Precision.HIGHEST
    return jnp.einsum("k,k...->...", weights.astype(gains.dtype), gains, precision=precision)


def moments_of_pairs(gains: Array, weights: Array) -> tuple[Array, Array]:
    """The sum of the means of neighbouring pairs, and the sum of squares about their mean.

    A pair counts if its weight is 1 and not if it is 0.
    """
    counts = weights[::2].astype(gains.dtype).reshape(-1, *(1,) * (gains.ndim - 1))
    means = (gains[::2] + gains[1::2]) / 2
    total = (counts * means).sum(0)
    centre = total / jnp.maximum(counts.sum(), 1)
    return total, (counts * (means - centre) ** 2).sum(0)
