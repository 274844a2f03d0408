"""The list of readers: a further tree library is one file beside this one and one line here."""

from typing import Any

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.readers import (
    catboost_trees,
    lightgbm_trees,
    sklearn_boosting,
    sklearn_forests,
    sklearn_histograms,
    xgboost_trees,
)
from jaxshap.trees.readers.reader import Reader

READERS = (
    sklearn_forests.READER,
    sklearn_boosting.READER,
    sklearn_histograms.READER,
    xgboost_trees.READER,
    lightgbm_trees.READER,
    catboost_trees.READER,
)


def is_tree_model(model: Any) -> bool:
    """Whether `read_trees` knows models of this class, with options like these."""
    reader = _find(model)
    return reader is not None and reader.is_exact(model)


def read_trees(model: Any) -> Ensemble:
    """Read the trees of a fitted scikit-learn, XGBoost, LightGBM or CatBoost model.

    Their sum is the raw margin of the model: log-odds or log-rates where the model has a link. For
    scikit-learn's trees and forests it is the prediction itself, or the probability of each class.
    No library is imported; what cannot be read exactly is refused by name.

    Args:
        model: the fitted model, either a scikit-learn estimator of one of these libraries or a
            native XGBoost or LightGBM Booster.

    Returns:
        The trees as an `Ensemble`, for `path_dependent`, `interventional` and their interactions.

    Raises:
        UnsupportedModelError: if the model is of another kind, is not fitted, or has an option
            that is not read.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> jaxshap.trees.base_margin(trees).tolist()
        [1.0]
    """
    reader = reader_of(model)
    if not reader.is_fitted(model):
        raise UnsupportedModelError(f"this {type(model).__name__} has no trees yet: fit it first.")
    return reader.read(model)


def reader_of(model: Any) -> Reader:
    """The reader of models of this class."""
    reader = _find(model)
    if reader is None:
        known = ", ".join(reader.family for reader in READERS)
        raise UnsupportedModelError(
            f"{type(model).__name__} is not a tree model that is known here. Known are {known}."
        )
    return reader


def _find(model: Any) -> Reader | None:
    return next((reader for reader in READERS if reader.recognises(model)), None)
