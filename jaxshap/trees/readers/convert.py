"""Fitted tree ensembles of other libraries as an `Ensemble`, read from the object or its dump,
nothing imported.
"""

import json
import pathlib
import tempfile
from typing import Any

import numpy as np

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble


def is_tree_model(model: Any) -> bool:
    """Whether `read_trees` reads models of this class."""
    return _reader(model) is not None


def read_trees(model: Any) -> Ensemble:
    """The trees of a fitted scikit-learn, XGBoost, LightGBM or CatBoost model; their sum is its raw
    margin.

    For scikit-learn's trees and forests the margin is the prediction itself, or the probability of
    each class.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> trees = jaxshap.trees.read_trees(DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0]))
        >>> jaxshap.trees.base_margin(trees).tolist()
        [1.0]
    """
    reader = _reader(model)
    if reader is None:
        raise UnsupportedModelError(
            f"{type(model).__name__} is not a tree model that is known here. Known are scikit-learn's trees, forests, "
            "extra trees, (histogram) gradient boosting, XGBoost's gbtree, LightGBM's gbdt and CatBoost."
        )
    return reader(model)


def _reader(model: Any):
    module, name = type(model).__module__.split(".")[0], type(model).__name__
    if module == "sklearn":
        if name.startswith("HistGradientBoosting"):
            return _hist_boosting
        if name.startswith("GradientBoosting"):
            return _boosting
        if name.startswith(("RandomForest", "ExtraTrees", "DecisionTree", "ExtraTree")):
            return _forest
    if module == "xgboost" and name.startswith(("XGB", "Booster")):
        return _xgboost
    if module == "lightgbm" and name.startswith(("LGBM", "Booster")):
        return _lightgbm
    if module == "catboost" and name.startswith("CatBoost"):
        return _catboost
    return None


def _forest(model: Any) -> Ensemble:
    if getattr(model, "n_outputs_", 1) > 1 and hasattr(model, "classes_"):
        raise UnsupportedModelError(
            "classifiers of several outputs are not read: explain one classifier for each output."
        )
    members = model.estimators_ if hasattr(model, "estimators_") else [model]
    trees = []
    for member in members:
        tree = member.tree_
        value = tree.value[:, 0, :] if hasattr(model, "classes_") else tree.value[:, :, 0]
        if hasattr(model, "classes_"):
            value = value / value.sum(1, keepdims=True)
        output = 0 if value.shape[1] == 1 else None
        trees.append(_sklearn_tree(tree, value / len(members), output))
    return make_ensemble(
        trees, np.zeros(trees[0].value.shape[1]), model.n_features_in_, input_dtype=np.float32
    )


def _boosting(model: Any) -> Ensemble:
    if model.init is not None and model.init != "zero":
        raise UnsupportedModelError(
            "gradient boosting with an `init` estimator is not a sum of trees: leave `init` at its default."
        )
    base = np.asarray(
        model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32)), float
    ).reshape(-1)
    trees = [
        _sklearn_tree(member.tree_, member.tree_.value[:, 0] * model.learning_rate, output)
        for stage in model.estimators_
        for output, member in enumerate(stage)
    ]
    link = "logit" if len(base) == 1 and hasattr(model, "classes_") else "identity"
    return make_ensemble(trees, base, model.n_features_in_, input_dtype=np.float32, link=link)


def _sklearn_tree(tree: Any, value, output: int | None) -> Tree:
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, bool))
    arrays = tree.children_left, tree.children_right, tree.feature, tree.threshold
    return Tree(*arrays, missing.astype(bool), tree.weighted_n_node_samples, value, output)


def _hist_boosting(model: Any) -> Ensemble:
    base = np.asarray(model._baseline_prediction, float).reshape(-1)
    columns, known = _hist_columns(model)
    trees = [
        _hist_tree(predictor, output, columns, known)
        for stage in model._predictors
        for output, predictor in enumerate(stage)
    ]
    link = "logit" if len(base) == 1 and hasattr(model, "classes_") else "identity"
    return make_ensemble(trees, base, model.n_features_in_, link=link)


