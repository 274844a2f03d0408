"""Fitted estimators as functions of rows: which of their methods predicts, and what to say where it
cannot.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.errors import ModelOutputError, UnsupportedModelError

METHODS = ("predict_proba", "inplace_predict", "predict")  # inplace_predict: native XGBoost
SCORES = ("decision_function", "score_samples")  # of outlier detectors and support vectors


class Prediction(NamedTuple):
    """How an estimator predicts, and the names of its outputs where it has them."""

    method: Callable
    output_names: tuple[str, ...] | None = None
    function: str | None = None  # the name of what it predicts, where that is no usual prediction


def has_prediction(model: Any) -> bool:
    """Whether a fitted estimator can say something about rows."""
    return any(hasattr(model, name) for name in (*METHODS, SCORES[0]))


def read_prediction(model: Any) -> Prediction:
    """Probabilities where there are any, then scores rather than labels, then the prediction."""
    names = class_names(model)
    if hasattr(model, "predict_proba"):
        if hasattr(model, "order_"):  # a chain: one column per target
            return Prediction(model.predict_proba)
        return Prediction(_side_by_side(model.predict_proba), names)
    if hasattr(model, SCORES[0]):
        known = None if names is None or len(names) < 3 else names
        return Prediction(model.decision_function, known, SCORES[0])
    if _votes(model):
        return Prediction(_vote_shares(model), names, "share of votes")
    return Prediction(next(getattr(model, name) for name in METHODS[1:] if hasattr(model, name)))


def estimator_call(model: Any, method: Callable) -> Callable:
    """The method of an estimator; what fails or returns labels says what to do instead."""
    if model is None or (not hasattr(model, "fit") and not hasattr(model, "predict")):
        return method

    @functools.wraps(method)
    def call(rows: Any) -> Any:
        try:
            outputs = method(rows)
        except Exception as error:
            check_fitted(model, error)
            raise
        _check_scores(model, outputs)
        return outputs

    return call


def check_fitted(model: Any, error: Exception | None) -> None:
    """Asked only where a model fails: an estimator without any state may predict unfitted."""
    if not _is_fitted(model):
        name = type(model).__name__
        raise UnsupportedModelError(f"this {name} cannot predict yet: fit it first.") from error


def class_names(model: Any) -> tuple[str, ...] | None:
    """The classes of a model; those of several targets with the number of their target."""
    classes: Any = getattr(model, "classes_", None)
    if isinstance(classes, list) and len(classes) and np.ndim(classes[0]) == 1:
        return tuple(f"{target}: {name}" for target, names in enumerate(classes) for name in names)
    return None if classes is None else tuple(map(str, classes))


def _side_by_side(method: Callable) -> Callable:
    """The probabilities of several targets, which come as a list, as columns of one table."""

    @functools.wraps(method)
    def call(rows: Any) -> Any:
        outputs = method(rows)
        return np.concatenate(outputs, axis=1) if isinstance(outputs, list) else outputs

    return call


def _last_step(model: Any) -> Any:
    """What predicts at the end of searches and pipelines."""
    if hasattr(model, "best_estimator_"):
        return _last_step(model.best_estimator_)
    steps = getattr(model, "steps", None)
    return _last_step(steps[-1][1]) if steps else model


def _votes(model: Any) -> bool:
    """Whether it is an ensemble whose members vote for classes."""
    return getattr(_last_step(model), "voting", None) == "hard" and hasattr(model, "transform")


def _vote_shares(model: Any) -> Callable:
    """What share of the members votes for each class, by their weights."""
    weights = getattr(_last_step(model), "_weights_not_none", None)

    def shares(rows: Any) -> np.ndarray:
        votes = np.asarray(model.transform(rows))  # (rows, members), numbers of classes
        chosen = votes[..., None] == np.arange(len(model.classes_))
        return np.average(chosen, axis=1, weights=weights)

    return shares


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
    """Labels of a classifier or an outlier detector are no quantities, though they be numbers."""
    if isinstance(outputs, list) or np.asarray(outputs).dtype.kind not in "biuUSO":
        return
    scores = [f"model.{name}" for name in ("predict_proba", *SCORES) if hasattr(model, name)]
    if scores or hasattr(model, "classes_"):
        remedy = f"pass its score, {' or '.join(scores)}" if scores else "take one with a score"
        raise ModelOutputError(
            f"{type(model).__name__} predicts labels, and Shapley values share out a number: "
            f"{remedy}."
        )
