"""Models and tables from files, as people who saved them elsewhere bring them."""

import difflib
import functools
import importlib
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.onnx_model import read_onnx
from jaxshap.games import Host

GENERIC = re.compile(r"(Column_|f)\d+")  # names that LightGBM and XGBoost make up


class UsageError(Exception):
    """What was asked cannot be done, and the message says what to do."""


class Saved(NamedTuple):
    """A model, the columns it knows or their number, and what was imported to read it.

    `predict` is to be sampled instead, where the model itself is there for its trees alone.
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
    reader = READERS.get(suffix)
    if reader is None and ":" in name:
        return _imported(name)
    if reader is None:
        known = ", ".join(READERS)
        raise UsageError(
            f"{name!r} is no model: pass module:callable, or a file that ends in {known}."
        )
    if not pathlib.Path(name).is_file():
        raise UsageError(f"there is no file {name!r}: check the path of the model.")
    try:
        return reader(name)
    except ImportError as error:
        extra = EXTRAS.get(error.name or "", error.name)
        raise UsageError(f"reading {name} needs {error.name}: pip install {extra}") from error
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{name} cannot be read as {KINDS[suffix]}: {error!r}") from error


def read_frame(name: str, what: str) -> Any:
    """A pandas DataFrame from a CSV or Parquet file."""
    path = pathlib.Path(name)
    try:
        import pandas as pd
    except ImportError as error:
        raise UsageError('reading tables needs pandas: pip install "jaxshap[examples]"') from error
    if not path.is_file():
        raise UsageError(f"there is no file {name!r}: check the path of {what}.")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UsageError(f"{what} {name!r} must end in .csv or .parquet.")
    try:
        frame = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except ImportError as error:
        raise UsageError(f"reading {name} needs pyarrow: pip install pyarrow") from error
    except Exception as error:
        raise UsageError(f"{what} {name!r} cannot be read: {error}") from error
    if not len(frame) or not len(frame.columns):
        raise UsageError(f"{what} {name!r} is empty.")
    return frame.rename(columns=str)


def without(frame: Any, columns: Sequence[str], what: str) -> Any:
    """The frame less these columns, all of which it must have."""
    for column in columns:
        if column not in frame.columns:
            near = difflib.get_close_matches(column, frame.columns, 1)
            hint = f" Did you mean {near[0]!r}?" if near else f" It has {list(frame.columns)}."
            raise UsageError(f"{what} has no column {column!r}.{hint}")
    return frame.drop(columns=list(columns))


def features_of(frame: Any, saved: Saved, what: str) -> Any:
    """The columns that the model knows, in its order; all of them where it knows none."""
    if saved.columns is None:
        if saved.num_columns not in (None, len(frame.columns)):
            raise UsageError(
                f"the model expects {saved.num_columns} columns and {what} has {len(frame.columns)}: "
                f"{list(frame.columns)}. Name those that are not features with --target or --drop."
            )
        return frame
    present = {
        column.replace(" ", "_"): column for column in frame.columns
    }  # as LightGBM writes them
    found = [column if column in frame.columns else present.get(column) for column in saved.columns]
    if missing := [
        column for column, place in zip(saved.columns, found, strict=True) if place is None
    ]:
        raise UsageError(f"{what} lacks the columns {missing} that the model was fitted with.")
    return frame[found]


def _imported(name: str) -> Saved:
    module_name, _, path = name.partition(":")
    if module_name.endswith(".py") or "/" in module_name:
        raise UsageError(
            f"{name!r}: write a module as it is imported, such as {pathlib.Path(module_name).stem}:{path}."
        )
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
    return _fitted(model, name)


def _fitted(model: Any, name: str, packages: tuple[str, ...] = ()) -> Saved:
    known = callable(model) or hasattr(model, "predict") or hasattr(model, "predict_proba")
    if isinstance(model, type) or not known:
        raise UsageError(
            f"{name} holds a {type(model).__name__}: pass a function of rows or a fitted model."
        )
    columns = getattr(model, "feature_names_in_", None)
    columns = None if columns is None else tuple(map(str, columns))
    if columns is not None and all(map(GENERIC.fullmatch, columns)):
        columns = None
    number = getattr(model, "n_features_in_", None)
    top = type(model).__module__.split(".")[0]
    own = {"sklearn": ("scikit-learn",), "xgboost": ("xgboost",), "lightgbm": ("lightgbm",)}.get(
        top, ()
    )
    kind = "function" if hasattr(model, "__name__") else type(model).__name__
    return Saved(model, kind, columns, number, packages or own)


def _unpickled(name: str) -> Saved:
    import joblib

    return _fitted(joblib.load(name), name)


def _xgboost(name: str) -> Saved:
    import xgboost

    booster = xgboost.Booster(model_file=name)
    columns = None if booster.feature_names is None else tuple(booster.feature_names)

    def predict(rows):
        return booster.inplace_predict(np.asarray(rows, np.float32), validate_features=False)

    return Saved(
        booster, "XGBoost model", columns, booster.num_features(), ("xgboost",), Host(predict)
    )


def _lightgbm(name: str) -> Saved:
    import lightgbm

    booster = lightgbm.Booster(model_file=name)
    columns = tuple(booster.feature_name())
    known = None if all(map(GENERIC.fullmatch, columns)) else columns
    return Saved(
        booster, "LightGBM model", known, len(columns), ("lightgbm",), Host(booster.predict)
    )


def _onnx(name: str) -> Saved:
    predict, number = read_onnx(name)
    return Saved(predict, "ONNX model", None, number, ("onnxruntime",))


READERS = {
    ".joblib": _unpickled,
    ".pkl": _unpickled,
    ".json": _xgboost,
    ".ubj": _xgboost,
    ".txt": _lightgbm,
    ".onnx": _onnx,
}
KINDS = {
    ".joblib": "a pickled model",
    ".pkl": "a pickled model",
    ".json": "an XGBoost model",
    ".ubj": "an XGBoost model",
    ".txt": "a LightGBM model",
    ".onnx": "an ONNX model",
}
EXTRAS = {
    "joblib": '"jaxshap[examples]"',
    "sklearn": '"jaxshap[examples]"',
    "xgboost": '"jaxshap[trees]"',
    "lightgbm": '"jaxshap[trees]"',
}
