"""CatBoost's symmetric trees, read from the JSON file that it writes."""

import json
import pathlib
import tempfile
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.columns import Columns
from jaxshap.trees.ensemble import Ensemble, Tree, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.structure import Conversion

LINKS = {
    "Logloss": "logit",
    "CrossEntropy": "logit",
    "Focal": "logit",
    "MultiLogloss": "logit",
    "MultiCrossEntropy": "logit",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "logit",
    "Poisson": "log",
    "Tweedie": "log",
    "LogLinQuantile": "log",
    "Cox": "log",
    "SurvivalAft": "log",
    "RMSEWithUncertainty": "mean and log standard deviation",
}


def _read(model: Any) -> Ensemble:
    if model.get_text_feature_indices() or model.get_embedding_feature_indices():
        raise UnsupportedModelError("CatBoost's text and embedding features are not read.")
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
    trees = [_tree(tree, features, missing_left, float(scale)) for tree in dump["oblivious_trees"]]
    names = tuple(map(str, model.feature_names_))
    placeholders = tuple(str(place) for place in range(len(names)))
    return make_ensemble(
        trees,
        np.asarray(base, np.float64),
        len(names),
        conversion=Conversion(np.float32, columns=Columns(names, names == placeholders)),
        link=LINKS.get(_loss(dump["model_info"]), "identity"),
    )


def _loss(model_info: dict[str, Any]) -> str:
    """The name of the loss; sums of models have it at another place, as JSON text."""
    params = model_info.get("params", model_info)
    loss = params.get("loss_function", {})
    return (json.loads(loss) if isinstance(loss, str) else loss).get("type", "")


def _tree(
    tree: dict[str, Any],
    features: Int[np.ndarray, "columns"],
    missing_left: Bool[np.ndarray, "columns"],
    scale: float,
) -> Tree:
    """A symmetric tree as a heap, its last split on top: all nodes of a level ask the same.

    A leaf's number has a bit per split, and going right sets it.
    """
    splits = tree["splits"][::-1]
    depth, inner, leaves = len(splits), 2 ** len(splits) - 1, 2 ** len(splits)
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    column = np.array([split["float_feature_index"] for split in splits], int)[level]
    border = np.array([split["border"] for split in splits], np.float64)[level]
    value = np.asarray(tree["leaf_values"], np.float64).reshape(leaves, -1) * scale
    cover = np.concatenate([np.zeros(inner), np.asarray(tree["leaf_weights"], np.float64)])
    for node in range(inner - 1, -1, -1):
        cover[node] = cover[2 * node + 1] + cover[2 * node + 2]
    left, right = (
        np.concatenate([2 * np.arange(inner) + side, np.full(leaves, -1)]) for side in (1, 2)
    )
    return Tree(
        left=left,
        right=right,
        feature=np.append(features[column], np.zeros(leaves, int)),
        threshold=np.append(border, np.zeros(leaves)),
        missing_left=np.append(missing_left[column], np.zeros(leaves, bool)),
        cover=cover,
        value=np.concatenate([np.zeros((inner, value.shape[1])), value]),
        output=0 if value.shape[1] == 1 else None,
    )


def _raw_prediction(model: Any, rows: Any) -> Any:
    """By the method of the base class: that of a CatBoostRanker takes no type of prediction."""
    base = next(kind for kind in type(model).__mro__ if kind.__name__ == "CatBoost")
    return base.predict(model, rows, prediction_type="RawFormulaVal")


READER = Reader(
    family="CatBoost",
    recognises=lambda model: comes_from(model, "catboost", "CatBoost"),
    is_fitted=lambda model: bool(model.is_fitted()),
    read=_read,
    raw_prediction=_raw_prediction,
    is_exact=lambda model: not (model.is_fitted() and model.get_cat_feature_indices()),
)
