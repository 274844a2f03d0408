"""Saved models: from files, or from a module by name."""

import functools
import importlib
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.exits import UsageError
from jaxshap.cli.onnx_model import read_onnx
from jaxshap.games import Host

GENERIC_NAME = re.compile(r"(Column_|f)\d+")  # LightGBM and XGBoost make these up
DISTRIBUTIONS = {"sklearn": "scikit-learn", "xgboost": "xgboost", "lightgbm": "lightgbm"}


class Saved(NamedTuple):
    """A model, the columns it knows or their number, and the packages that read it.

    `predict` is sampled in place of the model where the model itself serves only for its trees.
    """

    model: Any
    kind: str
    columns: tuple[str, ...] | None = None
    num_columns: int | None = None
    packages: tuple[str, ...] = ()
    predict: Callable | None = None


def read_saved(name: str) -> Saved:
    """The model that `module:callable` or the name of a file stands for."""
    suffix = pathlib.Path(name).suffix.lower()
    if suffix not in FORMATS:
        if ":" in name:
            return _import(name)
        known = ", ".join(FORMATS)
        raise UsageError(
            f"{name!r} is no model: pass module:callable, or a file that ends in {known}."
        )
    if not pathlib.Path(name).is_file():
        raise UsageError(f"there is no file {name!r}: check the path of the model.")
    kind, read = FORMATS[suffix]
    try:
        return read(name)
    except ImportError as error:
        extra = EXTRAS.get(error.name or "", error.name)
        raise UsageError(f"reading {name} needs {error.name}: pip install {extra}") from error
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{name} cannot be read as {kind}: {error!r}") from error


def _import(name: str) -> Saved:
    module_name, _, path = name.partition(":")
    if module_name.endswith(".py") or "/" in module_name:
        importable = f"{pathlib.Path(module_name).stem}:{path}"
        raise UsageError(f"{name!r}: write a module as it is imported, such as {importable}.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and module_name.split(".")[0] == error.name.split(".")[0]:
            raise UsageError(
                f"there is no module {error.name!r} to import from this directory."
            ) from error
        raise UsageError(f"{module_name} imports {error.name}, which is not installed.") from error
    except Exception as error:
        traceback.print_exception(error, chain=False)
        raise UsageError(f"importing {module_name} failed: {error!r}") from error
    try:
        model = functools.reduce(getattr, path.split("."), module)
    except AttributeError as error:
        raise UsageError(f"{module_name} has no {path!r}.") from error
    return _describe(model, name)


def _describe(model: Any, name: str) -> Saved:
    """A function, or a fitted model and the columns it was fitted on."""
    predicts = callable(model) or hasattr(model, "predict") or hasattr(model, "predict_proba")
    if isinstance(model, type) or not predicts:
        raise UsageError(
            f"{name} holds a {type(model).__name__}: pass a function of rows or a fitted model."
        )
    library = type(model).__module__.split(".")[0]
    return Saved(
        model,
        kind="function" if hasattr(model, "__name__") else type(model).__name__,
        columns=_own_names(getattr(model, "feature_names_in_", None)),
        num_columns=getattr(model, "n_features_in_", None) or None,  # 0 of an unpickled CatBoost
        packages=(DISTRIBUTIONS[library],) if library in DISTRIBUTIONS else (),
    )


def _own_names(columns: Any) -> tuple[str, ...] | None:
    """The names of columns, or None where the library made them up."""
    names = () if columns is None else tuple(map(str, columns))
    return None if all(map(GENERIC_NAME.fullmatch, names)) else names


def _read_pickle(name: str) -> Saved:
    import joblib

    return _describe(joblib.load(name), name)


def _read_xgboost(name: str) -> Saved:
    import xgboost

    booster = xgboost.Booster(model_file=name)

    def predict(rows: np.ndarray) -> np.ndarray:
        return booster.inplace_predict(np.asarray(rows, np.float32), validate_features=False)

    return Saved(
        booster,
        kind="XGBoost model",
        columns=None if booster.feature_names is None else tuple(booster.feature_names),
        num_columns=booster.num_features(),
        packages=("xgboost",),
        predict=Host(predict),
    )


def _read_lightgbm(name: str) -> Saved:
    import lightgbm

    booster = lightgbm.Booster(model_file=name)
    return Saved(
        booster,
        kind="LightGBM model",
        columns=_own_names(booster.feature_name()),
        num_columns=booster.num_feature(),
        packages=("lightgbm",),
        predict=Host(booster.predict),
    )


def _read_onnx(name: str) -> Saved:
    predict, num_columns = read_onnx(name)
    return Saved(predict, "ONNX model", None, num_columns, ("onnxruntime",))


FORMATS: dict[str, tuple[str, Callable[[str], Saved]]] = {
    ".joblib": ("a pickled model", _read_pickle),
    ".pkl": ("a pickled model", _read_pickle),
    ".json": ("an XGBoost model", _read_xgboost),
    ".ubj": ("an XGBoost model", _read_xgboost),
    ".txt": ("a LightGBM model", _read_lightgbm),
    ".onnx": ("an ONNX model", _read_onnx),
}
EXTRAS = {
    "joblib": '"jaxshap[examples]"',
    "sklearn": '"jaxshap[examples]"',
    "xgboost": '"jaxshap[trees]"',
    "lightgbm": '"jaxshap[trees]"',
}
