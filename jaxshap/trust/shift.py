"""How differently two explanations share out the credit."""

import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputError
from jaxshap.games import as_numbers


def attribution_shift(
    values: Float[Array | np.ndarray, "rows ..."], other: Float[Array | np.ndarray, "others ..."]
) -> float:
    """The share of the credit that moves to other features between two explanations.

    It is half the sum of absolute differences of the features' shares in mean |value|. Between the
    marginal and the manifold game of one model it says how much of the explanation rests on points
    that the model never meets.

    Args:
        values: the values of one explanation, (rows, features, *outputs).
        other: the values of the other explanation, of the same features and outputs.

    Returns:
        A share from 0 (the same credit) to 1 (none in common).

    Raises:
        InputError: the explanations differ in their features or outputs.

    Example:
        >>> import numpy as np, jaxshap
        >>> jaxshap.trust.attribution_shift(np.array([[3.0, 1.0]]), np.array([[1.0, -1.0]]))
        0.25
    """
    values, other = as_numbers(values, "values"), as_numbers(other, "other")
    if values.ndim < 2 or 0 in (*values.shape, *other.shape) or values.shape[1:] != other.shape[1:]:
        raise InputError(
            f"values of shapes {values.shape} and {other.shape} are not of the same features and "
            "outputs: pass explanations of the same model."
        )
    return float(np.abs(_credit_shares(values) - _credit_shares(other)).sum() / 2)


def _credit_shares(
    values: Float[Array | np.ndarray, "rows features *outputs"],
) -> Float[np.ndarray, "features"]:
    """The features' shares in mean |value|, over rows and outputs."""
    credit = np.abs(np.asarray(values)).mean(0).reshape(values.shape[1], -1).sum(1)
    return credit / (credit.sum() or 1)
