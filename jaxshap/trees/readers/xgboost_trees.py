"""XGBoost's trees, read from the JSON text of the booster."""

import itertools
import json
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.columns import Columns
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.structure import Conversion

LINKS = {
    "reg:logistic": "logit",
    "binary:logistic": "logit",
    "binary:logitraw": "logit",
    "binary:hinge": "hinge",
    "multi:softmax": "softmax",
    "multi:softprob": "softmax",
    "count:poisson": "log",
    "reg:gamma": "log",
    "reg:tweedie": "log",
    "survival:cox": "log",
    "survival:aft": "log",
}
MARGIN_BASES = "binary:logitraw", "binary:hinge"  # whose base score is a margin already


def _read(model: Any) -> Ensemble:
    booster = _booster(model)
    learner = json.loads(booster.save_raw("json").decode())["learner"]
    parameters = learner["learner_model_param"]
    outputs = max(1, int(parameters["num_class"]), int(parameters.get("num_target", 1)))
    scores = np.atleast_1d(np.asarray(json.loads(parameters["base_score"]), np.float32))
    base = _base_margin(scores, learner["objective"]["name"])
    content, weights = _content(learner["gradient_booster"])
    used = _num_trees_used(model, content)
    trees = [
        _tree(tree, output, weight)
        for tree, output, weight in zip(
            content["trees"][:used], content["tree_info"][:used], weights[:used], strict=True
        )
    ]
    missing = getattr(model, "missing", None)  # a Booster leaves it to its DMatrix
    conversion = Conversion(
        dtype=np.float32,
        missing=float("nan" if missing is None else missing),
        category="floor",
        columns=_columns(booster, content),
    )
    return make_ensemble(
        trees,
        np.broadcast_to(base, outputs).copy(),
        int(parameters["num_feature"]),
        conversion=conversion,
        link=LINKS.get(learner["objective"]["name"], "identity"),
    )


def _base_margin(
    scores: Float[np.ndarray, "scores"], objective: str
) -> Float[np.ndarray, "scores"]:
    """Base scores as margins, in float32 as XGBoost does it."""
    link = "identity" if objective in MARGIN_BASES else LINKS.get(objective, "identity")
    one = np.float32(1)
    if link == "logit":
        return -np.log(one / scores - one).astype(np.float64)
    return (np.log(scores) if link == "log" else scores).astype(np.float64)


def _content(booster: dict[str, Any]) -> tuple[dict[str, Any], list[float]]:
    """The trees of a booster and the weight of each, which only those that drop trees have.

    XGBoost 3.4 stores such a booster, once called dart, as a gbtree with weights.
    """
    if booster["name"] == "dart":
        return booster["gbtree"]["model"], booster["weight_drop"]
    if booster["name"] != "gbtree":
        raise UnsupportedModelError(
            f"XGBoost's booster {booster['name']!r} is not read: use booster='gbtree' or 'dart'."
        )
    content = booster["model"]
    return content, content.get("weight_drop") or [1.0] * len(content["trees"])


def _num_trees_used(model: Any, content: dict[str, Any]) -> int:
    """How many trees `predict` sums: those of an estimator end at its best iteration."""
    best = getattr(model, "best_iteration", None) if hasattr(model, "get_booster") else None
    return len(content["trees"]) if best is None else content["iteration_indptr"][best + 1]


def _columns(booster: Any, content: dict[str, Any]) -> Columns:
    """Names of columns, and the labels of those that were of dtype category."""
    encoded = [labels for labels in content.get("cats", {}).get("enc", ()) if labels["values"]]
    return Columns(
        names=tuple(booster.feature_names or ()),
        labels=tuple(map(_labels, encoded)),
        refuses_unknown=True,  # which XGBoost 3.2 takes for another label
    )


def _labels(encoded: dict[str, Any]) -> list[Any]:
    """Numbers as they are; text is stored as bytes with the places where each label begins."""
    if "offsets" not in encoded:
        return encoded["values"]
    content, places = bytes(value % 256 for value in encoded["values"]), encoded["offsets"]
    return [content[start:stop].decode() for start, stop in itertools.pairwise(places)]


def _tree(tree: dict[str, Any], output: int, weight: float) -> Tree:
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise UnsupportedModelError(
            "XGBoost's vector leaves are not read: use multi_strategy='one_output_per_tree'."
        )
    left, right = (np.array(tree[side]) for side in ("left_children", "right_children"))
    missing_left = np.array(tree["default_left"], bool)
    conditions = np.asarray(tree["split_conditions"], np.float32)  # thresholds and leaf values
    segments = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    categories = {}
    for node, start, size in segments:  # the listed categories go right: swap the children
        categories[node] = frozenset(tree["categories"][start : start + size])
        left[node], right[node] = right[node], left[node]
        missing_left[node] = not missing_left[node]
    return Tree(
        left=left,
        right=right,
        feature=np.asarray(tree["split_indices"]),
        threshold=np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),  # x < t
        missing_left=missing_left,
        cover=np.asarray(tree["sum_hessian"], np.float64),
        value=np.where(left < 0, conditions, 0)[:, None].astype(np.float64) * weight,
        output=output,
        categories=categories,
    )


def _booster(model: Any) -> Any:
    return model.get_booster() if hasattr(model, "get_booster") else model


def _is_fitted(model: Any) -> bool:
    """Whether there is a trained booster: to ask about any other is an error in XGBoost."""
    try:
        return _booster(model).num_features() > 0
    except ValueError:
        return False


def _raw_prediction(model: Any, rows: Any) -> Any:
    if hasattr(model, "get_booster"):
        return model.predict(rows, output_margin=True)
    return model.inplace_predict(rows, predict_type="margin", validate_features=False)


READER = Reader(
    family="XGBoost's gbtree and dart",
    recognises=lambda model: comes_from(model, "xgboost", "XGB", "Booster"),
    is_fitted=_is_fitted,
    read=_read,
    raw_prediction=_raw_prediction,
    sum_dtype=np.float32,
)
