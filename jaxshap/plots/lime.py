"""Pictures of what LIME says for several kernel widths."""

from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import check_kind, read_whole
from jaxshap.lime import WidthStability
from jaxshap.plots.style import (
    LINES,
    QUANTILE,
    Axes,
    given_axes,
    largest,
    legend_beside,
    new_axes,
    shortened,
    tidy,
)

DASHES = ("-", "--", "-.", ":")


def lime_stability(
    stability: WidthStability,
    *,
    row: int = 0,
    output: int | None = None,
    max_display: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw LIME's coefficients of one row over the kernel width.

    Bands are 95 % intervals. Where a line changes its sign or its rank, what
    LIME says depends on the width.

    Args:
        stability: what `jaxshap.lime.width_stability` returned.
        row: the number of the row to draw, the first by default.
        output: the number of the output to draw; needed where there are several.
        max_display: how many features to draw, the largest first; 6 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs and none is chosen.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> def model(x):
        ...     return x[:, 0] ** 2 - x[:, 2]
        >>> stability = jaxshap.lime.width_stability(0, model, X[:1], X)
        >>> jaxshap.plots.lime_stability(stability).get_xlabel()
        'kernel width (standard deviations)'
    """
    check_kind(stability, WidthStability, "stability", "what jaxshap.lime.width_stability returned")
    row = read_whole(row, "row", 0, stability.coefficients.shape[1] - 1)
    coefficients, errors = stability.coefficients[:, row], stability.std_error[:, row]
    if coefficients.ndim > 2 and output is None:
        raise InputError(
            f"lime_stability draws one output and there are {coefficients.shape[2:]}: pass output=."
        )
    if output is not None:
        shape = coefficients.shape[2:] or (1,)
        output = read_whole(output, "output", 0, shape[0] - 1)
        coefficients, errors = (
            array.reshape(*array.shape[:2], *shape)[..., output] for array in (coefficients, errors)
        )
    order = largest(np.abs(coefficients).max(0), max_display)
    ax = given_axes(ax) or new_axes(7, 4)
    for number, feature in enumerate(order):
        colour, dash = LINES[number % len(LINES)], DASHES[number % len(DASHES)]
        line, band = coefficients[:, feature], QUANTILE * np.nan_to_num(errors[:, feature])
        look: dict[str, Any] = {"color": colour, "ls": dash, "marker": "o", "ms": 3}
        name = shortened(stability.feature_names[feature])
        ax.plot(stability.widths, line, label=name, **look)
        ax.fill_between(stability.widths, line - band, line + band, color=colour, alpha=0.15, lw=0)
    ax.axhline(0, color="black", lw=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("kernel width (standard deviations)")
    ax.set_ylabel("LIME coefficient (per standard deviation)")
    ax.set_xticks(stability.widths, [f"{width:.2g}" for width in stability.widths])
    ax.minorticks_off()
    legend_beside(ax)
    return tidy(ax)
