"""Pictures of a disparity between groups of rows."""

from typing import TYPE_CHECKING

import numpy as np

from jaxshap.causal import Disparity
from jaxshap.errors import InputError
from jaxshap.plots.style import (
    NEGATIVE,
    POSITIVE,
    SURE,
    draw_errors,
    error_words,
    largest,
    new_axes,
    shortened,
    smaller_not_shown,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def disparity(
    found: Disparity, *, group: object = None, most: int = 12, ax: "Axes | None" = None
) -> "Axes":
    """What each feature adds to the difference between a group and the reference, ± 1.96 standard
    errors, and the sum.

    One output only; `group` names one where there are several.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> found = jaxshap.causal.disparity(jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, X), ["a", "a", "b", "b"])
        >>> jaxshap.plots.disparity(found).get_xlabel()
        'mean attribution, b less a (± 1.96 standard errors)'
    """
    number = _number_of(found, group)
    values, errors = found.values[number], SURE * found.std_error[number]
    if values.ndim > 1:
        raise InputError(
            f"disparity draws one output and there are {values.shape[1:]}: pick one of the "
            "explanation's."
        )
    order = largest(np.abs(values), most)[::-1]
    ax = ax or new_axes(7, 1.4 + 0.32 * (len(order) + 1))
    heights = np.r_[np.arange(len(order)) + 1.3, 0]  # the sum stands apart
    lengths, ends = (
        np.r_[values[order], found.total[number]],
        np.r_[errors[order], SURE * found.total_std_error[number]],
    )
    colours = [POSITIVE if length >= 0 else NEGATIVE for length in lengths]
    bars = ax.barh(heights, lengths, color=colours, height=0.7)
    bars[-1].set(facecolor="0.75", edgecolor="black", linewidth=0.8)
    draw_errors(ax, lengths, heights, ends)
    ax.axvline(0, color="black", lw=0.8)
    ax.set_yticks(
        heights, [*(shortened(found.feature_names[feature]) for feature in order), "all features"]
    )
    what = f"mean attribution, {found.groups[number]} less {found.reference} ({error_words(ends)})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def _number_of(found: Disparity, group: object) -> int:
    known = found.groups.tolist()
    if group is None and len(known) > 1:
        raise InputError(f"there are several groups, {known}: pick one with group=.")
    if group is not None and group not in known:
        raise InputError(
            f"group={group!r} is not one of {known}, which were compared with {found.reference!r}."
        )
    return 0 if group is None else known.index(group)
