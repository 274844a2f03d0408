"""Fitted estimators as functions of rows: which of their methods predicts, and what to say where it
cannot.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxshap.errors import InputTypeError, ModelOutputError, UnsupportedModelError

METHODS = ("predict_proba", "inplace_predict", "predict")  # inplace_predict: native XGBoost
SCORES = ("decision_function", "score_samples")  # of outlier detectors and support vectors


def prediction_method(model: Any) -> Callable:
    """The method that gives numbers for rows: probabilities where there are any."""
    found = [getattr(model, name) for name in METHODS if hasattr(model, name)]
    if not found:
        _check_fitted(model, None)
        raise InputTypeError(
            "a model is a function of rows or has predict or predict_proba: "
            f"{type(model).__name__} is not."
        )
    return found[0]


def estimator_call(model: Any, method: Callable) -> Callable:
    """The method of an estimator; what fails or returns labels says what to do instead."""
    if model is None or (not hasattr(model, "fit") and not hasattr(model, "predict")):
        return method

    @functools.wraps(method)
    def call(rows: Any) -> Any:
        try:
            outputs = method(rows)
        except Exception as error:
            _check_fitted(model, error)
            raise
        _check_scores(model, outputs)
        return outputs

    return call


def _check_fitted(model: Any, error: Exception | None) -> None:
    """Asked only where a model fails: an estimator without any state may predict unfitted."""
    if not _is_fitted(model):
        name = type(model).__name__
        raise UnsupportedModelError(f"this {name} cannot predict yet: fit it first.") from error


def _is_fitted(model: Any) -> bool:
    for name in ("num_boosted_rounds", "__sklearn_is_fitted__", "is_fitted"):
        if callable(says := getattr(model, name, None)):
            try:
                return bool(says())
            except Exception:  # a native XGBoost model without trees cannot even say so
                return False
    validation = sys.modules.get("sklearn.utils.validation")  # imported by whoever made the model
    if validation is None or not hasattr(model, "get_params"):
        return True
    try:
        validation.check_is_fitted(model)
    except ValueError:  # NotFittedError is one
        return False
    return True


def _check_scores(model: Any, outputs: Any) -> None:
    scores = [f"model.{name}" for name in SCORES if hasattr(model, name)]
    if scores and np.asarray(outputs).dtype.kind in "biuUSO":
        raise ModelOutputError(
            f"{type(model).__name__} predicts labels, and Shapley values share out a number: pass "
            f"its score, {' or '.join(scores)}."
        )
