"""What a reader is: the functions by which one family of models becomes an Ensemble."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.trees.ensemble import Ensemble


class Reader(NamedTuple):
    """How the models of one family are recognised and read; nothing of their library is imported.

    `family` is the name by which error messages list the models. `raw_prediction` asks the model
    itself for what the trees sum to, given rows as the model takes them, and `sum_dtype` is the
    precision in which the library adds up. A model that is not `is_exact` is explained by sampling.
    """

    family: str
    recognises: Callable[[Any], bool]
    is_fitted: Callable[[Any], bool]
    read: Callable[[Any], Ensemble]
    raw_prediction: Callable[[Any, Any], Any]
    sum_dtype: Any = np.float64
    is_exact: Callable[[Any], bool] = lambda model: True  # or its trees do not say all it does


def comes_from(model: Any, library: str, *prefixes: str) -> bool:
    """Whether the class of a model lives in this library and its name begins with a prefix."""
    kind = type(model)
    return kind.__module__.split(".")[0] == library and kind.__name__.startswith(prefixes)
