"""Pictures of interactions of two players, of one row and output."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.explaining import Explanation
from jaxshap.games import read_whole
from jaxshap.interactions import Interactions
from jaxshap.plots.sets import interactions_and_names
from jaxshap.plots.style import (
    NEGATIVE,
    POSITIVE,
    Axes,
    given_axes,
    new_axes,
    shortened,
    signed_colours,
)

MAX_NUMBERED_PLAYERS = 12  # whose cells have room for numbers
CELL_INCHES = 0.62  # wide enough for a number
MIN_STRENGTH = 1e-3  # of the strongest pair, below which a pair counts as 0


def interaction_heatmap(
    interactions: Interactions | Explanation,
    *,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw pairs as a matrix, with single players on its diagonal.

    Cells hold their numbers for up to 12 players; of more players, negative cells hold a minus.
    Grey cells are not known.

    Args:
        interactions: the interactions of one row and output, of order 2 or more, or an
            explanation that has them.
        names: the names of the players; by default those of the explanation, or x0, x1, ….
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, no pairs, or not one name per player.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> interactions = jaxshap.interactions.exact_interactions(game)
        >>> ax = jaxshap.plots.interaction_heatmap(interactions, names=["age", "pay"])
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['age', 'pay']
    """
    interactions, names = interactions_and_names(interactions, names)
    matrix, labels = np.asarray(interactions.matrix(), np.float64), list(map(shortened, names))
    number = len(matrix)
    room = max(map(len, labels))  # letters of the longest name, beside and, turned, below
    cells = CELL_INCHES * min(number, 24)
    ax = given_axes(ax) or new_axes(1.6 + 0.08 * room + cells, 0.6 + 0.06 * room + 0.9 * cells)
    extent = np.nanmax(np.abs(matrix), initial=0) or 1
    ax.set_facecolor("0.85")  # seen where an interaction is not known
    image = ax.imshow(matrix, cmap=signed_colours(), vmin=-extent, vmax=extent)
    _write_cells(ax, matrix, float(extent))
    ax.set_xticks(range(number), labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(number), labels)
    ax.set_xticks(np.arange(number - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(number - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", lw=1)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=interactions.index)
    ax.set_title("on the diagonal: single players", fontsize="medium")
    return ax


def interaction_network(
    interactions: Interactions | Explanation,
    *,
    names: Sequence[str] | None = None,
    max_display: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw players on a circle, as large as their own values, and the strongest pairs as lines.

    Filled discs and solid lines are positive, open discs and dashed lines negative; grey discs are
    not known.

    Args:
        interactions: the interactions of one row and output, of order 2 or more, or an
            explanation that has them.
        names: the names of the players; by default those of the explanation, or x0, x1, ….
        max_display: how many pairs to draw, the strongest first; 30 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, no pairs, or not one name per player.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
        >>> interactions = jaxshap.interactions.exact_interactions(game)
        >>> jaxshap.plots.interaction_network(interactions).get_title()
        'SII: the 3 strongest of 3 pairs'
    """
    interactions, names = interactions_and_names(interactions, names)
    matrix, labels = np.asarray(interactions.matrix(), np.float64), list(map(shortened, names))
    number = len(matrix)
    ax = given_axes(ax) or new_axes(6.4, 5.6)
    angles = np.pi / 2 - 2 * np.pi * np.arange(number) / number
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    first, second = np.triu_indices(number, 1)
    pairs = np.nan_to_num(matrix[first, second])
    strongest = np.argsort(-np.abs(pairs))[: read_whole(max_display, "max_display")]
    extent = np.abs(pairs).max(initial=0) or 1
    drawn = strongest[np.abs(pairs[strongest]) > MIN_STRENGTH * extent]
    for pair in drawn[::-1]:
        ends, strength = places[[first[pair], second[pair]]], float(pairs[pair])
        width = 0.4 + 6 * abs(strength) / extent
        ax.plot(*ends.T, **_stroke(strength >= 0), lw=width, alpha=0.8, zorder=1)
    _draw_players(ax, places, np.diag(matrix), labels)
    _draw_legend(ax)
    title = f"{interactions.index}: the {len(drawn)} strongest of {len(pairs)} pairs"
    ax.set_title(title, fontsize=10)
    return ax


def _write_cells(ax: Axes, matrix: Float[np.ndarray, "n n"], extent: float) -> None:
    """Write numbers into known cells, or a minus where numbers have no room."""
    decimals = 2 - math.floor(math.log10(extent))  # three digits of the largest
    form = f".{max(decimals, 0)}f" if -2 <= decimals <= 4 else ".1e"
    for (row, column), value in np.ndenumerate(matrix):
        text = "−" if value < -extent / 50 else ""
        if len(matrix) <= MAX_NUMBERED_PLAYERS:
            text = f"{value:{form}}" if abs(value) > MIN_STRENGTH * extent else "0"
        if np.isfinite(value):
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
            look |= {"color": "white" if abs(value) > 0.7 * extent else "black"}
            ax.text(column, row, text.replace("-", "−"), **look)


def _draw_players(
    ax: Axes,
    places: Float[np.ndarray, "n 2"],
    values: Float[np.ndarray, "n"],
    names: Sequence[str],
) -> None:
    """Draw discs with areas like the values; small and grey ones where these are not known."""
    extent = np.abs(np.nan_to_num(values))
    radius = 0.035 + 0.12 * np.sqrt(extent / (extent.max(initial=0) or 1))
    for place, value, size, name in zip(places, values, radius, names, strict=True):
        colour = "0.6" if np.isnan(value) else POSITIVE if value >= 0 else NEGATIVE
        ax.add_patch(_disc(place, size, "white" if value < 0 else colour, colour))
        across, up = place * (1 + (size + 0.06) / np.hypot(*place))
        side = "center" if abs(place[0]) < 0.15 else "left" if place[0] > 0 else "right"
        level = "center" if abs(place[0]) >= 0.15 else "bottom" if place[1] > 0 else "top"
        ax.text(across, up, name, ha=side, va=level, fontsize=9)
    ax.set(xlim=(-1.55, 1.55), ylim=(-1.35, 1.35), aspect="equal")
    ax.set_axis_off()


def _draw_legend(ax: Axes) -> None:
    for positive, label in ((True, "positive"), (False, "negative")):
        face = POSITIVE if positive else "white"
        ax.plot([], [], **_stroke(positive), marker="o", markerfacecolor=face, label=label, lw=2)
    look: dict[str, Any] = {"ncols": 2, "frameon": False, "fontsize": 9, "handlelength": 4}
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), **look)


def _disc(place: Float[np.ndarray, "2"], radius: float, face: str, edge: str) -> Any:
    from matplotlib.patches import Circle

    return Circle((place[0], place[1]), radius, facecolor=face, edgecolor=edge, lw=2, zorder=2)


def _stroke(positive: bool) -> dict[str, Any]:
    """Solid, or dashed for what is negative."""
    return {"color": POSITIVE, "ls": "-"} if positive else {"color": NEGATIVE, "ls": (0, (4, 2))}
