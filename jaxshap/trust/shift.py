"""How differently two explanations share out the credit."""

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError


def attribution_shift(
    one: Float[np.ndarray, "rows features *outputs"],
    other: Float[np.ndarray, "rows features *outputs"],
) -> float:
    """The part of the credit that moves to other features between two explanations, in [0, 1].

    Half the sum of absolute differences of the features' shares in mean |value|. Between the
    marginal and the manifold game of one model it says how much of the explanation rests on points
    that the model never meets.

    Example:

    >>> import numpy as np, jaxshap
    >>> jaxshap.trust.attribution_shift(np.array([[3.0, 1.0]]), np.array([[1.0, -1.0]]))
    0.25
    """
    if one.shape[1:] != other.shape[1:]:
        raise InputError(
            f"values of shapes {one.shape} and {other.shape} are not of the same features and outputs."
        )
    shares = []
    for values in (one, other):
        mean = np.abs(values).mean(0).reshape(values.shape[1], -1).sum(1)
        shares.append(mean / (mean.sum() or 1))
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
