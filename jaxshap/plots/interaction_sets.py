"""Pictures of interactions of any order, of one row and output: bars over sets, and a stack."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, number_text
from jaxshap.interactions import Interactions, aggregated
from jaxshap.plots.sets import interactions_and_names
from jaxshap.plots.style import (
    NEGATIVE,
    POSITIVE,
    QUANTILE,
    Axes,
    colours_by_sign,
    error_words,
    given_axes,
    largest,
    new_axes,
    pyplot,
    shortened,
    tidy,
    wrapped,
)

MATRIX_SHARE = 0.09  # of the height of the bars, per player below them, within axes that are given
BARS_HEIGHT, ROW_HEIGHT = 2.8, 0.27  # inches, of the bars and of each player's row of dots
MIN_LABEL_SHARE = 0.06  # of a stack's length, below which a part has no room for its name
EFFICIENT = ("k-SII", "STII", "FSII", "SV")


def interaction_bars(
    interactions: Interactions | Explanation,
    *,
    names: Sequence[str] | None = None,
    max_display: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the strongest interactions of all orders as bars, over a matrix of who is in each set.

    Error bars are 95 % intervals. Players in none of the sets have no row.

    Args:
        interactions: the interactions of one row and output, or an explanation that has them.
        names: the names of the players; by default those of the explanation, or x0, x1, ….
        max_display: how many sets to draw, the strongest first; 20 by default.
        ax: the axes of the bars; by default new ones. The matrix hangs below them.

    Returns:
        The axes of the bars.

    Raises:
        InputError: there are several rows or outputs, or not one name per player.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> interactions = jaxshap.interactions.exact_interactions(game)
        >>> jaxshap.plots.interaction_bars(interactions, max_display=2).get_title()
        'SII: the 2 strongest of 3 sets'
    """
    interactions, names = interactions_and_names(interactions, names)
    values, labels = np.asarray(interactions.values, np.float64), list(map(shortened, names))
    errors = QUANTILE * np.asarray(interactions.std_error, np.float64)
    shown = largest(np.abs(np.nan_to_num(values)), max_display)
    members = interactions.members[shown]
    players = np.flatnonzero(members.any(0))
    ax, below = _axes_above_a_matrix(given_axes(ax), len(shown), len(players))
    columns = np.arange(len(shown))
    ax.bar(columns, values[shown], color=colours_by_sign(values[shown]), width=0.7)
    known = errors[shown] > 0
    ends = values[shown][known], errors[shown][known]
    ax.errorbar(columns[known], ends[0], yerr=ends[1], fmt="none", ecolor="black", capsize=3, lw=1)
    ax.axhline(0, color="black", lw=0.8)
    ax.set_xlim(-0.6, len(shown) - 0.4)
    ax.set_xticks([])
    ax.set_ylabel(wrapped(interactions.index, error_words(errors[shown])))
    ax.set_title(f"{interactions.index}: the {len(shown)} strongest of {len(values)} sets")
    _draw_members(below, members[:, players], [labels[player] for player in players])
    below.set_xlim(ax.get_xlim())
    return tidy(ax)


