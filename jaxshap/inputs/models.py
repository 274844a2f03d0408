"""Models as people pass them: JAX functions, fitted estimators, torch modules, any other function."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import InputError, InputTypeError, MissingExtraError
from jaxshap.games import Host
from jaxshap.inputs.reading import Inputs


class Model(NamedTuple):
    """A function of a batch of rows, in JAX or on the host, and the names of its outputs where it
    has them.
    """

    predict: Callable
    output_names: tuple[str, ...] | None


def read_model(model, inputs: Inputs) -> Model:
    """A traceable function as it is; a fitted estimator or a function JAX cannot trace, on the
    host.
    """
    if isinstance(model, Host):
        return Model(model, None)
    if _is_torch(model):
        return Model(Host(_torch_call(model)), None)
    if not callable(model):
        method = getattr(model, "predict_proba", None) or getattr(model, "predict", None)
        if method is None:
            raise InputTypeError(
                f"a model is a function of rows or has predict or predict_proba: {type(model).__name__} is not."
            )
        classes = getattr(model, "classes_", None) if hasattr(model, "predict_proba") else None
        output_names = None if classes is None else tuple(map(str, classes))
        return Model(Host(_by_name(model, method, inputs.columns)), output_names)
    on_host = _by_name(getattr(model, "__self__", None), model, inputs.columns)
    return Model(model if _is_traceable(model, on_host, inputs) else Host(on_host), None)


def own_columns(model: Any, X: Any, feature_names: Sequence[str] | None) -> Sequence[str] | None:
    """The columns a model was fitted with, in its order, where X has names."""
    columns = getattr(model, "feature_names_in_", None)
    if columns is None or (feature_names is None and not hasattr(X, "columns")):
        return feature_names
    return list(map(str, columns))


def read_output_names(
    output_names: Sequence[str] | None, classes: tuple[str, ...] | None, shape: tuple[int, ...]
) -> tuple[str, ...] | None:
    """Names of outputs of this shape, checked: those given, or those of the model's classes."""
    names = classes if output_names is None else tuple(map(str, output_names))
    if names is not None and shape != (len(names),):
        raise InputError(f"there are {len(names)} output_names for outputs of shape {shape}.")
    return names


def _is_traceable(model: Callable, on_host: Callable, inputs: Inputs) -> bool:
    """Whether JAX can trace it. A model that fails both ways has a fault of its own, and that is
    shown.
    """

    def two(part):  # tables become floating-point numbers, other inputs stay what they are
        dtype = part.dtype if "players" in inputs.options else jax.numpy.result_type(float)
        return jax.ShapeDtypeStruct((2, *part.shape[1:]), jax.dtypes.canonicalize_dtype(dtype))

    try:
        jax.eval_shape(model, jax.tree.map(two, inputs.rows))
    except Exception:
        on_host(jax.tree.map(lambda part: np.asarray(part[:2]), inputs.rows))
        return False
    return True


def _is_torch(model) -> bool:
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)


def _torch_call(module) -> Callable:
    """A torch module on numpy batches, without gradients; in the mode that it is in."""

    torch = sys.modules["torch"]  # imported by whoever made the module

    def call(batch):
        weights = next(module.parameters(), None)

        def tensor(part):
            found = torch.as_tensor(part)
            if weights is None:
                return found
            return found.to(weights.device, weights.dtype if found.is_floating_point() else None)

        with torch.no_grad():
            return module(jax.tree.map(tensor, batch)).cpu().numpy()

    return call


def _by_name(owner, method: Callable, names: Sequence[str] | None) -> Callable:
    """A model fitted on a DataFrame gets DataFrames with the same columns, as it expects."""
    if names is None or not hasattr(owner, "feature_names_in_"):
        return method
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "a model that was fitted on named columns gets DataFrames, which need pandas: "
            'pip install "jaxshap[examples]".'
        ) from error
    return lambda rows: method(pd.DataFrame(rows, columns=list(names)))
