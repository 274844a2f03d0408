"""Tables as narrow as JAX is set to, and a word about what that loses."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

from jaxshap.errors import InputError, PrecisionWarning

MAX_LOSS = 1e-3  # of the spread of a column, above which a warning names it
MAX_NAMED = 5  # columns in a message


def narrowed(array: Shaped[Array | np.ndarray, "..."], what: str) -> Any:
    """An array as wide as JAX is set to; whole numbers that do not fit are refused."""
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    if jnp.issubdtype(dtype, jnp.integer) and dtype.itemsize < array.dtype.itemsize:
        limits = jnp.iinfo(dtype)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise InputError(
                f"{what} holds whole numbers from {array.min()} to {array.max()}, and JAX is set "
                f"to {dtype}, in which they would become others: number them from 0, set "
                "jax_enable_x64, or pass jaxshap.host(model)."
            )
    return array.astype(dtype)


def warn_of_rounding(
    given: tuple[Shaped[Array | np.ndarray, "_ columns"], ...],
    kept: tuple[Shaped[Array | np.ndarray, "_ columns"], ...],
) -> None:
    """Name the columns in which numbers that differed no longer do, such as times in seconds.

    `given` are tables with the same columns as they came, and `kept` the same as narrow as JAX has
    them. JAX arrays are as they were.
    """
    pairs = [
        (np.asarray(wide, np.float64), np.asarray(narrow, np.float64))
        for wide, narrow in zip(given, kept, strict=True)
        if not isinstance(wide, jax.Array) and wide.dtype != narrow.dtype
    ]
    if not pairs:
        return
    with np.errstate(invalid="ignore"):  # where infinity is subtracted from itself
        losses = [np.fmax.reduce(np.abs(wide - narrow), axis=0) for wide, narrow in pairs]
    finite = [np.where(np.isfinite(wide), wide, np.nan) for wide, _ in pairs]
    highest = np.fmax.reduce([np.fmax.reduce(wide, axis=0) for wide in finite])
    lowest = np.fmin.reduce([np.fmin.reduce(wide, axis=0) for wide in finite])
    loss, spread = np.fmax.reduce(losses), highest - lowest
    columns = np.flatnonzero((spread > 0) & (loss > MAX_LOSS * spread)).tolist()
    if columns:
        share = (loss[columns] / spread[columns]).max()
        more = ", …" if len(columns) > MAX_NAMED else ""
        named = ", ".join(map(str, columns[:MAX_NAMED])) + more
        warnings.warn(
            f"JAX is set to {kept[0].dtype}, which changes columns number {named} by up to "
            f"{share:.2g} of the spread of a column: numbers that differ become the same. Subtract "
            "an offset from the column and have the model expect that, set jax_enable_x64, or pass "
            "jaxshap.host(model) if the model is not written in JAX.",
            PrecisionWarning,
            stacklevel=2,
        )
