"""scikit-learn's gradient boosting."""

from typing import Any

import numpy as np

from jaxshap.errors import UnsupportedModelError
from jaxshap.trees.ensemble import Ensemble, make_ensemble
from jaxshap.trees.readers.reader import Reader, comes_from
from jaxshap.trees.readers.sklearn_forests import sklearn_tree


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
    link = "logit" if len(base) == 1 and hasattr(model, "classes_") else "identity"
    return make_ensemble(trees, base, model.n_features_in_, input_dtype=np.float32, link=link)


READER = Reader(
    family="its gradient boosting",
    recognises=lambda model: comes_from(model, "sklearn", "GradientBoosting"),
    is_fitted=lambda model: hasattr(model, "estimators_"),
    read=_read,
)
