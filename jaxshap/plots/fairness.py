"""Pictures of a disparity between groups of rows."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from jaxshap.causal import Disparity
from jaxshap.errors import InputError
from jaxshap.games import check_kind
from jaxshap.plots.style import (
    Axes,
    colours_by_sign,
    draw_errors,
    error_words,
    given_axes,
    largest,
    new_axes,
    shortened,
    smaller_not_shown,
    tidy,
    wrapped,
)
from jaxshap.trust import quantile


def disparity(
    disparity: Disparity, *, group: Any = None, max_display: int = 12, ax: Axes | None = None
) -> Axes:
    """Draw what each feature adds to the difference between a group and the reference group.

    Bars have 95 % intervals; the last bar is their sum.

    Args:
        disparity: what `jaxshap.causal.disparity` returned, for one output.
        group: the group to draw; needed where several were compared with the reference.
        max_display: how many features to draw, the largest first; 12 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or several groups and none is named, or the group
            is unknown.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, X)
        >>> between = jaxshap.causal.disparity(ex, ["a", "a", "b", "b"])
        >>> jaxshap.plots.disparity(between).get_xlabel()
        'mean attribution, b less a (95 % intervals)'
    """
    check_kind(disparity, Disparity, "disparity", "what jaxshap.causal.disparity returned")
    number = _group_number(disparity, group)
    reach = quantile(0.95, disparity.degrees[number])
    values, errors = disparity.values[number], reach * disparity.std_error[number]
    if values.ndim > 1:
        raise InputError(
            f"disparity draws one output and there are {values.shape[1:]}: pick one of the "
            "explanation's."
        )
    order = largest(np.abs(values), max_display)[::-1]
    ax = given_axes(ax) or new_axes(7, 1.4 + 0.32 * (len(order) + 1))
    heights = np.r_[np.arange(len(order)) + 1.3, 0]  # the sum stands apart
    lengths = np.r_[values[order], disparity.total[number]]
    spreads = np.r_[errors[order], reach * disparity.total_std_error[number]]
    bars = ax.barh(heights, lengths, color=colours_by_sign(lengths), height=0.7)
    bars[-1].set(facecolor="0.75", edgecolor="black", linewidth=0.8)
    draw_errors(ax, lengths, heights, spreads)
    ax.axvline(0, color="black", lw=0.8)
    names = [shortened(disparity.feature_names[feature]) for feature in order]
    ax.set_yticks(heights, [*names, "all features"])
    groups = f"{disparity.groups[number]} less {disparity.reference}"
    what = f"mean attribution, {groups} ({error_words(spreads)})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def _group_number(disparity: Disparity, group: Any) -> int:
    known = disparity.groups.tolist()
    if group is None and len(known) > 1:
        raise InputError(f"there are several groups, {known}: pick one with group=.")
    if group is not None and (not isinstance(group, Hashable) or group not in known):
        raise InputError(
            f"group={group!r} is not one of {known}, which were compared with "
            f"{disparity.reference!r}."
        )
    return 0 if group is None else known.index(group)