def interaction_stack(
    interactions: Interactions | Explanation,
    *,
    names: Sequence[str] | None = None,
    max_display: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw how interactions lead from the base value to the prediction, as in a force plot.

    What raises the prediction pushes to the right, up to it, and what lowers it stands beyond it.

    Args:
        interactions: the interactions of one row and output, of an index that adds up: "k-SII",
            "STII", "FSII", "SV", or "Moebius" of all orders; or of "SII", as in an explanation,
            which is drawn as its k-SII (`jaxshap.interactions.aggregated`).
        names: the names of the players; by default those of the explanation, or x0, x1, ….
        max_display: how many sets to draw on their own, the strongest first; all others are one
            part on each side.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: the index does not add up to the prediction, there are several rows or outputs,
            or not one name per player.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> interactions = jaxshap.interactions.exact_interactions(game, "k-SII")
        >>> jaxshap.plots.interaction_stack(interactions).get_title()
        'from the base value 0 to 6'
    """
    interactions, names = interactions_and_names(interactions, names)
    interactions = aggregated(interactions) if interactions.index == "SII" else interactions
    values, labels = np.asarray(interactions.values, np.float64), list(map(shortened, names))
    whole = interactions.index == "Moebius" and interactions.order == interactions.num_players
    if interactions.index not in EFFICIENT and not whole:
        raise InputError(
            f"{interactions.index} of order {interactions.order} does not add up to the "
            'prediction: pass interactions of index "SII", "k-SII", "STII" or "FSII".'
        )
    shown = largest(np.abs(np.nan_to_num(values)), max_display)
    base = float(interactions.base_values)
    total = base + float(values.sum())
    ax = given_axes(ax) or new_axes(9, 2.2)
    span = max(np.abs(values).sum(), np.finfo(float).tiny)
    for positive in (True, False):
        side = [place for place in shown if (values[place] > 0) == positive and values[place] != 0]
        rest = values[(values > 0) == positive].sum() - values[side].sum()
        words = [" × ".join(labels[i] for i in interactions.sets[place]) for place in side]
        parts = [*zip(values[side], words, strict=True), (rest, "others")]
        _draw_parts(ax, total, parts, span, POSITIVE if positive else NEGATIVE)
    ax.axvline(total, color="black", lw=1.5)
    ax.axvline(base, color="0.5", lw=1, ls=":")
    ax.set_ylim(-0.6, 0.6)
    ax.set_yticks([])
    ax.set_title(f"from the base value {number_text(base)} to {number_text(total)}")
    ax.set_xlabel(interactions.index)
    ax.spines["left"].set_visible(False)
    return tidy(ax)


def _axes_above_a_matrix(ax: Axes | None, num_sets: int, num_rows: int) -> tuple[Axes, Axes]:
    """Axes for bars and, below them, for their members: within those given, or in a new figure."""
    if ax is not None:
        height = MATRIX_SHARE * num_rows
        return ax, ax.inset_axes((0, -height - 0.03, 1, height))
    heights = BARS_HEIGHT, ROW_HEIGHT * num_rows
    figure, pair = pyplot().subplots(
        2,
        figsize=(2.5 + 0.42 * num_sets, sum(heights)),
        height_ratios=heights,
        layout="constrained",
    )
    figure.get_layout_engine().set(hspace=0, h_pad=0.02)
    return pair[0], pair[1]


def _draw_parts(ax: Axes, end: float, parts: list, span: float, colour: str) -> None:
    """Parts that end at the prediction, the largest next to it: raising ones left of it."""
    for value, name in parts:
        if value == 0:
            continue
        start = end - value
        left = min(start, end)
        ax.barh(0, abs(value), left=left, color=colour, edgecolor="white", height=0.5)
        if abs(value) > MIN_LABEL_SHARE * span:
            ax.text(left + abs(value) / 2, 0, name, ha="center", va="center", fontsize=8)
        end = start


def _draw_members(ax: Axes, members: Bool[np.ndarray, "sets k"], names: list[str]) -> None:
    """Dots for the members of each set, joined by a line; the rows of an upset plot."""
    rows: Int[np.ndarray, "k"] = np.arange(len(names))
    grid: Float[np.ndarray, "sets k 2"] = np.stack(
        np.broadcast_arrays(np.arange(len(members))[:, None], rows), axis=2
    ).astype(float)
    ax.scatter(*grid.reshape(-1, 2).T, color="0.88", s=18)
    ax.scatter(*grid[members].T, color="0.15", s=26, zorder=3)
    for column, inside in enumerate(members):
        ends = np.flatnonzero(inside)[[0, -1]]
        ax.plot([column, column], ends, color="0.15", lw=1.5, zorder=2)
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
