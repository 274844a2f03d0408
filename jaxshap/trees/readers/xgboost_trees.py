"""XGBoost's trees, read from the JSON text of the booster."""

import json
from typing import Any

import numpy as np

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from

LOG_OBJECTIVES = "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"


def _read(model: Any) -> Ensemble:
    learner = json.loads(_booster(model).save_raw("json").decode())["learner"]
    if (name := learner["gradient_booster"]["name"]) != "gbtree":
        raise UnsupportedModelError(
            f"XGBoost's booster {name!r} is not read: use booster='gbtree'."
        )
    parameters, objective = learner["learner_model_param"], learner["objective"]["name"]
    outputs = max(1, int(parameters["num_class"]), int(parameters.get("num_target", 1)))
    base = np.atleast_1d(np.asarray(json.loads(parameters["base_score"]), np.float64))
    link = "identity"
    if objective.startswith("binary:") or objective == "reg:logistic":
        base, link = np.log(base / (1 - base)), "logit"
    elif objective in LOG_OBJECTIVES:
        base, link = np.log(base), "log"
    content = learner["gradient_booster"]["model"]
    trees = [
        _tree(tree, output)
        for tree, output in zip(content["trees"], content["tree_info"], strict=True)
    ]
    return make_ensemble(
        trees,
        np.broadcast_to(base, outputs).copy(),
        int(parameters["num_feature"]),
        input_dtype=np.float32,
        link=link,
    )


def _tree(tree: dict[str, Any], output: int) -> Tree:
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
        value=np.where(left < 0, conditions, 0)[:, None].astype(np.float64),
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


READER = Reader(
    family="XGBoost's gbtree",
    recognises=lambda model: comes_from(model, "xgboost", "XGB", "Booster"),
    is_fitted=_is_fitted,
    read=_read,
)
