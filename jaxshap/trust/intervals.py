"""Intervals around estimates."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputError
from jaxshap.estimators import Estimate


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


def interval(estimate: Estimate, level: float = 0.95, degrees: int | None = None) -> Interval:
    """A confidence interval: values ± quantile · std_error.

    The quantile is that of the normal distribution, or of Student's t where the standard error is
    itself estimated from few draws. It covers as often as it says where the estimator is unbiased
    and its errors are close to normal.

    Args:
        estimate: values with their standard errors.
        level: the chance that an interval holds the true value, 0.95 by default.
        degrees: the degrees of freedom of Student's t, one less than the number of draws; by
            default the normal distribution is used.

    Returns:
        The `Interval` of every value.

    Raises:
        InputError: the level is not between 0 and 1.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> estimate = jaxshap.Estimate(jnp.array([1.0, 2.0]), jnp.array([0.5, 0.0]))
        >>> lower, upper = jaxshap.trust.interval(estimate, level=0.95)
        >>> print(np.asarray(lower).round(2), np.asarray(upper).round(2))
        [0.02 2.  ] [1.98 2.  ]
    """
    half = _quantile(level, degrees) * estimate.std_error
    return Interval(estimate.values - half, estimate.values + half)


def _quantile(level: float, degrees: int | None) -> float:
    """How many standard errors reach from the middle to the end of the interval."""
    if not 0 < level < 1:
        raise InputError(f"level={level}: pass a probability between 0 and 1, such as 0.95.")
    from scipy.special import ndtri, stdtrit  # slow to import, and not needed before

    tail = (1 + level) / 2
    return float(ndtri(tail) if degrees is None else stdtrit(np.float64(degrees), tail))
