"""shap's own plots of a table of values."""

from typing import Any

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.plots.selection import check_one_row, one_output, what_is_drawn, what_of_rows
from jaxshap.plots.shap_calls import as_shap, import_shap, numbers_as_shap, undisturbed
from jaxshap.plots.style import (
    SEQUENTIAL,
    Axes,
    finished,
    given_axes,
    name_codes,
    new_axes,
    pyplot,
    shortened,
    signed_colours,
)


def beeswarm(
    explanation: Explanation,
    *,
    max_display: int = 12,
    color: Any = SEQUENTIAL,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's beeswarm: every row a point, light where the feature's value is high.

    Args:
        explanation: the explanation of one output.
        max_display: how many features to draw, the largest first; 12 by default.
        color: the colour map of what a feature was, or one colour; "cividis" by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or nothing to draw.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ax = jaxshap.plots.beeswarm(jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x1', 'x0']
    """
    explanation = one_output(explanation, "beeswarm")
    drawn, shap = as_shap(explanation), import_shap()
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.4 * min(max_display, len(explanation.feature_names)))
    is_map = not isinstance(color, str) or color in pyplot().colormaps()
    colours = pyplot().get_cmap(color) if is_map and drawn.data is not None else None
    colours = color if not is_map else colours
    options: dict[str, Any] = {"group_remaining_features": False, "plot_size": None}
    with undisturbed():
        shap.plots.beeswarm(
            drawn, max_display=max_display, show=False, ax=ax, color=colours, **options
        )
    ax.set_xlabel(what_of_rows(explanation))
    return finished(ax, show)


def scatter(
    explanation: Explanation,
    feature: str | int | None = None,
    *,
    color: Any = "black",
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's scatter: a feature's values over what the feature was, one point per row.

    Args:
        explanation: the explanation of one output, of a table.
        feature: the feature to draw, by name or number; not needed where there is one, as in
            `ex[:, "age"]`.
        color: a feature that the points are coloured by, by name, by number or as an explanation of
            it, such as `ex[:, "pay"]`; of an explanation of several features, the one that goes
            best with the values' differences among like rows; or one colour, black by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or features are not columns of a table.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1], X, X, feature_names=["age", "pay"])
        >>> jaxshap.plots.scatter(ex, "age", color="pay").get_xlabel()
        'age'
    """
    explanation = one_output(explanation, "scatter")
    if explanation.data_of_features is None:
        raise InputError(
            "scatter needs what each feature was, and here features are not columns of a table."
        )
    if feature is None and len(explanation.feature_names) > 1:
        raise InputError("scatter draws one feature: name it, as in scatter(ex, 'age').")
    own, shap = explanation[:, 0 if feature is None else feature], import_shap()
    drawn = numbers_as_shap(own)[:, 0]
    ax = given_axes(ax) or new_axes(6.5, 4.5)
    is_feature = isinstance(color, int | Explanation) or color in explanation.feature_names
    points: Any = color
    if is_feature:
        other = one_output(color, "scatter") if isinstance(color, Explanation) else explanation
        other = other if isinstance(color, Explanation) else other[:, color]
        points = numbers_as_shap(other)
        points = points[:, 0] if points.shape[1] == 1 else points
    with undisturbed():
        colours = pyplot().get_cmap(SEQUENTIAL)
        shap.plots.scatter(drawn, color=points, cmap=colours, ax=ax, show=False)
    name = own.feature_names[0]
    ax.set(xlabel=shortened(name), ylabel=f"{what_of_rows(own)}\nof {shortened(name)}")
    name_codes(ax, own.words.get(name))
    return finished(ax, show)


def heatmap(
    explanation: Explanation,
    *,
    max_display: int = 12,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's heat map: orange values raise the output, blue ones lower it.

    Rows that are explained alike stand together.

    Args:
        explanation: the explanation of two rows or more and one output.
        max_display: how many features to draw, the largest first; 12 by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or fewer than two rows.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X)
        >>> jaxshap.plots.heatmap(ex).get_xlabel()
        'rows'
    """
    explanation = one_output(explanation, "heatmap")
    if len(explanation) < 2:
        raise InputError(
            "heatmap puts rows in an order and there is one: draw it with bar or waterfall."
        )
    drawn, shap = as_shap(explanation), import_shap()
    ax = given_axes(ax) or new_axes(8, 2 + 0.32 * min(max_display, len(explanation.feature_names)))
    colours = signed_colours()
    with undisturbed():
        shap.plots.heatmap(drawn, max_display=max_display, cmap=colours, ax=ax, show=False)
    ax.set_aspect("auto")  # as large as its axes are
    bar = ax.figure.axes[-1]
    bar.yaxis.labelpad = 6  # shap writes the label of the colours over their numbers
    bar.set_ylabel(what_of_rows(explanation))
    ax.set_xlabel("rows")
    return finished(ax, show)


def shap_bar(explanation: Explanation, *, max_display: int = 12, ax: Axes | None = None) -> Axes:
    """Draw shap's bars, without errors: of a single row, or mean |value| over rows.

    `bar` is jaxshap's own picture, with errors.

    Args:
        explanation: the explanation of one output.
        max_display: how many features to draw, the largest first; 12 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or nothing to draw.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> jaxshap.plots.shap_bar(ex).get_xlabel()
        'Shapley value'
    """
    explanation = one_output(explanation, "shap_bar")
    drawn, shap = as_shap(explanation), import_shap()
    drawn = drawn[0] if len(explanation) == 1 else drawn
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.5 * min(max_display, len(explanation.feature_names)))
    with undisturbed():
        shap.plots.bar(drawn, max_display=max_display, ax=ax, show=False)
    ax.set_xlabel(what_is_drawn(explanation))
    return ax


def shap_waterfall(explanation: Explanation, *, max_display: int = 12) -> Axes:
    """Draw shap's waterfall of a single row, without errors, in a figure of its own.

    `waterfall` is jaxshap's own picture, with errors.

    Args:
        explanation: the explanation of one row and output.
        max_display: how many features to draw on their own; 12 by default.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or nothing to draw.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text() for text in jaxshap.plots.shap_waterfall(ex).texts]
        ['+2', '−1']
    """
    explanation = one_output(explanation, "shap_waterfall")
    check_one_row(explanation, "shap_waterfall")
    drawn, shap = as_shap(explanation)[0], import_shap()
    figure = pyplot().figure(figsize=(8, 4))
    longest = max(map(len, drawn.feature_names)) + len("0.1234 = ")
    left = min(0.6, 0.06 + 0.0115 * max(longest, 20))
    figure.subplots_adjust(left=left, right=0.86)  # shap fits numbers into its bars
    ax = figure.gca()  # shap returns other axes, which only hold ticks
    with undisturbed():
        shap.plots.waterfall(drawn, max_display=max_display, show=False)
    return ax
