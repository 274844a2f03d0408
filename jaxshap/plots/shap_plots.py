"""shap's own plots of a table of values."""

import warnings
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import read_number, read_whole
from jaxshap.plots.selection import check_one_row, one_output, ordering, what_is_drawn, what_of_rows
from jaxshap.plots.shap_calls import as_shap, import_shap, numbers_as_shap, recolour, undisturbed
from jaxshap.plots.style import (
    SEQUENTIAL,
    Axes,
    finished,
    given_axes,
    new_axes,
    pyplot,
    signed_colours,
)

GREY = "#777777"  # of points of which nothing is known but their value
TRUTH = ("False", "True")  # the only words that are low and high


def beeswarm(
    explanation: Explanation,
    *,
    max_display: int = 12,
    order: Any = None,
    color: Any = SEQUENTIAL,
    alpha: float = 1.0,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's beeswarm: every row a point, light where the feature's value is high.

    Points are grey where an entry is missing and where a feature is words, which have no order.

    Args:
        explanation: the explanation of one output.
        max_display: how many features to draw, the largest first; 12 by default.
        order: an explanation of one row whose largest value comes first, such as
            `ex.abs.max(0)`, or the numbers of all features; by default mean |value| decides.
        color: the colour map of what a feature was, or one colour; "cividis" by default.
        alpha: the opacity of points, 1 by default.
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
    max_display = read_whole(max_display, "max_display")
    drawn, shap = _without_words(explanation), import_shap()
    features = len(explanation.feature_names)
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.4 * min(max_display, features))
    is_map = not isinstance(color, str) or color in pyplot().colormaps()
    of_data = pyplot().get_cmap(color) if is_map and drawn.data is not None else GREY
    colours = of_data if is_map else color
    options: dict[str, Any] = {"group_remaining_features": False, "plot_size": None}
    options["alpha"] = read_number(alpha, "alpha", least=0, most=1)
    if order is not None:
        options["order"] = ordering(order, features, "order")
    with undisturbed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a feature without any colour
        shap.plots.beeswarm(
            drawn, max_display=max_display, show=False, ax=ax, color=colours, **options
        )
    ax.set_xlabel(what_of_rows(explanation))
    return finished(ax, show)


def _without_words(explanation: Explanation) -> Any:
    """shap's Explanation in which features of words are missing, so that they have no colours."""
    drawn = numbers_as_shap(explanation)
    if drawn.data is not None:
        names = enumerate(explanation.feature_names)
        words = [place for place, name in names if explanation.words.get(name, TRUTH) != TRUTH]
        drawn.data = np.array(drawn.data, float)
        drawn.data[:, words] = np.nan
        if len(words) == drawn.data.shape[1]:
            drawn.data = None
    return drawn


def heatmap(
    explanation: Explanation,
    *,
    max_display: int = 12,
    instance_order: Any = None,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's heat map: orange values raise the output, blue ones lower it.

    Rows that are explained alike stand together.

    Args:
        explanation: the explanation of two rows or more and one output.
        max_display: how many features to draw, the largest first; 12 by default.
        instance_order: an explanation of one feature whose largest value comes first, such as
            `ex.sum(1)`, or the numbers of all rows; by default rows that are alike stand together.
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
    max_display = read_whole(max_display, "max_display")
    drawn, shap = as_shap(explanation), import_shap()
    ax = given_axes(ax) or new_axes(8, 2 + 0.32 * min(max_display, len(explanation.feature_names)))
    options: dict[str, Any] = {"cmap": signed_colours()}
    if instance_order is not None:
        options["instance_order"] = ordering(instance_order, len(explanation), "instance_order")
    with undisturbed():
        shap.plots.heatmap(drawn, max_display=max_display, ax=ax, show=False, **options)
    ax.set_aspect("auto")  # as large as its axes are
    ax.locator_params(axis="x", integer=True)
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
    max_display = read_whole(max_display, "max_display")
    drawn, shap = as_shap(explanation), import_shap()
    drawn = drawn[0] if len(explanation) == 1 else drawn
    ax = given_axes(ax) or new_axes(8, 1.5 + 0.5 * min(max_display, len(explanation.feature_names)))
    with undisturbed():
        shap.plots.bar(drawn, max_display=max_display, ax=ax, show=False)
    ax.set_xlabel(what_is_drawn(explanation))
    recolour(ax)
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
    max_display = read_whole(max_display, "max_display")
    drawn, shap = as_shap(explanation)[0], import_shap()
    figure = pyplot().figure(figsize=(8, 4))
    longest = max(map(len, drawn.feature_names)) + len("0.1234 = ")
    left = min(0.6, 0.06 + 0.0115 * max(longest, 20))
    figure.subplots_adjust(left=left, right=0.86)  # shap fits numbers into its bars
    ax = figure.gca()  # shap returns other axes, which only hold ticks
    with undisturbed():
        shap.plots.waterfall(drawn, max_display=max_display, show=False)
    recolour(ax)
    return ax
