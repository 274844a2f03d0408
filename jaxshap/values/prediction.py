"""What a model says of many rows, a block that fits the memory at a time."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree, Shaped

from jaxshap.engine import bucket, byte_limit, jitted_with_model
from jaxshap.games import Host, as_pytree, as_worths
from jaxshap.inputs import check_finite, check_outputs
from jaxshap.values.mixing import num_rows_of
from jaxshap.values.outputs import bytes_per_point_of


def predictions(
    model: Callable, rows: PyTree[Array | np.ndarray], what: str = "row"
) -> Float[np.ndarray, "rows *out"]:
    """The model's outputs, in numpy, checked: one finite result a row."""
    count = num_rows_of(rows)
    if isinstance(model, Host):
        bytes_of_row = sum(leaf[:1].nbytes for leaf in jax.tree.leaves(rows))
        size = max(1, byte_limit() // (8 * bytes_of_row))  # with room for its work
        starts = range(0, count, size)
        parts = [
            model(
                jax.tree.map(lambda leaf, start=start: np.array(leaf[start : start + size]), rows)
            )
            for start in starts
        ]  # copies: it may work in place
        outputs = np.concatenate(parts)
    else:
        model = as_pytree(model)
        size = max(1, min(bucket(count), byte_limit() // bytes_per_point_of(model, rows)))
        length = -(-bucket(count) // size) * size
        filled = jax.tree.map(lambda leaf: _padded(leaf, length), rows)
        outputs = np.asarray(_in_blocks(model, filled, size))[:count]
    check_outputs(outputs.shape, outputs.dtype, count)
    check_finite(outputs, count, what)
    return as_worths(outputs)


def _in_blocks_of(
    model: Callable, rows: PyTree[Array | np.ndarray], size: int
) -> Float[Array | np.ndarray, "rows *out"]:
    blocks = jax.tree.map(lambda leaf: leaf.reshape(-1, size, *leaf.shape[1:]), rows)
    outputs = jax.lax.map(model, blocks)
    return outputs.reshape(-1, *outputs.shape[2:])


_in_blocks = jitted_with_model(_in_blocks_of, static_argnums=2)


def _padded(
    leaf: Shaped[Array | np.ndarray, "rows ..."], length: int
) -> Shaped[Array, "length ..."]:
    leaf = jnp.asarray(leaf)
    return jnp.concatenate([leaf, jnp.repeat(leaf[-1:], length - len(leaf), axis=0)])
