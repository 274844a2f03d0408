"""Pictures of effects: curves of rows under their mean, partial dependence, accumulated local
effects.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxshap.effects import AccumulatedEffect, Effect, IndividualCurves, PartialDependence
from jaxshap.errors import InputError
from jaxshap.plots.style import (
    DIVERGING,
    LINES,
    SEQUENTIAL,
    SURE,
    WIDEST,
    error_words,
    new_axes,
    shortened,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WORDS = 8  # categories below which there is room to say "rows"
FINER = 8  # steps between two ends of a bin
MOST_MARKS = 300  # of rows: more would hide what they are drawn on


def ice(
    curves: IndividualCurves,
    *,
    output: int | str | None = None,
    most: int = 100,
    ax: "Axes | None" = None,
) -> "Axes":
    """Curves of at most so many rows, thin, and over them the mean of all with ± 1.96 standard
    errors.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> jaxshap.plots.ice(curves).get_ylabel()
        'prediction (ICE)'
    """
    if len(curves.grids) == 2:
        raise InputError(
            "curves of two features are surfaces, one a row: draw their mean, "
            "plots.pdp(curves.average())."
        )
    values = _one_output(curves, np.asarray(curves.values), output, axis=2)
    ax = ax or new_axes(7, 4.2)
    shown = np.linspace(0, len(values) - 1, min(most, len(values))).astype(int)
    places = _places(curves)
    ax.plot(places, values[shown].T, color="0.6", lw=0.6, alpha=0.6, zorder=1)
    ax.plot([], [], color="0.6", lw=0.8, label=f"{len(shown)} of {len(values)} rows")
    _line(ax, curves.average(), output, "mean of all rows")
    ax.set_ylabel(
        _label(
            curves,
            output,
            "prediction" + (" less that at the start" if "centred" in curves.kind else ""),
        )
    )
    ax.legend(frameon=False, loc="best")
    return tidy(ax)


def pdp(
    effect: PartialDependence, *, output: int | str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """The mean prediction with ± 1.96 standard errors and a mark a row; of two features a map with
    level lines.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> jaxshap.plots.pdp(effect).get_ylabel()
        'mean prediction (PDP)'
    """
    if len(effect.grids) == 1:
        ax = ax or new_axes(7, 4.2)
        _line(ax, effect, output, "mean over rows")
        ax.legend(frameon=False)
        ax.set_ylabel(_label(effect, output, "mean prediction"))
        return tidy(ax)
    ax = ax or new_axes(6.4, 5)
    values = _one_output(effect, np.asarray(effect.values), output, axis=2)
    across, up = _places(effect, 0), _places(effect, 1)
    mesh = ax.pcolormesh(across, up, values.T, cmap=SEQUENTIAL, shading="nearest")
    if not any(effect.categorical):
        _level_lines(ax, across, up, values)
    if np.isnan(values).any():
        ax.set_title("blank: no row moved there looks like data", fontsize="medium")
    _map_axes(ax, effect, mesh, _label(effect, output, "mean prediction"))
    return ax


def ale(
    effect: AccumulatedEffect, *, output: int | str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """The accumulated effect, 0 on average, with ± 1.96 standard errors and a mark a row.

    Of two features a map with level lines, dashed below 0: what is left beside the effects of each.
    Cells without rows are hatched, and colours span those of the others.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> rows = [[0.0, 5.0], [1.0, 7.0], [2.0, 9.0], [3.0, 8.0]]
        >>> jaxshap.plots.ale(jaxshap.effects.ale(lambda x: 2 * x[:, 0] + x[:, 1], rows, 0, bins=3)).get_ylabel()
        'accumulated effect (ALE)'
    """
    if len(effect.grids) == 1:
        ax = ax or new_axes(7, 4.2)
        ax.axhline(0, color="0.4", lw=0.8, zorder=1)
        _line(ax, effect, output, "effect")
        ax.legend(frameon=False)
        ax.set_ylabel(_label(effect, output, "accumulated effect"))
        return tidy(ax)
    ax = ax or new_axes(6.4, 5)
    values = _one_output(effect, np.asarray(effect.values), output, axis=2)
    across, up = map(np.asarray, effect.grids)
    most = np.abs(values[_corners_with_rows(effect)]).max() or 1
    (sides, from_left), (heights, from_below) = _finer(across), _finer(up)
    between = from_below @ values.T @ from_left.T
    mesh = ax.pcolormesh(sides, heights, between, cmap=DIVERGING + "_r", vmin=-most, vmax=most)
    _level_lines(ax, across, up, np.clip(values, -most, most))
    if effect.filled.any():
        _hatch(ax, effect)
    beyond = "both" if np.abs(values).max() > most else "neither"
    _map_axes(ax, effect, mesh, _label(effect, output, "effect beside those of each"), beyond)
    return ax


def _line(
    ax: "Axes", effect: PartialDependence | AccumulatedEffect, output: int | str | None, label: str
) -> None:
    """One feature: a line with a band, or points with bars for categories, over marks of the rows."""
    values, errors = (
        _one_output(effect, np.asarray(part), output, axis=1)
        for part in (effect.values, effect.std_error)
    )
    places, errors, colour = _places(effect), SURE * errors, LINES[0]
    named = f"{label}, {error_words(errors)}"
    if effect.categorical[0]:
        how: dict[str, Any] = {
            "fmt": "o",
            "color": colour,
            "capsize": 4,
            "zorder": 3,
            "label": named,
        }
        ax.errorbar(places, values, yerr=errors, **how)
        counts = (np.asarray(effect.data) == effect.grids[0]).sum(0)
        below = "{:g}\n{} rows" if len(places) <= MOST_WORDS else "{:g}\n{}"
        ax.set_xticks(places, list(map(below.format, effect.grids[0], counts)))
        ax.set_xlim(-0.5, len(places) - 0.5)
        name = shortened(effect.feature_names[0], WIDEST)
        ax.set_xlabel(name + ("" if len(places) <= MOST_WORDS else ", and the number of rows"))
    else:
        ax.fill_between(
            places, values - errors, values + errors, color=colour, alpha=0.25, lw=0, zorder=2
        )
        ax.plot(places, values, color=colour, lw=2, zorder=3, label=named)
        margin = 0.03 * np.ptp(places) or 1
        ax.set_xlim(places.min() - margin, places.max() + margin)
        rows = np.sort(np.asarray(effect.data)[:, 0])
        marks = rows[np.linspace(0, len(rows) - 1, min(MOST_MARKS, len(rows))).astype(int)]
        how = {
            "transform": ax.get_xaxis_transform(),
            "color": "black",
            "ms": 7,
            "mew": 0.5,
            "alpha": 0.5,
        }
        ax.plot(marks, np.full(len(marks), 0.015), "|", **how)
        ax.set_xlabel(shortened(effect.feature_names[0], WIDEST))


def _level_lines(ax: "Axes", across: np.ndarray, up: np.ndarray, values: np.ndarray) -> None:
    """With their values, dashed below 0; so that a map can be read in grey."""
    if min(values.shape) < 2 or not np.isfinite(values).any() or np.nanstd(values) == 0:
        return
    from matplotlib.patheffects import withStroke as stroke

    lines = ax.contour(across, up, values.T, colors="white", linewidths=0.8)
    for drawn in (lines, *ax.clabel(lines, fontsize=8)):  # white on black is seen on every colour
        drawn.set_path_effects([stroke(linewidth=2, foreground="black")])


def _finer(grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of narrower bins, and what makes values at the ends of the old ones into values in the
    middle of these.
    """
    ends = np.linspace(0, len(grid) - 1, FINER * (len(grid) - 1) + 1)
    middles, places = (ends[1:] + ends[:-1]) / 2, np.arange(len(grid))
    return np.interp(ends, places, grid), np.maximum(1 - np.abs(middles[:, None] - places), 0)