def _hist_columns(model: Any) -> tuple[np.ndarray, dict[int, list[int]]]:
    """The feature behind each column the trees see, and the categories behind the codes of a
    categorical one.
    """
    features = np.arange(model.n_features_in_)
    if getattr(model, "_preprocessor", None) is None:
        return features, {}
    categorical = np.flatnonzero(model.is_categorical_)
    columns = np.concatenate(
        [categorical, np.flatnonzero(~model.is_categorical_)]
    )  # it moves them to the front
    encoder = model._preprocessor.named_transformers_["encoder"]
    known = {}
    for column, categories in enumerate(encoder.categories_):
        present = [
            category
            for category in categories
            if not (isinstance(category, float) and np.isnan(category))
        ]
        if not all(
            isinstance(category, (int, float, np.number)) and float(category).is_integer()
            for category in present
        ):
            raise UnsupportedModelError(
                "categories of histogram gradient boosting must be integers here: encode them so before fitting."
            )
        known[column] = [int(category) for category in present]
    return columns, known


def _hist_tree(
    predictor: Any, output: int, columns: np.ndarray, known: dict[int, list[int]]
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    column, threshold = nodes["feature_idx"].astype(np.int64), nodes["num_threshold"].astype(float)
    missing_left, cover = nodes["missing_go_to_left"].astype(bool), nodes["count"].astype(float)
    categories = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        all_of_them = known[int(column[node])]
        inside = {
            category
            for code, category in enumerate(all_of_them)
            if words[code // 32] >> (code % 32) & 1
        }
        if missing_left[
            node
        ]:  # an unknown category goes with what is missing: name those on the other side
            left[node], right[node] = right[node], left[node]
            inside, missing_left[node] = set(all_of_them) - inside, False
        categories[int(node)] = frozenset(inside)
    value = nodes["value"][:, None]
    return Tree(
        left, right, columns[column], threshold, missing_left, cover, value, output, categories
    )


def _xgboost(model: Any) -> Ensemble:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(booster.save_raw("json").decode())["learner"]
    if (name := learner["gradient_booster"]["name"]) != "gbtree":
        raise UnsupportedModelError(
            f"XGBoost's booster {name!r} is not read: use booster='gbtree'."
        )
    parameters, objective = learner["learner_model_param"], learner["objective"]["name"]
    outputs = max(1, int(parameters["num_class"]), int(parameters.get("num_target", 1)))
    base = np.atleast_1d(np.asarray(json.loads(parameters["base_score"]), float))
    link = "identity"
    if objective.startswith("binary:") or objective == "reg:logistic":
        base, link = np.log(base / (1 - base)), "logit"
    elif objective in ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"):
        base, link = np.log(base), "log"
    content = learner["gradient_booster"]["model"]
    trees = [
        _xgboost_tree(tree, output)
        for tree, output in zip(content["trees"], content["tree_info"], strict=True)
    ]
    return make_ensemble(
        trees,
        np.broadcast_to(base, outputs).copy(),
        int(parameters["num_feature"]),
        input_dtype=np.float32,
        link=link,
    )


def _xgboost_tree(tree: dict, output: int) -> Tree:
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise UnsupportedModelError(
            "XGBoost's vector leaves are not read: use multi_strategy='one_output_per_tree'."
        )
    left = np.asarray(tree["left_children"])
    conditions = np.asarray(tree["split_conditions"], np.float32)
    below = np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)  # x < t, for float32 x
    categories = {}
    segments = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    missing_left = np.asarray(tree["default_left"], bool)
    left, right = left.copy(), np.asarray(tree["right_children"]).copy()
    for node, start, size in segments:  # those listed go right: turn the node round
        categories[node] = frozenset(tree["categories"][start : start + size])
        left[node], right[node] = right[node], left[node]
        missing_left[node] = not missing_left[node]
    value = np.where(left < 0, conditions, 0)[:, None].astype(float)
    feature, cover = np.asarray(tree["split_indices"]), np.asarray(tree["sum_hessian"], np.float64)
    return Tree(left, right, feature, below, missing_left, cover, value, int(output), categories)


def _lightgbm(model: Any) -> Ensemble:
    booster = model.booster_ if hasattr(model, "booster_") else model
    dump = booster.dump_model()
    if dump.get("average_output"):
        raise UnsupportedModelError("LightGBM's boosting_type='rf' is not read: use 'gbdt'.")
    outputs = dump["num_tree_per_iteration"]
    trees = [
        _lightgbm_tree(tree, number % outputs) for number, tree in enumerate(dump["tree_info"])
    ]
    link = "logit" if dump.get("objective", "").startswith("binary") else "identity"
    return make_ensemble(trees, np.zeros(outputs), dump["max_feature_idx"] + 1, link=link)


def _lightgbm_tree(tree: dict, output: int) -> Tree:
    rows: list[Any] = []
    categories = {}
    waiting = [(tree["tree_structure"], None, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        number = len(rows)
        if parent is not None:
            rows[parent][side] = number
        if "leaf_value" in node:
            rows.append(
                [-1, -1, 0, 0.0, False, float(node.get("leaf_count", 1)), node["leaf_value"]]
            )
            continue
        threshold, missing_left = _lightgbm_split(node)
        if node["decision_type"] == "==":
            categories[number] = frozenset(int(part) for part in str(node["threshold"]).split("||"))
        rows.append(
            [
                0,
                0,
                node["split_feature"],
                threshold,
                missing_left,
                float(node["internal_count"]),
                0.0,
            ]
        )
        waiting += [(node["left_child"], number, 0), (node["right_child"], number, 1)]
    left, right, feature, threshold, missing_left, cover, value = map(
        np.asarray, zip(*rows, strict=True)
    )
    return Tree(
        left,
        right,
        feature,
        threshold,
        missing_left.astype(bool),
        cover,
        value[:, None],
        output,
        categories,
    )


def _lightgbm_split(node: dict) -> tuple[float, bool]:
    if node["decision_type"] == "==":
        return 0.0, False  # what is missing is in no category
    if node["missing_type"] == "Zero":
        raise UnsupportedModelError(
            "LightGBM's zero_as_missing=True is not read: fit with the default."
        )
    threshold = float(node["threshold"])
    return threshold, bool(node["default_left"]) if node[
        "missing_type"
    ] == "NaN" else threshold >= 0


def _catboost(model: Any) -> Ensemble:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.json")
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text())
    if "oblivious_trees" not in dump:
        raise UnsupportedModelError(
            "CatBoost's trees that are not symmetric are not read: use grow_policy='SymmetricTree'."
        )
    if dump["features_info"].get("categorical_features"):
        raise UnsupportedModelError(
            "CatBoost's categorical features are not read, since it codes them by their targets."
        )
    scale, base = dump["scale_and_bias"]
    columns = dump["features_info"]["float_features"]
    features = np.array([column["flat_feature_index"] for column in columns])
    missing_left = np.array([column["nan_value_treatment"] != "AsTrue" for column in columns])
    trees = [
        _catboost_tree(tree, features, missing_left, scale) for tree in dump["oblivious_trees"]
    ]
    link = "logit" if len(base) == 1 and len(getattr(model, "classes_", ())) == 2 else "identity"
    return make_ensemble(
        trees, np.asarray(base, float), int(features.max()) + 1, input_dtype=np.float32, link=link
    )


def _catboost_tree(
    tree: dict, features: np.ndarray, missing_left: np.ndarray, scale: float
) -> Tree:
    """A symmetric tree as a heap, last split on top: every node of a level asks the same, and right
    is a bit more.
    """
    splits = tree["splits"][::-1]
    depth, inner = len(splits), 2 ** len(splits) - 1
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    column = np.array([split["float_feature_index"] for split in splits], int)[level]
    border = np.array([split["border"] for split in splits], float)[level]
    value = np.asarray(tree["leaf_values"], float).reshape(2**depth, -1) * scale
    cover = np.concatenate([np.zeros(inner), np.asarray(tree["leaf_weights"], float)])
    for node in range(inner - 1, -1, -1):
        cover[node] = cover[2 * node + 1] + cover[2 * node + 2]
    none = np.full(2**depth, -1)
    left, right = (np.concatenate([2 * np.arange(inner) + side, none]) for side in (1, 2))
    feature, threshold, missing = (
        np.append(part, np.zeros(2**depth, part.dtype))
        for part in (features[column], border, missing_left[column])
    )
    values = np.concatenate([np.zeros((inner, value.shape[1])), value])
    return Tree(
        left, right, feature, threshold, missing, cover, values, 0 if value.shape[1] == 1 else None
    )
