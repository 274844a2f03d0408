"""Values with their error bars: of a row, over rows, and from the base value to the prediction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from jaxshap.explaining import Explanation
from jaxshap.plots.selection import (
    drawn_values,
    footnote,
    labels,
    one_output,
    one_row,
    what_is_drawn,
)
from jaxshap.plots.style import (
    LINES,
    NEGATIVE,
    POSITIVE,
    SURE,
    draw_errors,
    error_words,
    largest,
    name_rows,
    new_axes,
    number_text,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER = 0.017  # of the width of axes, for one of a number on the right


def bar(explanation: Explanation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """The largest values with ± 1.96 standard errors: of a single row, or mean |value| over rows.

    One output only: pick it first, `ex[:, :, "yes"]`. Errors are those of the estimation for these
    very rows.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [float(patch.get_width()) for patch in jaxshap.plots.bar(ex).patches]
        [2.0, -1.0]
    """
    one_output(explanation, "bar")
    values, errors = drawn_values(explanation)
    order = largest(np.abs(values), most)
    ax = ax or new_axes(7, 1 + 0.32 * len(order))
    heights = np.arange(len(order))
    colours = (
        _colours(values[order]) if len(explanation) == 1 else LINES[0]
    )  # a mean of |values| has no sign
    ax.barh(heights, values[order], color=colours, height=0.7)
    draw_errors(ax, values[order], heights, errors[order])
    ax.axvline(0, color="black", lw=0.8)
    if len(explanation) > 1:
        ax.set_xlim(left=0)  # where errors would reach below
    name_rows(ax, labels(explanation, order))
    what = f"{what_is_drawn(explanation)} ({error_words(errors[order])})"
    ax.set_xlabel(wrapped(what, footnote(explanation, len(order))))
    return tidy(ax)


def waterfall(explanation: Explanation, *, most: int = 10, ax: "Axes | None" = None) -> "Axes":
    """From the base value to the prediction of a single row: one bar a feature, the largest first,
    ± 1.96 errors.

    The error of what the smaller features sum to is a bound: their errors added up, or those of the
    features shown, whichever is less, since all values together have none. Pick one output first;
    keep all features.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 3 + 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [label.get_text() for label in jaxshap.plots.waterfall(ex).get_yticklabels()]
        ['base value', 'x0 = 1', 'x1 = 1', 'prediction']
    """
    one_output(explanation, "waterfall")
    one_row(explanation, "waterfall")
    values, errors = explanation.values[0], SURE * explanation.std_error[0]
    order = largest(np.abs(values), most)
    if len(order) == len(values) - 1:  # the last one takes no more room than its sum would
        order = largest(np.abs(values), most + 1)
    names, steps, spread = labels(explanation, order), values[order], errors[order]
    if hidden := len(values) - len(order):
        smaller = np.setdiff1d(np.arange(len(values)), order)
        names = [*names, f"{hidden:,} smaller features"]
        steps, spread = (
            np.r_[steps, values[smaller].sum()],
            np.r_[spread, np.fmin(spread.sum(), errors[smaller].sum())],
        )
    base = float(explanation.base_values[0])
    ends = base + np.cumsum(steps)
    ax = ax or new_axes(7.5, 1.4 + 0.32 * (len(steps) + 2))
    texts = [
        number_text(step, error, signed=True) for step, error in zip(steps, spread, strict=True)
    ]
    if hidden and spread[-1] > 0:
        texts[-1] += " at most"
    _draw_steps(ax, base, steps, ends, spread, texts)
    name_rows(ax, ["base value", *names, "prediction"])
    ax.set_xlabel(wrapped(f"output of the model ({error_words(spread)})", footnote(explanation)))
    return tidy(ax)


def _draw_steps(
    ax: "Axes",
    base: float,
    steps: Float[np.ndarray, "k"],
    ends: Float[np.ndarray, "k"],
    errors: Float[np.ndarray, "k"],
    texts: Sequence[str],
) -> None:
    """Bars in rows 1 to k between a dot for the base value and one for the prediction, with their
    numbers.
    """
    starts, rows = ends - steps, np.arange(1, len(steps) + 1)
    ax.barh(rows, steps, left=starts, color=_colours(steps), height=0.7)
    draw_errors(ax, ends, rows, errors)
    marks = np.r_[base, ends, ends[-1]]
    ax.vlines(
        marks[:-1],
        np.arange(len(marks) - 1),
        np.arange(1, len(marks)),
        color="0.5",
        lw=0.8,
        zorder=0,
    )
    ax.plot([base, ends[-1]], [0, len(steps) + 1], "D", color="black", ms=5)
    known = np.nan_to_num(errors)
    right = np.maximum(starts, ends + known)
    low = min(base, (ends - known).min(), starts.min())
    places, texts = [base, *right, ends[-1]], [number_text(base), *texts, number_text(ends[-1])]
    high = max(base, right.max())
    for row, (place, text) in enumerate(zip(places, texts, strict=True)):
        ax.annotate(text, (place, row), (7, 0), textcoords="offset points", va="center", fontsize=9)
        taken = min(0.5, 0.04 + LETTER * len(text))
        high = max(high, low + (place - low) / (1 - taken))
    room = (high - low) or 1
    ax.set_xlim(low - 0.04 * room, low + room)


def _colours(values: Float[np.ndarray, "n"]) -> list[str]:
    return [POSITIVE if value >= 0 else NEGATIVE for value in values]
