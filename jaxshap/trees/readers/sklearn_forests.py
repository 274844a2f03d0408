"""scikit-learn's decision trees, random forests and extra trees."""

from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.columns import Columns
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.structure import Conversion

NAMES = "RandomForest", "ExtraTrees", "DecisionTree", "ExtraTree", "IsolationForest"


def sklearn_tree(
    tree: Any, value: Float[np.ndarray, "nodes leaf_outputs"], output: int | None
) -> Tree:
    """The `tree_` of a decision tree, with the leaf values that it has in its ensemble."""
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return Tree(
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        missing_left=missing_left.astype(bool),
        cover=tree.weighted_n_node_samples,
        value=value,
        output=output,
    )


def sklearn_columns(model: Any) -> Columns:
    """Names of the columns that an estimator was fitted with, where they had names."""
    return Columns(tuple(map(str, getattr(model, "feature_names_in_", ()))))


def _read(model: Any) -> Ensemble:
    if comes_from(model, "sklearn", "IsolationForest"):
        raise UnsupportedModelError(
            "the score of an IsolationForest is not a sum over its trees: explain the score "
            "itself with jaxshap.explain(model.score_samples, X, background)."
        )
    is_classifier = hasattr(model, "classes_")
    if is_classifier and model.n_outputs_ > 1:
        raise UnsupportedModelError(
            "classifiers of several outputs are not read: fit and explain a classifier per output."
        )
    members = getattr(model, "estimators_", [model])
    trees = []
    for member in members:
        value = member.tree_.value[:, 0, :] if is_classifier else member.tree_.value[:, :, 0]
        if is_classifier:
            value = value / value.sum(1, keepdims=True)
        output = 0 if value.shape[1] == 1 else None
        trees.append(sklearn_tree(member.tree_, value / len(members), output))
    base = np.zeros(trees[0].value.shape[1])
    conversion = Conversion(dtype=np.float32, columns=sklearn_columns(model))
    return make_ensemble(trees, base, model.n_features_in_, conversion=conversion)


def _raw_prediction(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)


READER = Reader(
    family="scikit-learn's trees, forests and extra trees",
    recognises=lambda model: comes_from(model, "sklearn", *NAMES),
    is_fitted=lambda model: hasattr(model, "tree_") or hasattr(model, "estimators_"),
    read=_read,
    raw_prediction=_raw_prediction,
)
