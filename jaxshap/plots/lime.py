"""Pictures of what LIME says for several kernel widths."""

from typing import TYPE_CHECKING

import numpy as np

from jaxshap.errors import InputError
from jaxshap.lime import WidthStability
from jaxshap.plots.style import LINES, SURE, largest, legend_beside, new_axes, shortened, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("-", "--", "-.", ":")


def lime_stability(
    found: WidthStability,
    *,
    row: int = 0,
    output: int | None = None,
    most: int = 6,
    ax: "Axes | None" = None,
) -> "Axes":
    """Coefficients of one row over the kernel width, with ± 1.96 standard errors; the largest
    features by name.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> found = jaxshap.lime.width_stability(0, lambda x: x[:, 0] ** 2 - x[:, 2], X[:1], X)
        >>> jaxshap.plots.lime_stability(found).get_xlabel()
        'kernel width (standard deviations)'
    """
    coefficients, errors = found.coefficients[:, row], found.std_error[:, row]
    if coefficients.ndim > 2 and output is None:
        raise InputError(
            f"lime_stability draws one output and there are {coefficients.shape[2:]}: pass output=."
        )
    if output is not None:
        coefficients, errors = coefficients[..., output], errors[..., output]
    order = largest(np.abs(coefficients).max(0), most)
    ax = ax or new_axes(7, 4)
    for number, feature in enumerate(order):
        colour, dash = LINES[number % len(LINES)], DASHES[number % len(DASHES)]
        line, band = coefficients[:, feature], SURE * np.nan_to_num(errors[:, feature])
        ax.plot(
            found.widths,
            line,
            color=colour,
            ls=dash,
            marker="o",
            ms=3,
            label=shortened(found.feature_names[feature]),
        )
        ax.fill_between(found.widths, line - band, line + band, color=colour, alpha=0.15, lw=0)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(
        xlabel="kernel width (standard deviations)",
        ylabel="LIME coefficient (per standard deviation)",
        xscale="log",
    )
    ax.set_xticks(found.widths, [f"{width:.2g}" for width in found.widths])
    ax.minorticks_off()
    legend_beside(ax)
    return tidy(ax)
