"""scikit-learn's gradient boosting."""

from typing import Any

import numpy as np

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.readers.sklearn_forests import sklearn_columns, sklearn_tree
from jaxshap.trees.structure import Conversion


def _read(model: Any) -> Ensemble:
    if model.init is not None and model.init != "zero":
        raise UnsupportedModelError(
            "gradient boosting with an `init` estimator is not a sum of trees: keep the default "
            "`init` when you fit it."
        )
    first_row = np.zeros((1, model.n_features_in_), np.float32)
    base = np.asarray(model._raw_predict_init(first_row), np.float64).reshape(-1)
    trees = [
        sklearn_tree(member.tree_, member.tree_.value[:, 0] * model.learning_rate, output)
        for stage in model.estimators_
        for output, member in enumerate(stage)
    ]
    conversion = Conversion(dtype=np.float32, columns=sklearn_columns(model))
    link = sklearn_link(model, len(base))
    return make_ensemble(trees, base, model.n_features_in_, conversion=conversion, link=link)


def sklearn_link(model: Any, num_outputs: int) -> str:
    """What the margin of boosted trees is of their prediction."""
    if not hasattr(model, "classes_"):
        return "log" if model.loss in ("poisson", "gamma") else "identity"
    if num_outputs > 1:
        return "softmax"
    return "half logit" if model.loss == "exponential" else "logit"


def sklearn_margin(model: Any, rows: Any) -> Any:
    """The raw prediction of boosted trees by themselves."""
    if hasattr(model, "classes_"):
        return model.decision_function(rows)
    prediction = model.predict(rows)
    return np.log(prediction) if sklearn_link(model, 1) == "log" else prediction


READER = Reader(
    family="its gradient boosting",
    recognises=lambda model: comes_from(model, "sklearn", "GradientBoosting"),
    is_fitted=lambda model: hasattr(model, "estimators_"),
    read=_read,
    raw_prediction=sklearn_margin,
)
