"""LightGBM's trees, read from the dump of the booster."""

from typing import Any

import numpy as np

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.columns import Columns
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.structure import Conversion

LINKS = {
    "poisson": "log",
    "gamma": "log",
    "tweedie": "log",
    "binary": "logit",
    "cross_entropy": "logit",
    "cross_entropy_lambda": "inverse softplus",
    "multiclass": "softmax",
    "multiclassova": "logit",
}


def _read(model: Any) -> Ensemble:
    booster = getattr(model, "booster_", model)
    dump = booster.dump_model()  # up to the best iteration, as `predict` goes
    if dump.get("average_output"):
        raise UnsupportedModelError("LightGBM's boosting_type='rf' is not read: use 'gbdt'.")
    outputs = dump["num_tree_per_iteration"]
    trees = [_tree(tree, number % outputs) for number, tree in enumerate(dump["tree_info"])]
    names = tuple(dump["feature_names"])
    columns = Columns(
        names=names,
        are_placeholders=names == tuple(f"Column_{place}" for place in range(len(names))),
        labels=tuple(booster.pandas_categorical or ()),
    )
    return make_ensemble(
        trees,
        np.zeros(outputs),
        dump["max_feature_idx"] + 1,
        conversion=Conversion(category="trunc", columns=columns),
        link=_link(dump.get("objective", "")),
    )


def _link(objective: str) -> str:
    """Of an objective as the dump has it, for example "binary sigmoid:1"; "" for one's own."""
    name, *options = objective.split() or [""]
    if name == "regression" and "sqrt" in options:
        return "signed square root"
    values = dict(option.split(":") for option in options if ":" in option)
    sigmoid = float(values.get("sigmoid", 1))
    link = LINKS.get(name, "identity")
    return link if sigmoid == 1 else f"{link}/{sigmoid:g}"


def _tree(tree: dict[str, Any], output: int) -> Tree:
    """The nested nodes as arrays, parents before children."""
    rows: list[list[Any]] = []  # left, right, feature, threshold, missing_left, cover, value
    categories = {}
    waiting = [(tree["tree_structure"], -1, 0)]  # node, number of its parent, 0 for its left child
    while waiting:
        node, parent, side = waiting.pop()
        number = len(rows)
        if parent >= 0:
            rows[parent][side] = number
        if "leaf_coeff" in node:
            raise UnsupportedModelError(
                "LightGBM's linear_tree=True is not read, since its leaves are linear models: fit "
                "with the default, or pass estimator= to explain its prediction by sampling."
            )
        if "leaf_value" in node:
            cover = float(node.get("leaf_count", 1))
            rows.append([-1, -1, 0, 0.0, False, cover, node["leaf_value"]])
            continue
        if node["decision_type"] == "==":
            listed: str = node["threshold"]  # "1||2" for categories 1 and 2
            categories[number] = frozenset(map(int, listed.split("||")))
        split = node["split_feature"], *_split(node), float(node["internal_count"])
        rows.append([0, 0, *split, 0.0])
        waiting += [(node["left_child"], number, 0), (node["right_child"], number, 1)]
    left, right, feature, threshold, missing_left, cover, value = map(
        np.asarray, zip(*rows, strict=True)
    )
    return Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        missing_left=missing_left.astype(bool),
        cover=cover,
        value=value[:, None],
        output=output,
        categories=categories,
    )


def _split(node: dict[str, Any]) -> tuple[float, bool]:
    """The threshold of a split, and whether missing values go left."""
    if node["decision_type"] == "==":
        return 0.0, False  # a missing value is in no category
    if node["missing_type"] == "Zero":
        raise UnsupportedModelError(
            "LightGBM's zero_as_missing=True is not read: fit with the default."
        )
    threshold = float(node["threshold"])
    if node["missing_type"] == "NaN":
        return threshold, bool(node["default_left"])
    return threshold, threshold >= 0  # a missing value counts as 0


READER = Reader(
    family="LightGBM's gbdt",
    recognises=lambda model: comes_from(model, "lightgbm", "LGBM", "Booster"),
    is_fitted=lambda model: hasattr(model, "booster_") or hasattr(model, "dump_model"),
    read=_read,
    raw_prediction=lambda model, rows: model.predict(rows, raw_score=True),
)
