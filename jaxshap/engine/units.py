"""Units of worths: results do not depend on them, and no error is smaller than rounding."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from jaxshap.errors import InputError
from jaxshap.estimators import Estimate
from jaxshap.games import array_library, held_fixed

Numbers = Array | np.ndarray


def unit_of(
    gains: Float[Numbers, "m ..."], total: Float[Numbers, "..."], in_strata: bool, fixed: bool
) -> Float[Numbers, "..."]:
    """A power of two near the largest magnitude of each output, so that no square overflows or
    vanishes and no digit is lost; 1 where all worths are the same, or units are `fixed`.
    """
    xp: Any = array_library(gains)
    largest = xp.maximum(_largest(gains), xp.abs(total))
    largest = largest.max(0, initial=0) if in_strata else largest
    if fixed:
        return xp.ones_like(largest)
    largest = held_fixed(largest)
    usable = xp.isfinite(largest) & (largest > 0)
    _, exponent = xp.frexp(xp.where(usable, largest, 1))
    return xp.ldexp(xp.ones_like(largest), exponent - 1)


def unit_over_first(numbers: Float[Numbers, "m *out"]) -> Float[Numbers, "*out"]:
    """The same for numbers that are differences already."""
    xp: Any = array_library(numbers)
    return unit_of(
        numbers, xp.zeros(numbers.shape[1:], numbers.dtype), in_strata=False, fixed=False
    )


def on_device(estimate: Estimate) -> Estimate:
    """An estimate that was solved in float64, as JAX arrays of the precision that JAX is set to.

    An error that is too small for it becomes the smallest number there is, since 0 means exact.
    """
    dtype = jax.dtypes.canonicalize_dtype(estimate.values.dtype)
    if dtype == estimate.values.dtype:
        return jax.device_put(estimate)
    limits = jnp.finfo(dtype)
    sizes = np.abs(np.asarray(estimate.values))
    largest = sizes.max(initial=0)
    if largest > float(limits.max) or 0 < largest < float(limits.tiny):
        raise InputError(
            f"values of size {largest:.1g} do not fit into {dtype}: rescale the worths, or "
            "enable float64 in JAX."
        )
    least = np.where(estimate.exact, 0, float(limits.tiny))
    return jax.device_put(estimate._replace(std_error=np.maximum(estimate.std_error, least)))


def check_squares(unit: Any, factor: float = 1.0) -> None:
    """Refuse worths whose squares, times a factor, do not fit into their precision."""
    if isinstance(unit, Tracer):
        return
    unit, limits = np.asarray(unit, np.float64), jnp.finfo(np.asarray(unit).dtype)
    squares = unit**2 * factor
    room = 1 / float(limits.eps)  # of the digits of the smallest square that matters
    if (squares > float(limits.max) / 16).any() or (squares < float(limits.tiny) * room).any():
        raise InputError(
            f"worths of size {unit.min():.1g} to {unit.max():.1g} have squares that do not fit "
            f"into {limits.dtype}: rescale the worths, or enable float64 in JAX."
        )


def rounding_error(
    worths: Float[Numbers, "m ..."],
    empty: Float[Numbers, "..."],
    full: Float[Numbers, "..."],
    in_strata: bool,
) -> Float[Numbers, "..."]:
    """What rounding in the precision of the worths may do to the values of each output."""
    xp: Any = array_library(worths)
    largest = xp.maximum(_largest(worths), xp.maximum(xp.abs(empty), xp.abs(full)))
    largest = largest.sum(0) if in_strata else largest
    precision = jnp.finfo(worths.dtype)
    rounding = xp.maximum(float(precision.eps) * largest, float(precision.tiny))
    return rounding.astype(np.float64) if xp is np else jax.lax.stop_gradient(rounding)


def in_units(
    estimate: Estimate, unit: Float[Numbers, "*out"], rounding: Float[Numbers, "*out"]
) -> Estimate:
    """An estimate in units of its outputs, with errors of 0 where it is exact and nowhere else."""
    xp: Any = array_library(unit)
    error = xp.maximum(estimate.std_error * unit, rounding)  # unknown errors stay so
    error = xp.where(estimate.exact, 0, error)
    return estimate._replace(values=estimate.values * unit, std_error=error)


def _largest(worths: Float[Numbers, "m ..."]) -> Float[Numbers, "..."]:
    """The largest magnitude of each output, without a copy of all of them."""
    return array_library(worths).maximum(worths.max(0, initial=0), -worths.min(0, initial=0))
