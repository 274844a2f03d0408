"""Values with their error bars: of a row, over rows, and from the base value to the prediction."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.explaining import Explanation, half_intervals, number_text, shown_values
from jaxshap.plots.clusters import clustered_order, draw_brackets
from jaxshap.plots.comparisons import draw_cohorts
from jaxshap.plots.selection import (
    check_one_row,
    explained_output,
    footnote,
    interval_words,
    labels,
    one_output,
    what_is_drawn,
)
from jaxshap.plots.style import (
    LINES,
    Axes,
    colours_by_sign,
    draw_errors,
    finished,
    given_axes,
    largest,
    name_rows,
    new_axes,
    tidy,
    wrapped,
)

CHARACTER_WIDTH = 0.017  # of a number on the right, as a share of the width of the axes


def bar(
    explanation: Explanation | Mapping[str, Explanation],
    *,
    max_display: int = 12,
    clustering: Any = None,
    clustering_cutoff: float = np.inf,
    show_data: Any = True,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the largest values as bars with 95 % intervals.

    They are the values of a single row, or mean |value| over rows. The errors are those of the
    estimation for these very rows.

    Args:
        explanation: the explanation of one output; pick it first, as in `ex[:, :, "yes"]`. Or
            several of them by name, such as `ex.cohorts(labels)`, side by side.
        max_display: how many features to draw, the largest first; 12 by default.
        clustering: a linkage of the features, as `scipy.cluster.hierarchy.linkage` makes it:
            features that belong together stand together, with brackets beside them.
        clustering_cutoff: the largest distance that has a bracket; all of them by default.
        show_data: whether the names of a single row have what each feature was beside them.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or nothing to draw.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [float(patch.get_width()) for patch in jaxshap.plots.bar(ex).patches]
        [2.0, -1.0]
    """
    if isinstance(explanation, Mapping):
        return finished(draw_cohorts(explanation, max_display, ax), show)
    explanation = one_output(explanation, "bar")
    values, errors = shown_values(explanation)
    order = largest(np.abs(values), max_display)
    if clustering is not None:
        order = np.array(clustered_order(clustering, order, len(values)))
    ax = given_axes(ax) or new_axes(7, 1 + 0.32 * len(order))
    heights = np.arange(len(order))
    signed = len(explanation) == 1 and bool(np.isfinite(explanation.base_values).all())  # no sizes
    colours = colours_by_sign(values[order]) if signed else LINES[0]
    ax.barh(heights, values[order], color=colours, height=0.7)
    draw_errors(ax, values[order], heights, errors[order])
    ax.axvline(0, color="black", lw=0.8)
    if not signed:
        ax.set_xlim(left=0)  # where errors would reach below
    name_rows(ax, labels(explanation, order, bool(show_data)))
    what = f"{what_is_drawn(explanation)} ({interval_words(errors[order], explanation)})"
    ax.set_xlabel(wrapped(what, footnote(explanation, len(order))))
    if clustering is not None:
        draw_brackets(ax, clustering, order.tolist(), clustering_cutoff)
    return finished(tidy(ax), show)


def waterfall(
    explanation: Explanation, *, max_display: int = 10, show: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw the way from the base value to the prediction of a single row.

    There is one bar per feature, the largest first, with 95 % intervals. The error of the
    sum of the smaller features is a bound: their errors added up, or those of the features shown,
    whichever is less, since all values together have none.

    Args:
        explanation: the explanation of one row and output, with all its features; pick them
            first, as in `ex[0, :, "yes"]`.
        max_display: how many features to draw on their own; 10 by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or nothing to draw.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> def model(x):
        ...     return 3 + 2 * x[:, 0] - x[:, 1]
        >>> ex = jaxshap.explain(model, np.ones((1, 2)), np.zeros((1, 2)))
        >>> [label.get_text() for label in jaxshap.plots.waterfall(ex).get_yticklabels()]
        ['base value', 'x0 = 1', 'x1 = 1', 'prediction']
    """
    explanation = one_output(explanation, "waterfall")
    check_one_row(explanation, "waterfall")
    values, errors = explanation.values[0], half_intervals(explanation)[0]
    order = largest(np.abs(values), max_display)
    if len(order) == len(values) - 1:  # the last feature takes no more room than a sum would
        order = largest(np.abs(values), max_display + 1)
    names, steps, spreads = labels(explanation, order), values[order], errors[order]
    if hidden := len(values) - len(order):
        smaller = np.setdiff1d(np.arange(len(values)), order)
        bound = np.fmin(spreads.sum(), errors[smaller].sum())
        names = [*names, f"{hidden:,} smaller features"]
        steps, spreads = np.r_[steps, values[smaller].sum()], np.r_[spreads, bound]
    pairs = zip(steps, spreads, strict=True)
    texts = [number_text(step, spread, signed=True) for step, spread in pairs]
    if hidden and spreads[-1] > 0:
        texts[-1] += " at most"
    ax = given_axes(ax) or new_axes(7.5, 1.4 + 0.32 * (len(steps) + 2))
    _draw_steps(ax, float(explanation.base_values[0]), steps, spreads, texts)
    name_rows(ax, ["base value", *names, "prediction"])
    output = explained_output(explanation) or "output of the model"
    what = f"{output} ({interval_words(spreads, explanation)})"
    ax.set_xlabel(wrapped(what, footnote(explanation)))
    return finished(tidy(ax), show)


def _draw_steps(
    ax: Axes,
    base: float,
    steps: Float[np.ndarray, "k"],
    errors: Float[np.ndarray, "k"],
    texts: Sequence[str],
) -> None:
    """Draw bars in rows 1 to k between dots for the base value and the prediction, with numbers."""
    ends = base + np.cumsum(steps)
    starts, rows = ends - steps, np.arange(1, len(steps) + 1)
    ax.barh(rows, steps, left=starts, color=colours_by_sign(steps), height=0.7)
    draw_errors(ax, ends, rows, errors)
    above = np.arange(len(steps) + 1)
    ax.vlines(np.r_[base, ends], above, above + 1, color="0.5", lw=0.8, zorder=0)
    ax.plot([base, ends[-1]], [0, len(steps) + 1], "D", color="black", ms=5)
    known = np.nan_to_num(errors)
    right = np.maximum(starts, ends + known)
    low, high = min(base, (ends - known).min(), starts.min()), max(base, right.max())
    places, texts = [base, *right, ends[-1]], [number_text(base), *texts, number_text(ends[-1])]
    for row, (place, text) in enumerate(zip(places, texts, strict=True)):
        ax.annotate(text, (place, row), (7, 0), textcoords="offset points", va="center", fontsize=9)
        taken = min(0.5, 0.04 + CHARACTER_WIDTH * len(text))
        high = max(high, low + (place - low) / (1 - taken))
    room = (high - low) or 1
    ax.set_xlim(low - 0.04 * room, low + room)
