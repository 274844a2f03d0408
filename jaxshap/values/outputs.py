"""Outputs of traced models: their memory, their precision, and weighted means of them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, PyTree

from jaxshap.engine import bytes_of_trace
from jaxshap.errors import InputTypeError, ModelOutputError
from jaxshap.games import as_pytree, full_precision
from jaxshap.inputs import check_outputs, warn_of_closures

MAX_TERMS = 256  # of a float32 sum before it is put aside
MAX_ROUNDING = 1e-3  # of the spread of outputs, that whole numbers may lose as floating-point ones


@full_precision
def weighted_sum(
    weights: Float[Array | np.ndarray, "m"], outputs: Float[Array | np.ndarray, "rows m *out"]
) -> Float[Array | np.ndarray, "rows *out"]:
    """Σ_k w_k y_k in blocks: one long float32 sum of like numbers loses three digits at 100,000."""
    count = len(weights)
    if count <= MAX_TERMS:
        return jnp.einsum("k,rk...->r...", weights, outputs)
    missing = -count % MAX_TERMS
    weights = jnp.pad(weights, (0, missing)).reshape(-1, MAX_TERMS)
    outputs = jnp.pad(outputs, ((0, 0), (0, missing), *((0, 0),) * (outputs.ndim - 2)))
    outputs = outputs.reshape(len(outputs), -1, MAX_TERMS, *outputs.shape[2:])
    return jnp.einsum("pk,rpk...->rp...", weights, outputs).sum(1)


def bytes_per_point_of(model: Callable, rows: PyTree) -> int:
    """Memory that a row of the model's input needs, from a trace that also checks the output."""
    two = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((2, *leaf.shape[1:]), leaf.dtype), rows)
    try:
        traced, outputs = jax.make_jaxpr(_call, return_shape=True)(as_pytree(model), two)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise InputTypeError(
            "JAX cannot trace this model. If it runs in numpy, scikit-learn, torch or elsewhere, "
            "wrap it in jaxshap.host(model)."
        ) from error
    if not hasattr(outputs, "shape"):
        raise ModelOutputError(
            "the model must return one array (rows,) or (rows, outputs), not "
            f"{type(outputs).__name__}."
        )
    check_outputs(outputs.shape, outputs.dtype, 2)
    leaves = jax.tree.leaves(two)
    inputs = sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in leaves)
    warn_of_closures(model, traced)
    return max(bytes_of_trace(traced) // 2, inputs)


def check_whole_outputs(model: Callable, rows: PyTree, full: Any, ends: Any, count: int) -> None:
    """Refuse whole numbers so large that as floating-point numbers they become one another.

    Of `ends` the first `count` are real; they are cut on the host, where no program is compiled.
    """
    if isinstance(full, Tracer) or isinstance(ends, Tracer):
        return
    of_rows, of_background = jax.device_get((full, ends))
    together = np.concatenate([of_rows, of_background[:count]]).astype(np.float64)
    step, largest = float(np.finfo(full.dtype).eps), np.abs(together).max(0)
    spread = np.maximum(np.ptp(together, axis=0), 1)  # whole numbers that differ do so by 1
    if not ((step * largest >= 2) & (step * largest > MAX_ROUNDING * spread)).any():
        return
    two = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((2, *leaf.shape[1:]), leaf.dtype), rows)
    if jnp.issubdtype(jax.eval_shape(_call, as_pytree(model), two).dtype, jnp.integer):
        raise ModelOutputError(
            f"the model returns whole numbers of up to {largest.max():.0f}, too large for "
            f"their differences to be seen in {full.dtype}: subtract an offset in the model, "
            "or set jax_enable_x64."
        )


def _call(model: Callable, rows: PyTree) -> Any:
    return model(rows)
