"""Rows under the names that shap's users know: force, decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, half_intervals, number_text
from jaxshap.games import read_flag
from jaxshap.plots.selection import (
    check_one_row,
    explained_output,
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
STAGGER = 0.68  # by how much names stand lower where others are in their way
CHARACTER_INCHES = 0.073  # of a name
MARK_INCHES = 1.5  # between base value and prediction, below which their words need room
MIN_LABEL_SHARE = 0.05  # of the width of the axes, below which a part has no name


def force(
    explanation: Explanation,
    *,
    max_display: int = 8,
    matplotlib: bool = True,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw what pushes the prediction of a row up, from the left, and down, from the right.

    Where both meet is the prediction. `waterfall` shows the same with error bars.

    Args:
        explanation: the explanation of one row and output.
        max_display: how many features have a part of their own; 8 by default.
        matplotlib: true, as in scripts that were written for shap, which draws in JavaScript too.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, nothing to draw, or `matplotlib` is false.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text().split("\\n") for text in jaxshap.plots.force(ex).texts]
        [['x0 = 1', '+2'], ['x1 = 1', '−1'], ['base value 0'], ['prediction 1']]
    """
    if not read_flag(matplotlib, "matplotlib"):
        raise InputError("matplotlib=False: force is drawn by matplotlib; omit the argument.")
    explanation = one_output(explanation, "force")
    check_one_row(explanation, "force")
    values, base = explanation.values[0].astype(float), float(explanation.base_values[0])
    spreads, order = half_intervals(explanation)[0], largest(np.abs(values), max_display)
    names, steps = labels(explanation, order), values[order]
    words = [
        number_text(step, spreads[at], signed=True) for step, at in zip(steps, order, strict=True)
    ]
    if hidden := len(values) - len(order):
        names = [*names, f"{hidden} smaller"]
        steps = np.append(steps, np.delete(values, order).sum())
        words.append(number_text(steps[-1], signed=True))
    ax, texts = given_axes(ax) or new_axes(11, 3), [*map("\n".join, zip(names, words, strict=True))]
    end = base + float(values.sum())
    ups, downs = (np.flatnonzero(steps * sign > 0) for sign in (1, -1))
    low, high = min(end - steps[ups].sum(), base), max(end - steps[downs].sum(), base)
    room = float(high - low) or 1.0
    for parts, side in ((ups, -1), (downs, 1)):
        _draw_parts(ax, np.abs(steps[parts]), end, side, room)
    middles = np.empty(len(steps))
    for parts in (ups, downs):
        middles[parts] = end - np.cumsum(steps[parts]) + steps[parts] / 2
    shown = np.flatnonzero(np.abs(steps) > MIN_LABEL_SHARE * room)
    depth = _name_parts(ax, [texts[part] for part in shown], middles[shown], room)
    _mark(ax, base, end, room)
    ax.set(xlim=(low - 0.06 * room, high + 0.06 * room), ylim=(depth, 1.25), yticks=[])
    what = explained_output(explanation) or "output of the model"
    note = interval_words(spreads, explanation)
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
    _draw_ends(ax, ends, colours)
    ax.grid(axis="y", color="0.92")
    what = explained_output(explanation) or "output of the model"
    ax.set_xlabel(wrapped(f"{what}, from the base value (below) to the prediction (above)"))
    return finished(tidy(ax), show)


def _draw_ends(ax: Axes, ends: Float[np.ndarray, "rows"], colours: Any) -> None:
    """Mark predictions above all names: one with its number, several with a colour bar."""
    ax.set_ylim(top=-1)
    points = ax.scatter(ends, np.full(len(ends), -0.5), c=ends, cmap=colours, s=22, zorder=3)
    if len(ends) > 1:
        ax.figure.colorbar(points, ax=ax, label="prediction")
        return
    words, is_left = f"prediction {number_text(ends[0])}", ends[0] < np.mean(ax.get_xlim())
    where: dict[str, Any] = {"textcoords": "offset points", "ha": "left" if is_left else "right"}
    ax.annotate(words, (ends[0], -0.5), (0, 6), **where, fontsize=9)


def _draw_parts(
    ax: Axes, sizes: Float[np.ndarray, "k"], end: float, side: int, room: float
) -> None:
    """Draw arrows that point to the prediction: from the left where `side` is −1."""
    head, colour = HEAD_SHARE * room, POSITIVE if side < 0 else NEGATIVE
    near = end
    for size in sizes:
        far = near + side * size
        inner, tail = near + side * head, far + side * head
        corners = [(inner, 0.45), (near, 0), (inner, -0.45), (tail, -0.45), (far, 0), (tail, 0.45)]
        x, y = zip(*corners, strict=True)
        ax.fill(x, y, facecolor=colour, edgecolor="white", lw=1)
        near = far


def _name_parts(
    ax: Axes, texts: Sequence[str], middles: Float[np.ndarray, "k"], room: float
) -> float:
    """Write texts below the middles of their parts, lower where others are in the way.

    Returns how far down the axes must reach.
    """
    character = CHARACTER_INCHES * _per_inch(ax, room)
    reached: list[float] = []  # how far to the right each level is taken
    for middle, text in sorted(zip(middles.tolist(), texts, strict=True)):
        half = character * max(map(len, text.split("\n"))) / 2
        free = [level for level, right in enumerate(reached) if middle - half > right]
        level = free[0] if free else len(reached)
        reached[level : level + 1] = [middle + half]
        top = -0.62 - STAGGER * level
        ax.vlines(middle, top, -0.45, color="0.6", lw=0.8, zorder=1)
        box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(middle, top, text, ha="center", va="top", fontsize=9, bbox=box)
    return -0.7 - STAGGER * max(1, len(reached))


def _mark(ax: Axes, base: float, end: float, room: float) -> None:
    """Mark the base value and the prediction, with their numbers above."""
    close = abs(base - end) < MARK_INCHES * _per_inch(ax, room)
    for place, other, word, line in (
        (base, end, "base value", ":"),
        (end, base, "prediction", "-"),
    ):
        is_left = place < other or (place == other and line == ":")
        nudge = "center" if not close else "right" if is_left else "left"
        ax.plot([place, place], [-0.5, 0.72], color="0.2", lw=1, ls=line)
        ax.text(place, 0.78, f"{word} {number_text(place)}", ha=nudge, va="bottom", fontsize=10)


def _per_inch(ax: Axes, room: float) -> float:
    """How much of the output an inch of the axes shows, whose margins are 6 % each."""
    return 1.12 * room * ax.figure.dpi / ax.get_window_extent().width
