"""Full precision for the library's own arithmetic; the user's model keeps what the user has set.

Accelerators multiply float32 matrices in bfloat16 or TF32 unless they are told otherwise. Every
product that belongs to the library is traced inside a function with this decorator, which never
calls the user's model. What a model returns in half precision, or in whole
numbers, is widened where it leaves the model.
"""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.errors import ModelOutputError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def full_precision(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function with all its matrix products in the precision of their operands."""

    @functools.wraps(function)
    def precise(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with jax.default_matmul_precision("highest"):
            return function(*args, **kwargs)

    return precise


def at_least_float32(dtype: Any) -> Any:
    """Half precision is widened; everything else stays as it is."""
    return np.dtype(np.float32) if jnp.dtype(dtype).itemsize < 4 else jnp.dtype(dtype)


def widened(numbers: Any) -> Any:
    """Half-precision numbers as float32, so that sums lose no digits; all others as they are."""
    narrow = jnp.issubdtype(numbers.dtype, jnp.floating) and numbers.dtype.itemsize < 4
    return numbers.astype(np.float32) if narrow else numbers


def as_worths(outputs: Any) -> Any:
    """What a model returned in float32 or wider; whole numbers and truth values are numbers."""
    if jnp.issubdtype(outputs.dtype, jnp.floating):
        return widened(outputs)
    on_host = isinstance(outputs, np.ndarray)
    return outputs.astype(np.float64 if on_host else jnp.result_type(float))


def held_worths(output: np.ndarray) -> np.ndarray:
    """Whole numbers as floating-point ones, where that changes none of them."""
    worths = as_worths(output)
    with np.errstate(invalid="ignore"):
        changed = worths.astype(output.dtype) != output
    if changed.any():
        raise ModelOutputError(
            f"the model returns whole numbers as large as {output[changed].flat[0]}, which float64 "
            "does not hold: subtract an offset in the model, or return floating-point numbers."
        )
    return worths
