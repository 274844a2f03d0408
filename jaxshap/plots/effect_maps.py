"""The effect of two features: a map of colours with level lines and a dot per row."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Shaped

from jaxshap.effects import AccumulatedEffect, Effect, PartialDependence
from jaxshap.plots.effect_curves import grid_places, spread_rows
from jaxshap.plots.style import (
    MAX_LINE_CHARACTERS,
    SEQUENTIAL,
    Axes,
    shortened,
    signed_colours,
)

FINE_STEPS = 8  # colours between two ends of a bin
GOLDEN_RATIO = 0.618  # spreads the dots of a category evenly, and alike in every picture


def draw_dependence_map(
    ax: Axes, effect: PartialDependence, values: Float[np.ndarray, "across up"], label: str
) -> None:
    """Draw the mean prediction; it is blank where no row moved there looks like data."""
    across, up = grid_places(effect, 0), grid_places(effect, 1)
    mesh = ax.pcolormesh(across, up, values.T, cmap=SEQUENTIAL, shading="nearest")
    if not any(effect.categorical):
        _draw_level_lines(ax, across, up, values)
    if np.isnan(values).any():
        ax.set_title("blank: no row moved there looks like data", fontsize="medium")
    _finish_map(ax, effect, mesh, label)


def draw_accumulated_map(
    ax: Axes, effect: AccumulatedEffect, values: Float[np.ndarray, "across up"], label: str
) -> None:
    """Draw the accumulated effect; cells without rows are hatched and do not set the colours."""
    across, up = map(np.asarray, effect.grids)
    limit = np.abs(values[_corners_with_rows(effect)]).max() or 1
    (sides, from_left), (heights, from_below) = _refined(across), _refined(up)
    between = from_below @ values.T @ from_left.T
    look: dict[str, Any] = {"cmap": signed_colours(), "vmin": -limit, "vmax": limit}
    mesh = ax.pcolormesh(sides, heights, between, **look)
    _draw_level_lines(ax, across, up, np.clip(values, -limit, limit))
    if effect.filled.any():
        _hatch_cells_without_rows(ax, effect)
    beyond = "both" if np.abs(values).max() > limit else "neither"
    _finish_map(ax, effect, mesh, label, beyond)


def _draw_level_lines(
    ax: Axes,
    across: Shaped[np.ndarray, "across"],
    up: Shaped[np.ndarray, "up"],
    values: Float[np.ndarray, "across up"],
) -> None:
    """Draw lines with their values, dashed below 0, so that a map can be read in grey."""
    if min(values.shape) < 2 or not np.isfinite(values).any() or np.nanstd(values) == 0:
        return
    from matplotlib.patheffects import withStroke

    lines = ax.contour(across, up, values.T, colors="white", linewidths=0.8)
    for drawn in (lines, *ax.clabel(lines, fontsize=8)):  # white on black is seen on every colour
        drawn.set_path_effects([withStroke(linewidth=2, foreground="black")])


def _refined(
    grid: Float[np.ndarray, "points"],
) -> tuple[Float[np.ndarray, "ends"], Float[np.ndarray, "bins points"]]:
    """Ends of narrower bins, and the weights that make values at the grid into values in them."""
    ends = np.linspace(0, len(grid) - 1, FINE_STEPS * (len(grid) - 1) + 1)
    middles, places = (ends[1:] + ends[:-1]) / 2, np.arange(len(grid))
    return np.interp(ends, places, grid), np.maximum(1 - np.abs(middles[:, None] - places), 0)


def _corners_with_rows(effect: AccumulatedEffect) -> Bool[np.ndarray, "across up"]:
    """Points of the grid that touch a cell with rows."""
    held = np.pad(~np.asarray(effect.filled), 1)
    return held[1:, 1:] | held[:-1, 1:] | held[1:, :-1] | held[:-1, :-1]


def _hatch_cells_without_rows(ax: Axes, effect: AccumulatedEffect) -> None:
    from matplotlib.patches import Rectangle

    across, up = (np.asarray(grid, float).tolist() for grid in effect.grids)
    look: dict[str, Any] = {"hatch": "///", "edgecolor": "0.5"}
    for i, j in np.argwhere(effect.filled):
        width, height = across[i + 1] - across[i], up[j + 1] - up[j]
        ax.add_patch(Rectangle((across[i], up[j]), width, height, fill=False, lw=0, **look))
    sample = Rectangle((0, 0), 1, 1, facecolor="white", lw=0.5, **look)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
    ax.legend([sample], ["no rows: as in the nearest cell that has some"], **place)


def _finish_map(ax: Axes, effect: Effect, mesh: Any, label: str, beyond: str = "neither") -> None:
    """Add names of both features, a dot per row, and a bar of colours.

    `beyond` says at which ends values go beyond the colours.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    some = spread_rows(len(effect.data))
    dots = [_dots(effect, side)[some] for side in (0, 1)]
    ax.scatter(*dots, s=8, color="white", edgecolors="black", linewidths=0.4, alpha=0.7, zorder=3)
    for side, axis in enumerate((ax.xaxis, ax.yaxis)):
        if effect.categorical[side]:
            levels = [f"{level:g}" for level in effect.grids[side]]
            axis.set_ticks(grid_places(effect, side), levels)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    ax.set_xlabel(shortened(effect.feature_names[0], MAX_LINE_CHARACTERS))
    ax.set_ylabel(shortened(effect.feature_names[1], MAX_LINE_CHARACTERS))
    ax.figure.colorbar(mesh, ax=ax, label=label, extend=beyond)


def _dots(effect: Effect, side: int) -> Float[np.ndarray, "rows"]:
    """Where the rows stand on one axis; rows of a category are spread out beside it."""
    column = np.asarray(effect.data)[:, side]
    if not effect.categorical[side]:
        return column
    grid = np.asarray(effect.grids[side])
    order = np.argsort(grid)
    place = order[np.clip(np.searchsorted(grid[order], column), 0, len(grid) - 1)]
    spread = np.arange(len(column)) * GOLDEN_RATIO % 1 - 0.5
    return np.where(grid[place] == column, place + 0.6 * spread, np.nan)
