"""scikit-learn's decision trees, random forests and extra trees."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

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
    counts = np.atleast_1d(getattr(model, "n_classes_", 0))
    members = getattr(model, "estimators_", [model])
    trees = []
    for member in members:
        value = member.tree_.value
        value = _class_shares(value, counts) if is_classifier else value[:, :, 0]
        output = 0 if value.shape[1] == 1 else None
        trees.append(sklearn_tree(member.tree_, value / len(members), output))
    base = np.zeros(trees[0].value.shape[1])
    conversion = Conversion(dtype=np.float32, columns=sklearn_columns(model))
    return make_ensemble(trees, base, model.n_features_in_, conversion=conversion)


def _class_shares(
    value: Float[np.ndarray, "nodes targets classes"], num_classes: Int[np.ndarray, "targets"]
) -> Float[np.ndarray, "nodes leaf_outputs"]:
    """The share of each class in each node, those of several targets side by side."""
    counts = enumerate(num_classes)
    of_target = [value[:, target, :count] for target, count in counts]  # the rest is padding
    return np.concatenate([part / part.sum(1, keepdims=True) for part in of_target], axis=1)


def _raw_prediction(model: Any, rows: Any) -> Any:
    if not hasattr(model, "classes_"):
        return model.predict(rows)
    shares = model.predict_proba(rows)
    return np.concatenate(shares, axis=1) if isinstance(shares, list) else shares


READER = Reader(
    family="scikit-learn's trees, forests and extra trees",
    recognises=lambda model: comes_from(model, "sklearn", *NAMES),
    is_fitted=lambda model: hasattr(model, "tree_") or hasattr(model, "estimators_"),
    read=_read,
    raw_prediction=_raw_prediction,
)
