"""Arrays of real numbers from what people pass; what would lose its meaning as one is refused."""

import datetime
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxshap.errors import InputError, InputTypeError

DATES = (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta)
MAX_DENSE_BYTES = 2**31  # of a sparse matrix that is made dense
NO_NUMBERS = (str, bytes, complex, np.complexfloating, *DATES)


def as_numbers(data: Any, what: str) -> Any:
    """A numpy or JAX array of real numbers; `what` is its name in messages.

    Masks, imaginary parts and units of time are not dropped silently.
    """
    array = as_array(data, what)
    if is_real(array.dtype):
        return array
    if not holds_numbers(array):
        raise InputTypeError(
            f"{what} must be real numbers, not {array.dtype}: encode them first; of complex "
            "numbers pass the real part or the modulus."
        )
    return np.asarray(array, np.float64)


def as_array(data: Any, what: str) -> Any:
    """A numpy or JAX array of any kind that holds all of the data."""
    if hasattr(data, "toarray") or hasattr(data, "todense"):
        return _dense(data, what)
    if _is_masked(data):
        raise InputError(
            f"{what} has masked entries, which a model would read as numbers: leave those rows "
            "out, or fill the entries first, by .filled(np.nan) for a model that knows NaN."
        )
    if isinstance(data, jax.Array):
        if jnp.issubdtype(data.dtype, jax.dtypes.extended):
            raise InputTypeError(f"{what} holds {data.dtype}, and no numbers: pass an array.")
        return data
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(data))
    try:
        return jnp.asarray(data) if traced else _in_native_order(np.asarray(data))
    except Exception as error:
        raise InputTypeError(
            f"{what} is no array: {type(data).__name__} cannot be read as one, since rows have "
            f"different lengths, or by its own error: {error}"
        ) from error


def _in_native_order(array: np.ndarray) -> np.ndarray:
    """With the bytes of a number as this machine has them, the only ones that JAX takes."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _dense(data: Any, what: str) -> Any:
    """A sparse matrix as a dense one, where there is room: its zeros are numbers like others."""
    size = math.prod(data.shape) * np.dtype(data.dtype).itemsize
    if size > MAX_DENSE_BYTES:
        raise InputError(
            f"{what} is a sparse matrix of shape {tuple(data.shape)}, {size / 1e9:.1f} GB as a "
            "dense one: pass fewer rows, or only the columns that matter."
        )
    return data.toarray() if hasattr(data, "toarray") else data.todense()


def is_real(dtype: Any) -> bool:
    """Whether a dtype is that of booleans, whole or floating-point numbers."""
    if jnp.issubdtype(dtype, jax.dtypes.extended) or np.dtype(dtype).kind == "m":
        return False
    return any(jnp.issubdtype(dtype, kind) for kind in (jnp.bool_, jnp.integer, jnp.floating))


def holds_numbers(array: np.ndarray) -> bool:
    """Whether an array of objects holds numbers; text that looks like a number is still text."""
    if array.dtype != object:
        return is_real(array.dtype)
    if any(isinstance(entry, NO_NUMBERS) for entry in array.flat):
        return False
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _is_masked(data: Any) -> bool:
    parts = data if isinstance(data, list | tuple) else [data]
    return any(np.ma.is_masked(part) for part in parts if isinstance(part, np.ma.MaskedArray))
