"""Pictures of effects: curves of rows, partial dependence, and accumulated local effects."""

import numpy as np

from jaxshap.effects import AccumulatedEffect, Effect, IndividualCurves, PartialDependence
from jaxshap.errors import InputError
from jaxshap.games import check_kind, read_whole
from jaxshap.plots.effect_curves import draw_curve, grid_places
from jaxshap.plots.effect_maps import draw_accumulated_map, draw_dependence_map
from jaxshap.plots.style import Axes, given_axes, new_axes, tidy


def ice(
    curves: IndividualCurves,
    *,
    output: int | str | None = None,
    max_display: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw the curves of some rows, thin, and over them the mean of all rows.

    The mean has a band, its 95 % interval.

    Args:
        curves: what `jaxshap.effects.ice` returned for one feature.
        output: the output to draw, by name or number; needed where there are several.
        max_display: how many rows to draw at most, 100 by default; the mean is always of all rows.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: the curves are of two features, or the output is not clear.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> jaxshap.plots.ice(curves).get_ylabel()
        'prediction (ICE)'
    """
    check_kind(curves, IndividualCurves, "curves", "what jaxshap.effects.ice returned")
    if len(curves.grids) == 2:
        raise InputError(
            "curves of two features are surfaces, one per row: draw their mean, "
            "plots.pdp(curves.average())."
        )
    values = _pick_output(curves, curves.values, output, axis=2)
    ax = given_axes(ax) or new_axes(7, 4.2)
    number = min(read_whole(max_display, "max_display"), len(values))
    shown = np.linspace(0, len(values) - 1, number).astype(int)
    ax.plot(grid_places(curves), values[shown].T, color="0.6", lw=0.6, alpha=0.6, zorder=1)
    ax.plot([], [], color="0.6", lw=0.8, label=f"{len(shown)} of {len(values)} rows")
    _draw_one_feature(ax, curves.average(), output, "mean of all rows")
    what = "prediction" + (" less that at the start" if "centred" in curves.kind else "")
    ax.set_ylabel(_label(curves, output, what))
    ax.legend(frameon=False, loc="best")
    return tidy(ax)


def pdp(
    effect: PartialDependence, *, output: int | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the partial dependence of one feature as a curve, or of two as a map.

    A curve has its 95 % interval and a mark per row; a map has level lines and a dot per row,
    and is blank outside of the support of the data where that was asked for.

    Args:
        effect: what `jaxshap.effects.pdp` returned.
        output: the output to draw, by name or number; needed where there are several.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: the output is not clear.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> jaxshap.plots.pdp(effect).get_ylabel()
        'mean prediction (PDP)'
    """
    check_kind(effect, PartialDependence, "effect", "what jaxshap.effects.pdp returned")
    label = _label(effect, output, "mean prediction")
    if len(effect.grids) == 1:
        ax = given_axes(ax) or new_axes(7, 4.2)
        _draw_one_feature(ax, effect, output, "mean over rows")
        ax.legend(frameon=False)
        ax.set_ylabel(label)
        return tidy(ax)
    values = _pick_output(effect, effect.values, output, axis=2)
    ax = given_axes(ax) or new_axes(6.4, 5)
    draw_dependence_map(ax, effect, values, label)
    return ax


def ale(
    effect: AccumulatedEffect, *, output: int | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the accumulated local effect of one feature as a curve, or of two as a map.

    A curve is 0 on average and has its 95 % interval and a mark per row. A map shows what is
    left beside the effects of each feature, with level lines, dashed below 0; cells without rows
    are hatched, and the colours span the other cells.

    Args:
        effect: what `jaxshap.effects.ale` returned.
        output: the output to draw, by name or number; needed where there are several.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: the output is not clear.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, matplotlib
        >>> matplotlib.use("Agg")  # no window
        >>> rows = [[0.0, 5.0], [1.0, 7.0], [2.0, 9.0], [3.0, 8.0]]
        >>> effect = jaxshap.effects.ale(lambda x: 2 * x[:, 0] + x[:, 1], rows, 0, bins=3)
        >>> jaxshap.plots.ale(effect).get_ylabel()
        'accumulated effect (ALE)'
    """
    check_kind(effect, AccumulatedEffect, "effect", "what jaxshap.effects.ale returned")
    if len(effect.grids) == 1:
        ax = given_axes(ax) or new_axes(7, 4.2)
        ax.axhline(0, color="0.4", lw=0.8, zorder=1)
        _draw_one_feature(ax, effect, output, "effect")
        ax.legend(frameon=False)
        ax.set_ylabel(_label(effect, output, "accumulated effect"))
        return tidy(ax)
    values = _pick_output(effect, effect.values, output, axis=2)
    ax = given_axes(ax) or new_axes(6.4, 5)
    draw_accumulated_map(ax, effect, values, _label(effect, output, "effect beside those of each"))
    return ax


def _draw_one_feature(
    ax: Axes, effect: PartialDependence | AccumulatedEffect, output: int | str | None, label: str
) -> None:
    values = _pick_output(effect, effect.values, output, axis=1)
    errors = _pick_output(effect, effect.std_error, output, axis=1)
    draw_curve(ax, effect, values, errors, label)


def _pick_output(effect: Effect, values, output: int | str | None, axis: int) -> np.ndarray:
    """The values of one output, whose axis this is where there are several."""
    values = np.asarray(values)
    if values.ndim == axis:
        if output is not None:
            raise InputError(f"output={output!r}, and the model has a single one: omit output=.")
        return values
    names = effect.output_names or ()
    if output is None or (isinstance(output, str) and output not in names):
        raise InputError(
            f"there are {values.shape[axis]} outputs {list(names)}: pass the one to draw as "
            "output=."
        )
    return values[..., names.index(output) if isinstance(output, str) else output]


def _label(effect: Effect, output: int | str | None, what: str) -> str:
    """What an axis shows, with the name of the output and the kind of effect."""
    names = effect.output_names
    name = names[output] if names and isinstance(output, int) else output
    return what + ("" if name is None else f", {name}") + f" ({effect.kind})"
