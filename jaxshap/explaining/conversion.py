"""Explanations for other libraries: shap and pandas."""

from typing import Any

import numpy as np

from jaxshap.errors import MissingExtraError


def to_shap(explanation: Any) -> Any:
    """See `Explanation.to_shap`."""
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError('to_shap needs shap: pip install "jaxshap[plots]".') from error
    names = explanation.output_names
    return shap.Explanation(
        values=explanation.values,
        base_values=explanation.base_values,
        data=explanation.data_of_features,
        feature_names=list(explanation.feature_names),
        output_names=None if names is None else list(names),
        error_std=explanation.std_error,
    )


def to_frame(explanation: Any) -> Any:
    """See `Explanation.to_frame`."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            'to_frame needs pandas: pip install "jaxshap[examples]".'
        ) from error
    rows, features, *outputs = (axis.ravel() for axis in np.indices(explanation.values.shape))
    names = np.asarray(explanation.feature_names)
    columns: dict[str, Any] = {"row": rows, "feature": names[features]}
    for axis, output in enumerate(outputs):
        title = "output" if len(outputs) == 1 else f"output {axis}"
        named = explanation.output_names
        columns[title] = output if named is None else np.asarray(named)[output]
    numbers = {"value": explanation.values.ravel(), "std_error": explanation.std_error.ravel()}
    return pd.DataFrame(columns | numbers)
