"""Intervals around estimates."""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputError
from jaxshap.estimators import Estimate
from jaxshap.games import MAX_COUNT, as_numbers, check_kind, read_number, shown


class Interval(NamedTuple):
    """An interval around every value of an estimate.

    Attributes:
        lower: the lower ends.
        upper: the upper ends.

    Example:
        >>> import jaxshap
        >>> estimate = jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 6.0]))  # exact
        >>> ends = jaxshap.trust.interval(estimate)
        >>> ends.lower.tolist(), ends.upper.tolist()
        ([2.5, 3.5], [2.5, 3.5])
    """

    lower: Float[Array, "n *out"]
    upper: Float[Array, "n *out"]


def interval(estimate: Estimate, level: float = 0.95, degrees: float | None = None) -> Interval:
    """A confidence interval: values ± quantile · std_error.

    The quantile is that of Student's t, since the standard error is itself estimated from few
    draws, or of the normal distribution where degrees of freedom are infinite. It covers as often
    as it says where the estimator is unbiased and its errors are close to normal.

    Args:
        estimate: values with their standard errors.
        level: the chance that an interval holds the true value, 0.95 by default.
        degrees: the degrees of freedom of Student's t; by default those of the estimate. An
            infinite number means the normal distribution.

    Returns:
        The `Interval` of every value.

    Raises:
        InputError: the level is not between 0 and 1, or the degrees of freedom do not fit the
            values.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> estimate = jaxshap.Estimate(jnp.array([1.0, 2.0]), jnp.array([0.5, 0.0]))
        >>> lower, upper = jaxshap.trust.interval(estimate, level=0.95)
        >>> print(np.asarray(lower).round(2), np.asarray(upper).round(2))
        [0.02 2.  ] [1.98 2.  ]
    """
    check_kind(estimate, Estimate, "estimate", "what jaxshap.estimate returned")
    degrees_of_each = estimate.degrees if degrees is None else degrees
    dtype = np.dtype(estimate.values.dtype)
    quantiles = quantile(level, degrees_of_each)
    if not _fits(quantiles.shape, estimate.values.shape):
        raise InputError(
            f"degrees= has shape {quantiles.shape} for values of shape {estimate.values.shape}: "
            "pass one number, or one for each value."
        )
    half = quantiles.astype(dtype) * estimate.std_error
    return Interval(estimate.values - half, estimate.values + half)


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of this shape can be spread over another without making it larger."""
    sides = zip(reversed(shape), reversed(whole), strict=False)
    return len(shape) <= len(whole) and all(own in (1, other) for own, other in sides)


def draws_to_narrow(ends: Interval, num_draws: int, width: float) -> int:
    """How many more draws make every interval this narrow: widths fall as one over their root."""
    width = read_number(width, "width", above=0)
    ratio = float(np.max(ends.upper - ends.lower)) / width
    if ratio * ratio > MAX_COUNT:
        raise InputError(
            f"width={shown(width)} is {ratio:.3g} times as narrow as the intervals are, which no "
            "number of draws makes them: pass a wider one."
        )
    return max(0, math.ceil(num_draws * (ratio**2 - 1)))


def quantile(level: float, degrees: Any) -> np.ndarray:
    """How many standard errors reach from the middle to the end of an interval of Student's t."""
    level = read_number(level, "level", above=0, below=1)
    return one_sided_quantile((1 + level) / 2, degrees)


def one_sided_quantile(chance: float, degrees: Any) -> np.ndarray:
    """What a standardised error stays below with this chance; NaN without degrees of freedom."""
    from scipy.special import stdtrit  # slow to import, and not needed before

    freedom = np.asarray(as_numbers(degrees, "degrees"), np.float64)
    return np.asarray(stdtrit(freedom, chance))
