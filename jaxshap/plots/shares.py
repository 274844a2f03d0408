"""Pictures of shares in percent, and of what a Shapley value cannot tell of its player."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.estimators import Estimate
from jaxshap.explaining import Explanation
from jaxshap.games import as_numbers
from jaxshap.plots.sets import player_names
from jaxshap.plots.style import (
    INTERVALS,
    LINES,
    Axes,
    draw_errors,
    error_words,
    given_axes,
    largest,
    name_rows,
    new_axes,
    smaller_not_shown,
    tidy,
    told_apart,
    wrapped,
)
from jaxshap.trust import quantile


def residual_shares(
    shares: Estimate | Any,
    names: Sequence[str] | None = None,
    *,
    max_display: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a Shapley value cannot tell of each player, in percent.

    Args:
        shares: one share per player: what `jaxshap.residuals.shares` returns, or what
            `jaxshap.residuals.estimate_shares` returns, with 95 % intervals.
        names: the names of the players, x0, x1, … by default.
        max_display: how many players to draw, the largest shares first; 15 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or not one name per player.
        InputTypeError: an explanation was passed, or anything else that holds no numbers.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0])  # a and b only together
        >>> ax = jaxshap.plots.residual_shares(jaxshap.residuals.shares(game), ["a", "b", "c"])
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['a', 'b', 'c']
        >>> [round(float(patch.get_width())) for patch in ax.patches]
        [25, 25, 0]
    """
    values, errors, bars = _in_percent(shares)
    if values.ndim != 1 or not len(values):
        raise InputError(
            f"residual_shares draws one number per player, and the shares have shape "
            f"{values.shape}: pick a row and output, such as shares[:, 0], or of an Estimate "
            "jax.tree.map(lambda array: array[:, 0], shares)."
        )
    labels = player_names(names, len(values))
    order = largest(values, max_display)
    ax = given_axes(ax) or new_axes(7, 1 + 0.32 * len(order))
    draw_shares(ax, values[order], errors[order], [labels[player] for player in order])
    words = error_words(errors[order], bars)
    what = f"share of a player's gains that its value cannot tell, % ({words})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def _in_percent(shares: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """Shares with their intervals, those of one row and output without these axes, and words."""
    if isinstance(shares, Explanation):
        raise InputTypeError(
            "an explanation holds values, not shares: pass what jaxshap.residuals.shares or "
            "estimate_shares returned for the game."
        )
    known = isinstance(shares, Estimate)
    values = 100 * np.asarray(as_numbers(shares.values if known else shares, "shares"), float)
    errors, bars = np.zeros(values.shape), INTERVALS if known else ""
    if known:
        errors = 100 * quantile(0.95, shares.degrees) * np.asarray(shares.std_error, float)
    if values.ndim and values[:1].size == 1:
        values, errors = values.reshape(-1), errors.reshape(-1)
    return values, errors, bars


def draw_shares(
    ax: Axes,
    shares: Float[np.ndarray, "n"],
    errors: Float[np.ndarray, "n"],
    names: Sequence[str],
) -> None:
    """Draw shares in percent as bars, on axes that reach from 0 to 100 or further."""
    heights = np.arange(len(shares))
    ax.barh(heights, shares, color=LINES[0], height=0.7)
    draw_errors(ax, shares, heights, errors)
    ax.axvline(0, color="black", lw=0.8)
    name_rows(ax, told_apart(names))
    known = np.nan_to_num(errors)
    ax.set_xlim(min(0, (shares - known).min() * 1.05), max(100, (shares + known).max() * 1.05))
