"""Units of worths: results do not depend on them, and no error is smaller than rounding."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.estimators import Estimate

Numbers = Array | np.ndarray


def unit_of(
    gains: Float[Numbers, "m ..."], total: Float[Numbers, "..."], in_strata: bool, fixed: bool
) -> Float[Numbers, "..."]:
    """A power of two near the largest magnitude of each output, so that no square overflows or
    vanishes and no digit is lost; 1 where all worths are the same, or units are `fixed`.
    """
    xp: Any = _library(gains)
    largest = xp.maximum(_largest(gains), xp.abs(total))
    largest = largest.max(0, initial=0) if in_strata else largest
    if fixed:
        return xp.ones_like(largest)
    largest = jax.lax.stop_gradient(largest) if xp is jnp else largest
    usable = xp.isfinite(largest) & (largest > 0)
    _, exponent = xp.frexp(xp.where(usable, largest, 1))
    return xp.ldexp(xp.ones_like(largest), exponent - 1)


def rounding_error(
    worths: Float[Numbers, "m ..."],
    empty: Float[Numbers, "..."],
    full: Float[Numbers, "..."],
    in_strata: bool,
) -> Float[Numbers, "..."]:
    """What rounding in the precision of the worths may do to the values of each output."""
    xp: Any = _library(worths)
    largest = xp.maximum(_largest(worths), xp.maximum(xp.abs(empty), xp.abs(full)))
    largest = largest.sum(0) if in_strata else largest
    precision = jnp.finfo(worths.dtype)
    rounding = xp.maximum(float(precision.eps) * largest, float(precision.tiny))
    return jax.lax.stop_gradient(rounding) if xp is jnp else rounding.astype(np.float64)


def in_units(
    estimate: Estimate, unit: Float[Numbers, "*out"], rounding: Float[Numbers, "*out"]
) -> Estimate:
    """An estimate in units of its outputs, with errors of 0 where it is exact and nowhere else."""
    xp: Any = _library(unit)
    error = xp.maximum(estimate.std_error * unit, rounding)  # unknown errors stay so
    error = xp.where(estimate.exact, 0, error)
    return estimate._replace(values=estimate.values * unit, std_error=error)


def _largest(worths: Float[Numbers, "m ..."]) -> Float[Numbers, "..."]:
    """The largest magnitude of each output, without a copy of all of them."""
    return _library(worths).maximum(worths.max(0, initial=0), -worths.min(0, initial=0))


def _library(array: Any) -> Any:
    return np if isinstance(array, np.ndarray) else jnp