def _corners_with_rows(effect: AccumulatedEffect) -> np.ndarray:
    held = np.pad(~np.asarray(effect.filled), 1)
    return held[1:, 1:] | held[:-1, 1:] | held[1:, :-1] | held[:-1, :-1]


def _hatch(ax: "Axes", effect: AccumulatedEffect) -> None:
    from matplotlib.patches import Rectangle

    across, up = (np.asarray(grid, float).tolist() for grid in effect.grids)
    for i, j in np.argwhere(effect.filled):
        width, height = across[i + 1] - across[i], up[j + 1] - up[j]
        ax.add_patch(
            Rectangle(
                (across[i], up[j]), width, height, fill=False, hatch="///", edgecolor="0.5", lw=0
            )
        )
    patch = Rectangle((0, 0), 1, 1, facecolor="white", edgecolor="0.5", hatch="///", lw=0.5)
    where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
    ax.legend([patch], ["no rows: as in the nearest cell that has some"], **where)


def _map_axes(ax: "Axes", effect: Effect, mesh, label: str, beyond: str = "neither") -> None:
    """Names of both features, a dot a row, and a bar of colours that may not reach all values."""
    limits = ax.get_xlim(), ax.get_ylim()
    some = np.linspace(0, len(effect.data) - 1, min(MOST_MARKS, len(effect.data))).astype(int)
    dots = [_dots(effect, side)[some] for side in (0, 1)]
    ax.scatter(*dots, s=8, color="white", edgecolors="black", linewidths=0.4, alpha=0.7, zorder=3)
    for side, axis in enumerate((ax.xaxis, ax.yaxis)):
        if effect.categorical[side]:
            axis.set_ticks(_places(effect, side), [f"{level:g}" for level in effect.grids[side]])
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    ax.set_xlabel(shortened(effect.feature_names[0], WIDEST))
    ax.set_ylabel(shortened(effect.feature_names[1], WIDEST))
    ax.figure.colorbar(mesh, ax=ax, label=label, extend=beyond)


def _dots(effect: Effect, side: int) -> np.ndarray:
    """Rows of a category are spread out beside it, the same in every picture."""
    column = np.asarray(effect.data)[:, side]
    if not effect.categorical[side]:
        return column
    grid = np.asarray(effect.grids[side])
    order = np.argsort(grid)
    place = order[np.clip(np.searchsorted(grid[order], column), 0, len(grid) - 1)]
    spread = np.arange(len(column)) * 0.618 % 1 - 0.5
    return np.where(grid[place] == column, place + 0.6 * spread, np.nan)


def _places(effect: Effect, side: int = 0) -> np.ndarray:
    """Where the points of a grid stand: categories at equal distances."""
    grid = np.asarray(effect.grids[side])
    return np.arange(len(grid)) if effect.categorical[side] else grid


def _one_output(
    effect: Effect, values: np.ndarray, output: int | str | None, axis: int
) -> np.ndarray:
    if values.ndim == axis:
        if output is not None:
            raise InputError(f"output={output!r}, and the model has a single one: leave it away.")
        return values
    names = effect.output_names or ()
    if output is None or (isinstance(output, str) and output not in names):
        raise InputError(
            f"there are {values.shape[axis]} outputs {list(names)}: pass the one to draw as "
            "output=."
        )
    return values[..., names.index(output) if isinstance(output, str) else output]


def _label(effect: Effect, output: int | str | None, what: str) -> str:
    names = effect.output_names
    name = names[output] if names and isinstance(output, int) else output
    return what + ("" if name is None else f", {name}") + f" ({effect.kind})"
