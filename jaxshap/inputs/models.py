"""Models as people pass them: JAX functions, fitted estimators, torch modules, functions."""

import contextlib
import dataclasses
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.engine import trace
from jaxshap.errors import HostFallbackWarning, InputError, InputTypeError, MissingExtraError
from jaxshap.games import Game, Host, check_arguments
from jaxshap.inputs.arrays import as_floating, is_whole
from jaxshap.inputs.estimator_objects import (
    check_fitted,
    estimator_call,
    has_prediction,
    read_prediction,
)
from jaxshap.inputs.frames import FrameModel
from jaxshap.inputs.reading import Inputs
from jaxshap.inputs.tables import read_names, repeated
from jaxshap.inputs.training_mode import check_inference, draws_numbers

PLACEHOLDER = re.compile(r"(Column_|f)?\d+")  # names that libraries make up for columns


class Model(NamedTuple):
    """A function of a batch of rows, in JAX or on the host, and the names of its outputs where it
    has them.

    `function` names what is explained where the model has no probabilities, and `takes_whole` says
    that it refuses anything but whole numbers, such as those of tokens.
    """

    predict: Callable
    output_names: tuple[str, ...] | None
    function: str | None = None
    takes_whole: bool = False


def read_model(model, inputs: Inputs, keeps_whole: bool = False) -> Model:
    """A traceable function as it is; a fitted estimator or a function JAX cannot trace, on the
    host. One that takes whole numbers alone is refused unless the caller keeps them whole.
    """
    read = _read(model, inputs)
    if read.takes_whole and not keeps_whole:
        raise InputTypeError(
            "this model takes whole numbers alone, and here columns are moved to numbers between "
            "them: pass a function that makes them whole as you mean it, such as "
            "lambda rows: model(rows.round().astype(int))."
        )
    return read


def _read(model: Any, inputs: Inputs) -> Model:
    if isinstance(model, Host):
        return Model(_on_entries(model, inputs), None)
    if _is_torch(model):
        check_inference(model)
        return Model(Host(_torch_call(model)), None)
    check_model(model)
    if not callable(model):
        prediction = read_prediction(model)
        call = estimator_call(model, prediction.method)
        return Model(
            Host(_by_name(model, call, inputs)), prediction.output_names, prediction.function
        )
    owner = getattr(model, "__self__", None)
    on_host = _by_name(owner, estimator_call(owner, model), inputs)
    if inputs.frames is not None and inputs.frames.coded:
        return Model(Host(on_host), None)
    return _read_function(model, on_host, inputs)


def check_model(model: Any) -> None:
    """Refuse what can be no model, before anything else is looked at."""
    if isinstance(model, type):
        raise InputTypeError(f"{model.__name__} is a class: pass a model of it, fitted.")
    if isinstance(model, Game):
        raise InputTypeError(
            "model= is a game: pass it to jaxshap.estimate, or pass the model itself."
        )
    if not callable(model) and not has_prediction(model):
        check_fitted(model, None)
        raise InputTypeError(
            "a model is a function of rows or has predict or predict_proba: "
            f"{type(model).__name__} is not."
        )
    if callable(model):
        check_arguments(model, "model", "one that takes a batch of rows")


def own_columns(model: Any, X: Any, feature_names: Sequence[str] | None) -> Sequence[str] | None:
    """The columns of X that a model was fitted with, in its order, where X has names.

    LightGBM writes spaces in names as underscores; names that a library made up count for nothing.
    """
    columns = fitted_columns(model)
    if columns is None or (feature_names is None and not hasattr(X, "columns")):
        return feature_names
    if feature_names is None:
        present = [str(name) for name in X.columns]
        spelled = {name.replace(" ", "_"): name for name in present}
        if not set(columns) <= set(present) and set(columns) <= set(spelled):
            return [spelled[name] for name in columns]
    return columns


def fitted_columns(model: Any) -> list[str] | None:
    """The names of the columns that a model was fitted with; None where they are placeholders."""
    names = getattr(model, "feature_names_in_", None)
    names = getattr(model, "feature_names_", None) if names is None else names  # CatBoost
    if names is None or not len(names):
        return None
    columns = list(map(str, names))
    return None if all(map(PLACEHOLDER.fullmatch, columns)) else columns


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


def _read_function(model: Callable, on_host: Callable, inputs: Inputs) -> Model:
    """In JAX if JAX can trace it, of numbers or of whole numbers alone, else on the host.

    A model that fails in every way has a fault of its own, and that is shown.
    """
    whole = "players" not in inputs.options and is_whole(inputs.rows, inputs.references)
    try:
        return Model(_traced(model, inputs), None)
    except Exception as error:
        failure = error
    if whole:
        with contextlib.suppress(Exception):
            return Model(_traced(model, inputs, whole), None, takes_whole=True)
    check_inference(model)
    few = jax.tree.map(lambda part: np.array(part[:2]), inputs.rows)
    try:
        outputs = on_host(few if "players" in inputs.options else as_floating(few))
    except Exception:
        if whole and _answers(on_host, few):
            return Model(Host(on_host), None, takes_whole=True)
        if inputs.frames is None or not _answers(FrameModel(on_host, inputs.frames), few):
            raise
        return Model(Host(FrameModel(on_host, inputs.frames)), None)
    if isinstance(outputs, jax.Array):
        warnings.warn(_not_traced(failure), HostFallbackWarning, stacklevel=2)
    return Model(Host(on_host), None)


def _traced(model: Callable, inputs: Inputs, whole: bool = False) -> Callable:
    """The model, where JAX can trace it for inputs like these; tables become floating-point
    numbers unless they are to stay whole.
    """

    def two(part):
        keeps = whole or "players" in inputs.options
        dtype = part.dtype if keeps else jax.numpy.result_type(float)
        return jax.ShapeDtypeStruct((2, *part.shape[1:]), jax.dtypes.canonicalize_dtype(dtype))

    traced = trace(model, jax.tree.map(two, inputs.rows))
    if draws_numbers(traced.jaxpr):
        check_inference(model)
    return model


def _answers(function: Callable, few: Any) -> bool:
    try:
        function(few)
    except Exception:
        return False
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


def _on_entries(model: Host, inputs: Inputs) -> Host:
    """A function on the host gets DataFrames where numbers alone would say nothing."""
    if inputs.frames is None or not inputs.frames.coded:
        return model
    return dataclasses.replace(model, function=FrameModel(model.function, inputs.frames))


def _by_name(owner, method: Callable, inputs: Inputs) -> Callable:
    """A model fitted on a DataFrame gets DataFrames with the same columns, as it expects."""
    if inputs.frames is not None and (inputs.frames.coded or fitted_columns(owner) is not None):
        return FrameModel(method, inputs.frames)
    if inputs.columns is None or not hasattr(owner, "feature_names_in_"):
        return method
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "a model that was fitted on named columns gets DataFrames, which need pandas: "
            'pip install "jaxshap[examples]".'
        ) from error
    columns = list(inputs.columns)
    return lambda rows: method(pd.DataFrame(rows, columns=columns))
