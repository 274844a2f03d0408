"""Pictures of an Explanation: shap's own through `to_shap`, and what shap lacks: values with their error bars."""

from typing import TYPE_CHECKING

import numpy as np

from jaxshap.explanation import Explanation
from jaxshap.plots.style import NEGATIVE, POSITIVE, new_axes, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bar(explanation: Explanation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """The largest values with ± 1.96 standard errors: of a single row, or mean |value| over rows.

    One output only: pick it first, `ex[:, :, "yes"]`.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
        >>> jaxshap.plots.bar(explained).get_xlabel()
        'Shapley value ± 1.96 standard errors (marginal, Exact())'
    """
    if explanation.values.ndim > 2:
        raise ValueError(
            f"bar draws one output and there are {explanation.values.shape[2]}: pick one, such as ex[:, :, 0]."
        )
    single = len(explanation) == 1
    values = explanation.values[0] if single else np.abs(explanation.values).mean(0)
    errors = 1.96 * explanation.std_error.mean(0)  # rows share their coalitions, so errors do not average out
    order = np.argsort(np.abs(values))[-most:]
    ax = ax or new_axes(7, 0.8 + 0.32 * len(order))
    colours = [POSITIVE if value >= 0 else NEGATIVE for value in values[order]]
    ax.barh([_label(explanation, i) for i in order], values[order], color=colours, height=0.7)
    ax.errorbar(values[order], range(len(order)), xerr=errors[order], fmt="none", ecolor="black", capsize=3, lw=1)
    ax.axvline(0, color="black", lw=0.8)
    hidden = len(values) - len(order)
    rest = f"\n{hidden} smaller features not shown" if hidden else ""
    what = "Shapley value" if single else "mean |Shapley value|"
    ax.set_xlabel(f"{what} ± 1.96 standard errors ({explanation.value_function}, {explanation.estimator}){rest}")
    return tidy(ax)


def beeswarm(explanation: Explanation, *, most: int = 12) -> "Axes":
    """shap's beeswarm of the largest features: every row a point, coloured by the feature's value.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]])
        >>> [label.get_text() for label in jaxshap.plots.beeswarm(explained).get_yticklabels()]
        ['x1', 'x0']
    """
    shap_explanation = explanation.to_shap()
    import shap

    pyplot().figure()
    return shap.plots.beeswarm(shap_explanation, max_display=most, show=False, group_remaining_features=False)


def _label(explanation: Explanation, feature: int) -> str:
    name = explanation.feature_names[feature]
    data = explanation.data_of_features
    if len(explanation) > 1 or data is None:
        return name
    return f"{name} = {data[0, feature]:.4g}"
