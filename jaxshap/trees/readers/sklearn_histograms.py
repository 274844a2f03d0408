"""scikit-learn's histogram gradient boosting, with categories."""

from typing import Any

import numpy as np
from jaxtyping import Int

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from


def _read(model: Any) -> Ensemble:
    base = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    features, categories = _columns(model)
    trees = [
        _tree(predictor, output, features, categories)
        for stage in model._predictors
        for output, predictor in enumerate(stage)
    ]
    link = "logit" if len(base) == 1 and hasattr(model, "classes_") else "identity"
    return make_ensemble(trees, base, model.n_features_in_, link=link)


def _columns(model: Any) -> tuple[Int[np.ndarray, "columns"], dict[int, list[int]]]:
    """The feature behind each column that the trees see, and the categories behind its codes."""
    if getattr(model, "_preprocessor", None) is None:
        return np.arange(model.n_features_in_), {}
    categorical, numeric = map(np.flatnonzero, (model.is_categorical_, ~model.is_categorical_))
    encoder = model._preprocessor.named_transformers_["encoder"]
    categories = {column: _integers(known) for column, known in enumerate(encoder.categories_)}
    return np.concatenate([categorical, numeric]), categories  # categorical ones come first


def _integers(categories: np.ndarray) -> list[int]:
    """The categories of a column without NaN, in the order of their codes."""
    present = [entry for entry in categories if not (isinstance(entry, float) and np.isnan(entry))]
    if not all(
        isinstance(entry, int | float | np.number) and float(entry).is_integer()
        for entry in present
    ):
        raise UnsupportedModelError(
            "categories of histogram gradient boosting must be integers here: encode them as such "
            "before fitting."
        )
    return [int(entry) for entry in present]


def _tree(
    predictor: Any,
    output: int,
    features: Int[np.ndarray, "columns"],
    known: dict[int, list[int]],
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    column = nodes["feature_idx"].astype(np.int64)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    categories = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        every = known[int(column[node])]
        inside = {
            category for code, category in enumerate(every) if words[code // 32] >> (code % 32) & 1
        }
        if missing_left[node]:  # unknown categories go with missing values: name the other side
            left[node], right[node] = right[node], left[node]
            inside, missing_left[node] = set(every) - inside, False
        categories[int(node)] = frozenset(inside)
    return Tree(
        left=left,
        right=right,
        feature=features[column],
        threshold=nodes["num_threshold"].astype(np.float64),
        missing_left=missing_left,
        cover=nodes["count"].astype(np.float64),
        value=nodes["value"][:, None],
        output=output,
        categories=categories,
    )


READER = Reader(
    family="its histogram gradient boosting",
    recognises=lambda model: comes_from(model, "sklearn", "HistGradientBoosting"),
    is_fitted=lambda model: hasattr(model, "_predictors"),
    read=_read,
)
