"""Models that JAX cannot trace: numpy, scikit-learn, torch, remote."""

from collections.abc import Callable
from typing import Any

from jaxshap.errors import InputTypeError
from jaxshap.games import Host


def host(predict: Callable[[Any], Any]) -> Host:
    """Mark a model that runs outside JAX, in numpy, scikit-learn, torch or elsewhere.

    It works with every value function and estimator, one call per batch, but not under jit, vmap or
    grad. It never gets memory that is read again, so it may work in place.

    Args:
        predict: a function from a numpy batch `(rows, features)` to `(rows, *outputs)`.

    Returns:
        The marked model, for `jaxshap.explain` and the value functions.

    Raises:
        InputTypeError: `predict` is no function.

    Example:
        >>> import jaxshap, numpy as np
        >>> model = jaxshap.host(lambda rows: np.median(rows, axis=1))
        >>> jaxshap.explain(model, [[2.0, 4.0]], [[0.0, 0.0]]).values.tolist()
        [[1.0, 2.0]]
    """
    if not callable(predict):
        raise InputTypeError(
            "host needs a function of a batch of rows, such as model.predict, not "
            f"{type(predict).__name__}."
        )
    return predict if isinstance(predict, Host) else Host(predict)
