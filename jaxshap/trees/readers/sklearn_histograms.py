"""scikit-learn's histogram gradient boosting, with categories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.readers.sklearn_boosting import sklearn_link, sklearn_margin
from jaxshap.trees.readers.sklearn_forests import sklearn_columns
from jaxshap.trees.structure import Conversion


def _read(model: Any) -> Ensemble:
    base = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    features, labels = _columns(model)
    numbers = [_numbers(of_column) for of_column in labels]
    trees = [
        _tree(predictor, output, features, numbers)
        for stage in model._predictors
        for output, predictor in enumerate(stage)
    ]
    is_text = [not all(isinstance(label, int | float) for label in known) for known in labels]
    columns = sklearn_columns(model)._replace(
        labels=tuple(known for known, text in zip(labels, is_text, strict=True) if text),
        labelled=tuple(int(place) for place in features[: len(labels)][is_text]),
    )
    link, conversion = sklearn_link(model, len(base)), Conversion(columns=columns)
    return make_ensemble(trees, base, model.n_features_in_, conversion=conversion, link=link)


def _columns(model: Any) -> tuple[Int[np.ndarray, "columns"], list[list[Any]]]:
    """The feature behind each column that the trees see, and the labels behind its codes.

    Categorical columns come first, and their labels are in the order of the codes, without NaN.
    """
    if getattr(model, "_preprocessor", None) is None:
        return np.arange(model.n_features_in_), []
    categorical, numeric = map(np.flatnonzero, (model.is_categorical_, ~model.is_categorical_))
    encoder = model._preprocessor.named_transformers_["encoder"]
    labels = [
        [label for label in np.asarray(known).tolist() if label == label and label is not None]
        for known in encoder.categories_
    ]
    return np.concatenate([categorical, numeric]), labels


def _numbers(labels: Sequence[Any]) -> list[int]:
    """The numbers that stand for the labels of a column: whole numbers themselves, text by code."""
    if not all(isinstance(label, int | float) for label in labels):
        return list(range(len(labels)))
    if not all(float(label).is_integer() for label in labels):
        raise UnsupportedModelError(
            "categories of histogram gradient boosting must be integers or text here: encode them "
            "as such before fitting."
        )
    return [int(label) for label in labels]


def _tree(
    predictor: Any,
    output: int,
    features: Int[np.ndarray, "columns"],
    known: Sequence[list[int]],
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
    raw_prediction=sklearn_margin,
)
