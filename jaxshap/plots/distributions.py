"""Values over many rows: violins, and the difference between two groups of rows."""

from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import as_numbers
from jaxshap.plots.selection import labels, one_output, what_of_rows
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
from jaxshap.trust import quantile

MIN_ROWS = 3  # of a violin
POINTS = 100  # along its outline


def violin(
    explanation: Explanation,
    *,
    max_display: int = 12,
    color: Any = LINES[0],
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the values of each feature are spread over the rows; a line marks each median.

    Args:
        explanation: the explanation of several rows and one output.
        max_display: how many features to draw, the largest first; 12 by default.
        color: of the violins; blue by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or fewer than three rows.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ax = jaxshap.plots.violin(jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x0', 'x1']
    """
    explanation = one_output(explanation, "violin")
    if len(explanation) < MIN_ROWS:
        raise InputError(f"violin draws spreads, and there are {len(explanation)} rows: use bar.")
    order = largest(np.abs(explanation.values).mean(0), max_display)
    ax = given_axes(ax) or new_axes(8, 1.3 + 0.42 * len(order))
    values, heights = explanation.values[:, order], np.arange(len(order))
    for place in heights:
        _draw_density(ax, values[:, place], int(place), color)
    ax.plot(np.median(values, axis=0), heights, "|", color="black", ms=9, mew=1.5)
    ax.axvline(0, color="black", lw=0.8)
    name_rows(ax, labels(explanation, order))
    ax.set_xlabel(wrapped(f"{what_of_rows(explanation)} (line: median)"))
    return finished(tidy(ax), show)


def _draw_density(ax: Axes, values: Float[np.ndarray, "rows"], place: int, color: Any) -> None:
    """Draw a density of these values around a height; one value alone has none."""
    from scipy.stats import gaussian_kde

    if np.ptp(values) <= 1e-6 * np.abs(values).max():
        return
    x = np.linspace(values.min(), values.max(), POINTS)
    density = gaussian_kde(values.astype(np.float64))(x)
    half = 0.42 * density / density.max()
    look: dict[str, Any] = {"edgecolor": "0.2", "alpha": 0.75, "lw": 0.6}
    ax.fill_between(x, place - half, place + half, facecolor=color, **look)


def group_difference(
    explanation: Explanation,
    group_mask: Any,
    *,
    max_display: int = 12,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw by how much the mean values of one group of rows exceed those of all other rows.

    Bars have 95 % intervals: other rows like these could have these differences.

    Args:
        explanation: the explanation of one output.
        group_mask: for each row, whether it is in the group; two rows at least in and out of it.
        max_display: how many features to draw, the largest first; 12 by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or not two rows in each group.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X)
        >>> ax = jaxshap.plots.group_difference(ex, X[:, 0] > 0)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x0', 'x1']
    """
    explanation = one_output(explanation, "group_difference")
    inside = np.asarray(as_numbers(group_mask, "group_mask"))
    if inside.shape != (len(explanation),) or not 2 <= inside.astype(bool).sum() <= len(inside) - 2:
        raise InputError(
            f"group_mask has shape {inside.shape} for {len(explanation)} rows: pass true or false "
            "for each row, with two rows or more of each."
        )
    means = explanation.summary(by=inside.astype(bool), absolute=False)
    differences = means.values[1] - means.values[0]
    errors = np.hypot(*means.std_error) * quantile(0.95, np.min(means.degrees, axis=0))
    order = largest(np.abs(differences), max_display)
    ax = given_axes(ax) or new_axes(7, 1.1 + 0.32 * len(order))
    heights = np.arange(len(order))
    ax.barh(heights, differences[order], color=colours_by_sign(differences[order]), height=0.7)
    draw_errors(ax, differences[order], heights, errors[order])
    ax.axvline(0, color="black", lw=0.8)
    name_rows(ax, [explanation.feature_names[feature] for feature in order])
    what = f"mean {what_of_rows(explanation)}: of the group less that of other rows"
    ax.set_xlabel(wrapped(what, "(95 % intervals)"))
    return finished(tidy(ax), show)
