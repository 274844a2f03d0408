"""shap's own plots of a table of values."""

from typing import Any

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import check_kind, read_whole
from jaxshap.plots.selection import check_one_output, check_one_row
from jaxshap.plots.shap_calls import as_shap, import_shap, undisturbed
from jaxshap.plots.style import SEQUENTIAL, Axes, given_axes, new_axes, pyplot

SIGNED_COLOURS = "viridis"  # tells negative from positive in greyscale too


def beeswarm(explanation: Explanation, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw shap's beeswarm: every row a point, light where the feature's value is high.

    Args:
        explanation: the explanation of one output.
        most: how many features to draw, the largest first; 12 by default.
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
    most = read_whole(most, "most")
    check_one_output(explanation, "beeswarm")
    drawn, shap = as_shap(explanation), import_shap()
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.4 * min(most, len(explanation.feature_names)))
    colours = None if drawn.data is None else pyplot().get_cmap(SEQUENTIAL)
    options: dict[str, Any] = {"group_remaining_features": False, "plot_size": None}
    with undisturbed():
        return shap.plots.beeswarm(
            drawn, max_display=most, show=False, ax=ax, color=colours, **options
        )


def scatter(
    explanation: Explanation,
    feature: str | int,
    *,
    by: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's scatter: a feature's values over what the feature was, one point per row.

    Args:
        explanation: the explanation of one output, of a table.
        feature: the feature to draw, by name or number.
        by: a feature that the points are coloured by; all are black by default.
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
        >>> jaxshap.plots.scatter(ex, "age", by="pay").get_xlabel()
        'age'
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    check_one_output(explanation, "scatter")
    if explanation.data_of_features is None:
        raise InputError(
            "scatter needs what each feature was, and here features are not columns of a table."
        )
    drawn, shap = as_shap(explanation[:, feature])[:, 0], import_shap()
    ax = given_axes(ax) or new_axes(6.5, 4.5)
    colour = "black" if by is None else as_shap(explanation[:, by])[:, 0]
    colours = pyplot().get_cmap(SEQUENTIAL)
    with undisturbed():
        return shap.plots.scatter(drawn, color=colour, cmap=colours, ax=ax, show=False)


def heatmap(explanation: Explanation, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw shap's heat map: light values raise the output, dark ones lower it.

    Rows that are explained alike stand together.

    Args:
        explanation: the explanation of two rows or more and one output.
        most: how many features to draw, the largest first; 12 by default.
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
        'Instances'
    """
    most = read_whole(most, "most")
    check_one_output(explanation, "heatmap")
    if len(explanation) < 2:
        raise InputError(
            "heatmap puts rows in an order and there is one: draw it with bar or waterfall."
        )
    drawn, shap = as_shap(explanation), import_shap()
    ax = given_axes(ax) or new_axes(8, 2 + 0.32 * min(most, len(explanation.feature_names)))
    colours = pyplot().get_cmap(SIGNED_COLOURS)
    with undisturbed():
        shap.plots.heatmap(drawn, max_display=most, cmap=colours, ax=ax, show=False)
    ax.set_aspect("auto")  # as large as its axes are
    ax.figure.axes[-1].yaxis.labelpad = 6  # shap writes the label of the colours over their numbers
    return ax


def shap_bar(explanation: Explanation, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw shap's bars, without errors: of a single row, or mean |value| over rows.

    `bar` is jaxshap's own picture, with errors.

    Args:
        explanation: the explanation of one output.
        most: how many features to draw, the largest first; 12 by default.
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
        'SHAP value'
    """
    most = read_whole(most, "most")
    check_one_output(explanation, "shap_bar")
    drawn, shap = as_shap(explanation), import_shap()
    drawn = drawn[0] if len(explanation) == 1 else drawn
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.5 * min(most, len(explanation.feature_names)))
    with undisturbed():
        return shap.plots.bar(drawn, max_display=most, ax=ax, show=False)


def shap_waterfall(explanation: Explanation, *, most: int = 12) -> Axes:
    """Draw shap's waterfall of a single row, without errors, in a figure of its own.

    `waterfall` is jaxshap's own picture, with errors.

    Args:
        explanation: the explanation of one row and output.
        most: how many features to draw on their own; 12 by default.

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
    most = read_whole(most, "most")
    check_one_output(explanation, "shap_waterfall")
    check_one_row(explanation, "shap_waterfall")
    drawn, shap = as_shap(explanation)[0], import_shap()
    figure = pyplot().figure(figsize=(8, 4))
    longest = max(map(len, drawn.feature_names)) + len("0.1234 = ")
    left = min(0.6, 0.06 + 0.0115 * max(longest, 20))
    figure.subplots_adjust(left=left, right=0.86)  # shap fits numbers into its bars
    ax = figure.gca()  # shap returns other axes, which only hold ticks
    with undisturbed():
        shap.plots.waterfall(drawn, max_display=most, show=False)
    return ax
