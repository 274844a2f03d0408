"""What a model says of many rows, a block that fits the memory at a time."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.engine import bucket, byte_limit, jitted_with_model
from jaxshap.games import Host, as_pytree, as_worths
from jaxshap.inputs import check_finite, check_outputs
from jaxshap.values.outputs import bytes_per_point_of


def predictions(
    model: Callable, rows: Float[Array | np.ndarray, "rows features"], what: str = "row"
) -> Float[np.ndarray, "rows *out"]:
    """The model's outputs, in numpy, checked: one finite result a row."""
    count = len(rows)
    if isinstance(model, Host):
        size = max(1, byte_limit() // (8 * rows[:1].nbytes))  # with room for its work
        starts = range(0, count, size)
        parts = [
            model(np.array(rows[start : start + size])) for start in starts
        ]  # copies: it may work in place
        outputs = np.concatenate(parts)
    else:
        model = as_pytree(model)
        size = max(1, min(bucket(count), byte_limit() // bytes_per_point_of(model, rows)))
        outputs = np.asarray(
            _in_blocks(model, _padded(rows, -(-bucket(count) // size) * size), size)
        )[:count]
    check_outputs(outputs.shape, outputs.dtype, count)
    check_finite(outputs, count, what)
    return as_worths(outputs)


def _in_blocks_of(
    model: Callable, rows: Float[Array | np.ndarray, "rows features"], size: int
) -> Float[Array | np.ndarray, "rows *out"]:
    outputs = jax.lax.map(model, rows.reshape(-1, size, rows.shape[1]))
    return outputs.reshape(-1, *outputs.shape[2:])


_in_blocks = jitted_with_model(_in_blocks_of, static_argnums=2)


def _padded(
    rows: Float[Array | np.ndarray, "rows features"], length: int
) -> Float[Array | np.ndarray, "length features"]:
    rows = jnp.asarray(rows)
    return jnp.concatenate([rows, jnp.repeat(rows[-1:], length - len(rows), axis=0)])
