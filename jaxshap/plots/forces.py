"""Rows under the names that shap's users know: force, decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.explaining import Explanation, number_text
from jaxshap.plots.selection import (
    check_one_row,
    explained_output,
    half_intervals,
    interval_words,
    labels,
    one_output,
)
from jaxshap.plots.style import (
    NEGATIVE,
    POSITIVE,
    Axes,
    finished,
    given_axes,
    largest,
    name_rows,
    new_axes,
    pyplot,
    tidy,
    wrapped,
)

HEAD_SHARE = 0.006  # of the width: how far the head of an arrow reaches
MAX_LINES = 100  # rows in a decision plot, more would hide each other
STAGGER = 0.62  # by how much every other name stands lower
MIN_LABEL_SHARE = 0.05  # of the width of the axes, below which a part has no name


def force(
    explanation: Explanation, *, max_display: int = 8, show: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw what pushes the prediction of a row up, from the left, and down, from the right.

    Where both meet is the prediction. `waterfall` shows the same with error bars.

    Args:
        explanation: the explanation of one row and output.
        max_display: how many features have a part of their own; 8 by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or nothing to draw.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text() for text in jaxshap.plots.force(ex).texts]
        ['x0 = 1', 'x1 = 1', 'base value 0', 'prediction 1']
    """
    explanation = one_output(explanation, "force")
    check_one_row(explanation, "force")
    values, base = explanation.values[0].astype(float), float(explanation.base_values[0])
    order = largest(np.abs(values), max_display)
    names, steps = labels(explanation, order), values[order]
    if hidden := len(values) - len(order):
        names = [*names, f"{hidden} smaller"]
        steps = np.append(steps, np.delete(values, order).sum())
    ax = given_axes(ax) or new_axes(11, 3)
    end = base + float(values.sum())
    ups, downs = (np.flatnonzero(steps * sign > 0) for sign in (1, -1))
    low, high = min(end - steps[ups].sum(), base), max(end - steps[downs].sum(), base)
    room = float(high - low) or 1.0
    for parts, side in ((ups, -1), (downs, 1)):
        _draw_parts(ax, [names[part] for part in parts], np.abs(steps[parts]), end, side, room)
    for place, word, align in ((base, "base value", "right"), (end, "prediction", "left")):
        nudge = "center" if abs(base - end) > 0.25 * room else align
        ax.plot(
            [place, place], [-0.5, 0.72], color="0.2", lw=1, ls=":" if align == "right" else "-"
        )
        ax.text(place, 0.78, f"{word} {number_text(place)}", ha=nudge, va="bottom", fontsize=10)
    ax.set(xlim=(low - 0.06 * room, high + 0.06 * room), ylim=(-1.85, 1.25), yticks=[])
    spreads = half_intervals(explanation)[0]
    what = explained_output(explanation) or "output of the model"
    words = interval_words(spreads, explanation)
    note = words if explanation.exact else f"values ± {number_text(np.nanmax(spreads))} at most"
    ax.set_xlabel(wrapped(f"{what} ({note}), orange raises, blue lowers it"))
    ax.spines["left"].set_visible(False)
    return finished(tidy(ax), show)


def decision(
    explanation: Explanation, *, max_display: int = 12, show: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw each row as a line from the base value, below, to its prediction, above.

    Lines bend by the value of each feature, the largest on top, and have the colour of where they
    end.

    Args:
        explanation: the explanation of one output; 100 rows are drawn at most.
        max_display: how many features to draw, the largest first; 12 by default.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or nothing to draw.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ax = jaxshap.plots.decision(jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X))
        >>> len(ax.lines)
        21
    """
    explanation = one_output(explanation, "decision").sample(MAX_LINES)
    values, base = explanation.values, explanation.base_values
    order = largest(np.abs(values).mean(0), max_display)
    hidden = np.delete(values, order, axis=1).sum(1)
    steps = np.column_stack([hidden, values[:, order[::-1]]])  # from below
    paths = base[:, None] + np.column_stack([np.zeros(len(steps)), np.cumsum(steps, axis=1)])
    few = len(order) == values.shape[1]
    paths = paths[:, 1:] if few else paths
    names = labels(explanation, order)
    names += [] if few else [f"{values.shape[1] - len(order):,} smaller features"]
    ax = given_axes(ax) or new_axes(7.5, 1.6 + 0.32 * len(names))
    heights = len(names) - 0.5 - np.arange(paths.shape[1])
    ends, colours = paths[:, -1], pyplot().get_cmap("cividis")
    span = np.ptp(ends) or 1.0
    ax.axvline(float(base.mean()), color="0.6", lw=0.8, ls=":")
    for path, end in zip(paths, ends, strict=True):
        colour = colours((end - ends.min()) / span)
        ax.plot(path, heights, color=colour, lw=1.2 if len(paths) > 1 else 2, alpha=0.8)
    name_rows(ax, names)
    ax.grid(axis="y", color="0.92")
    what = explained_output(explanation) or "output of the model"
    ax.set_xlabel(wrapped(f"{what}, from the base value (below) to the prediction (above)"))
    return finished(tidy(ax), show)


def _draw_parts(
    ax: Axes,
    names: Sequence[str],
    sizes: Float[np.ndarray, "k"],
    end: float,
    side: int,
    room: float,
) -> None:
    """Draw arrows that point to the prediction: from the left where `side` is −1."""
    head, colour = HEAD_SHARE * room, POSITIVE if side < 0 else NEGATIVE
    near, labelled = end, 0
    for name, size in zip(names, sizes, strict=True):
        far = near + side * size
        inner, tail = near + side * head, far + side * head
        corners = [(inner, 0.45), (near, 0), (inner, -0.45), (tail, -0.45), (far, 0), (tail, 0.45)]
        x, y = zip(*corners, strict=True)
        ax.fill(x, y, facecolor=colour, edgecolor="white", lw=1)
        if size > MIN_LABEL_SHARE * room:
            depth = -0.58 - STAGGER * (labelled % 2)  # neighbours have no room side by side
            look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 9}
            ax.text((near + far) / 2, depth, _in_lines(name, size / room), **look)
            labelled += 1
        near = far


def _in_lines(name: str, share: float) -> str:
    """A name and its value one above the other where there is little room."""
    before, equals, after = name.partition(" = ")
    return f"{before} =\n{after}" if equals and share * 100 < 1.1 * len(name) else name
