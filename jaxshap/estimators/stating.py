"""What estimators state: values and errors, whether they are exact, and degrees of freedom."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.protocol import Estimate
from jaxshap.games import array_library, held_fixed


def stated(
    values: Float[Any, "n *out"],
    std_error: Float[Any, "n *out"],
    *,
    degrees: float | Float[Any, "..."] | Int[Any, "..."] = float("inf"),
    exact: bool | Bool[Any, "..."] = False,
) -> Estimate:
    """An estimate whose fields all have the shape of its values.

    What is exact has an error of 0 and infinite degrees of freedom, and what has an unknown error
    has none of them.
    """
    xp: Any = array_library(values)
    exact = xp.broadcast_to(xp.asarray(exact), values.shape)
    degrees = xp.broadcast_to(xp.asarray(degrees).astype(values.dtype), values.shape)
    degrees = xp.where(xp.isnan(std_error), 0, degrees)
    error = xp.where(exact, 0, std_error)
    return Estimate(values, error, exact, held_fixed(xp.where(exact, jnp.inf, degrees)))


def of_one_shape(estimate: Estimate) -> Estimate:
    """The same with all fields in the shape of the values, also where an estimator states only
    values and errors.
    """
    values, std_error, exact, degrees = estimate
    return stated(values, std_error, degrees=degrees, exact=exact)


def mean_of_draws(
    draws: Float[Array, "draws n *out"], count: int | Int[Array, ""], *, alike: bool = True
) -> Estimate:
    """The mean of the first `count` independent draws and its standard error, NaN for one draw.

    Players are `alike` where no structure makes the draws of one vary less than those of another.
    """
    number = jnp.asarray(count, draws.dtype)
    live = (jnp.arange(len(draws)) < count).reshape(-1, *(1,) * (draws.ndim - 1))
    mean = jnp.where(live, draws, 0).sum(0) / number
    squares = (jnp.where(live, draws - mean, 0) ** 2).sum(0)
    variance = squares / (number - 1) / number  # 0 / 0 for a single draw
    if not alike:
        return stated(mean, jnp.sqrt(variance), degrees=number - 1)
    return sampled_estimate(mean, variance, number - 1)


def mean_of_products(
    weights: Float[Array, "draws n"],
    worths: Float[Array, "draws *out"],
    count: int | Int[Array, ""],
) -> Estimate:
    """`mean_of_draws` for draws weight × worth of each player, without holding them in memory."""
    number = jnp.asarray(count, worths.dtype)
    weights = jnp.where((jnp.arange(len(weights)) < count)[:, None], weights, 0)
    mean = jnp.tensordot(weights, worths, (0, 0)) / number
    whole = jnp.tensordot(weights**2, worths**2, (0, 0))
    squares = less_rounded(whole, number * mean**2)
    return sampled_estimate(mean, squares / (number - 1) / number, number - 1)


def sampled_estimate(
    values: Float[Array, "n *out"],
    variance: Float[Array, "n *out"],
    degrees: Float[Array, "..."],
) -> Estimate:
    """Values with variances that a few draws tell, and a single one does not.

    Draws that happen to agree for one player and not for the others show no spread, but do not show
    either that there is none: the player then has the variance of the mean player over the degrees
    of freedom, as if one more draw had come that disagreed.
    """
    variance = jnp.where(degrees > 0, variance, jnp.nan)
    rounding = (4 * jnp.finfo(values.dtype).eps * values) ** 2
    pooled = variance.mean(0) / jnp.maximum(degrees, 1)
    agreed = variance <= rounding
    return stated(values, jnp.sqrt(jnp.where(agreed, pooled, variance)), degrees=degrees)


def no_less_than_rounding(estimate: Estimate, largest: Float[Array, "n *out"]) -> Estimate:
    """With errors of at least the rounding of numbers as large as this."""
    rounding = jnp.finfo(largest.dtype).eps * largest + jnp.finfo(largest.dtype).tiny
    return estimate._replace(std_error=jnp.maximum(estimate.std_error, rounding))


def less_rounded(whole: Float[Array, "..."], part: Float[Array, "..."]) -> Float[Array, "..."]:
    """whole − part of two sums of squares, and no less than the rounding error of `whole`."""
    return jnp.maximum(whole - part, jnp.finfo(whole.dtype).eps * whole)


def pooled_degrees(
    variances: Float[Any, "parts ..."], degrees: Float[Any, "..."]
) -> Float[Any, "..."]:
    """Degrees of freedom of a sum of independent variances (Welch and Satterthwaite), which lie
    between the least and the sum of those of the parts.
    """
    xp: Any = array_library(variances)
    total = variances.sum(0)
    shares = variances / xp.where(total > 0, total, 1)
    known = xp.maximum(degrees, 1)  # parts without any have a variance of NaN, or 0
    return xp.where(total > 0, 1 / (shares**2 / known).sum(0), xp.asarray(known).sum(0))
