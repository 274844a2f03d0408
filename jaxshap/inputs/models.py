"""Models as people pass them: JAX functions, fitted estimators, torch modules, functions."""

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import HostFallbackWarning, InputError, InputTypeError, MissingExtraError
from jaxshap.games import Host
from jaxshap.inputs.estimator_objects import estimator_call, prediction_method
from jaxshap.inputs.reading import Inputs
from jaxshap.inputs.tables import read_names, repeated
from jaxshap.inputs.training_mode import check_inference, draws_numbers


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
        check_inference(model)
        return Model(Host(_torch_call(model)), None)
    if isinstance(model, type):
        raise InputTypeError(f"{model.__name__} is a class: pass a model of it, fitted.")
    if not callable(model):
        classes = getattr(model, "classes_", None) if hasattr(model, "predict_proba") else None
        output_names = None if classes is None else tuple(map(str, classes))
        call = estimator_call(model, prediction_method(model))
        return Model(Host(_by_name(model, call, inputs.columns)), output_names)
    owner = getattr(model, "__self__", None)
    on_host = _by_name(owner, estimator_call(owner, model), inputs.columns)
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
    names = classes if output_names is None else read_names(output_names, "output_names")
    if names is not None and shape != (len(names),):
        raise InputError(f"there are {len(names)} output_names for outputs of shape {shape}.")
    if names is not None and len(set(names)) < len(names):
        raise InputError(f"output_names holds {repeated(names)} more than once: rename them.")
    return names


def _is_traceable(model: Callable, on_host: Callable, inputs: Inputs) -> bool:
    """Whether JAX can trace it. A model that fails both ways has a fault of its own, and that is
    shown.
    """

    def two(part):  # tables become floating-point numbers, other inputs stay what they are
        dtype = part.dtype if "players" in inputs.options else jax.numpy.result_type(float)
        return jax.ShapeDtypeStruct((2, *part.shape[1:]), jax.dtypes.canonicalize_dtype(dtype))

    try:
        traced = jax.make_jaxpr(model)(jax.tree.map(two, inputs.rows))
    except Exception as failure:
        check_inference(model)
        outputs = on_host(jax.tree.map(lambda part: np.array(part[:2]), inputs.rows))
        if isinstance(outputs, jax.Array):
            warnings.warn(_not_traced(failure), HostFallbackWarning, stacklevel=2)
        return False
    if draws_numbers(traced.jaxpr):
        check_inference(model)
    return True


def _not_traced(failure: Exception) -> str:
    return (
        f"JAX cannot trace this model ({type(failure).__name__}), though it returns JAX arrays: it "
        "runs on the host, one batch after the other. Write it without Python decisions about "
        "values, or pass jaxshap.host(model) if that is what you want."
    )


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
