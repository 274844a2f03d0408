"""The effect of one feature: a curve with a band, or points with bars for categories."""

from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from jaxshap.effects import AccumulatedEffect, Effect, PartialDependence
from jaxshap.plots.style import (
    LINES,
    MAX_LINE_CHARACTERS,
    QUANTILE,
    Axes,
    error_words,
    shortened,
)

MAX_SPELT_CATEGORIES = 8  # below which there is room to write "rows"
MAX_MARKS = 300  # of rows: more would hide what they are drawn on


def grid_places(effect: Effect, side: int = 0) -> Shaped[np.ndarray, "points"]:
    """Where the points of a grid stand: categories at equal distances."""
    grid = np.asarray(effect.grids[side])
    return np.arange(len(grid)) if effect.categorical[side] else grid


def spread_rows(number: int) -> Shaped[np.ndarray, "marks"]:
    """At most so many rows as there may be marks, spread over all `number` of them."""
    return np.linspace(0, number - 1, min(MAX_MARKS, number)).astype(int)


def draw_curve(
    ax: Axes,
    effect: PartialDependence | AccumulatedEffect,
    values: Float[np.ndarray, "points"],
    std_error: Float[np.ndarray, "points"],
    label: str,
) -> None:
    """Draw the effect of one feature with its 95 % interval, over marks of the rows."""
    errors = QUANTILE * std_error
    label = f"{label}, {error_words(errors)}"
    if effect.categorical[0]:
        _draw_categories(ax, effect, values, errors, label)
    else:
        _draw_line(ax, effect, values, errors, label)


def _draw_categories(
    ax: Axes,
    effect: PartialDependence | AccumulatedEffect,
    values: Float[np.ndarray, "points"],
    errors: Float[np.ndarray, "points"],
    label: str,
) -> None:
    """Draw points with error bars, and below each category its number of rows."""
    places = grid_places(effect)
    look: dict[str, Any] = {"fmt": "o", "color": LINES[0], "capsize": 4, "zorder": 3}
    ax.errorbar(places, values, yerr=errors, label=label, **look)
    counts = (np.asarray(effect.data) == effect.grids[0]).sum(0)
    spelt = len(places) <= MAX_SPELT_CATEGORIES
    below = "{:g}\n{} rows" if spelt else "{:g}\n{}"
    ax.set_xticks(places, list(map(below.format, effect.grids[0], counts)))
    ax.set_xlim(-0.5, len(places) - 0.5)
    name = shortened(effect.feature_names[0], MAX_LINE_CHARACTERS)
    ax.set_xlabel(name if spelt else f"{name}, and the number of rows")


def _draw_line(
    ax: Axes,
    effect: PartialDependence | AccumulatedEffect,
    values: Float[np.ndarray, "points"],
    errors: Float[np.ndarray, "points"],
    label: str,
) -> None:
    """Draw a line in a band of errors, and a mark per row on the axis."""
    places, colour = grid_places(effect), LINES[0]
    band = {"color": colour, "alpha": 0.25, "lw": 0, "zorder": 2}
    ax.fill_between(places, values - errors, values + errors, **band)
    ax.plot(places, values, color=colour, lw=2, zorder=3, label=label)
    margin = 0.03 * np.ptp(places) or 1
    ax.set_xlim(places.min() - margin, places.max() + margin)
    rows = np.sort(np.asarray(effect.data)[:, 0])
    marks = rows[spread_rows(len(rows))]
    look: dict[str, Any] = {"color": "black", "ms": 7, "mew": 0.5, "alpha": 0.5}
    on_axis = ax.get_xaxis_transform()
    ax.plot(marks, np.full(len(marks), 0.015), "|", transform=on_axis, **look)
    ax.set_xlabel(shortened(effect.feature_names[0], MAX_LINE_CHARACTERS))
