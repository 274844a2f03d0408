"""Pictures of what values leave out: residual shares, and a diagnosis."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputError
from jaxshap.estimators import Estimate
from jaxshap.plots.style import (
    LINES,
    SURE,
    draw_errors,
    error_words,
    largest,
    name_rows,
    new_axes,
    number_text,
    pyplot,
    smaller_not_shown,
    tidy,
    told_apart,
    wrapped,
)
from jaxshap.trust import EXPLAINED_SHARE, Diagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE = LINES[0]


def residual_shares(
    shares: Estimate | Float[Array, "n"],
    names: Sequence[str] | None = None,
    *,
    most: int = 15,
    ax: "Axes | None" = None,
) -> "Axes":
    """What a Shapley value cannot tell of each player, in percent: of `residual_shares` or its
    estimate, with errors.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda s: jnp.where(s[0] & s[1], 1.0, 0.0) + jnp.where(s[2], 1.0, 0.0), 3)
        >>> ax = jaxshap.plots.residual_shares(jaxshap.residuals.shares(game), ["a", "b", "c"])
        >>> [label.get_text() for label in ax.get_yticklabels()], [round(float(p.get_width())) for p in ax.patches]
        (['a', 'b', 'c'], [25, 25, 0])
    """
    values, errors = (
        shares if isinstance(shares, Estimate) else (shares, np.zeros(np.shape(shares)))
    )
    values, errors = 100 * np.asarray(values, float), 100 * SURE * np.asarray(errors, float)
    if values.ndim != 1 or not len(values):
        raise InputError(
            f"residual_shares draws one number a player, and the shares have shape {values.shape}: "
            "pick a row and "
            "output, such as shares[:, 0], or of an Estimate jax.tree.map(lambda part: part[:, 0], "
            "shares)."
        )
    names = (
        [f"x{player}" for player in range(len(values))] if names is None else list(map(str, names))
    )
    if len(names) != len(values):
        raise InputError(f"there are {len(names)} names for {len(values)} players.")
    order = largest(values, most)
    ax = ax or new_axes(7, 1 + 0.32 * len(order))
    _draw_shares(ax, values[order], errors[order], [names[player] for player in order])
    what = f"share of a player's gains that its value cannot tell, % ({error_words(errors[order])})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def diagnosis(
    found: Diagnosis, *, most: int = 12, axes: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """What values explain, alone and with pairs, and how often each feature's gains come from
    outside of the data.

    Two axes; the second says so where there was no background to compare with.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(30, 4))
        >>> found = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X[:5], X).diagnose()
        >>> print(jaxshap.plots.diagnosis(found)[0].get_title(loc="left"))
        Verdict: pairwise
        the values alone mislead; interactions of two features
        tell the rest
    """
    if axes is None:
        axes = list(
            pyplot().subplots(1, 2, figsize=(12, 4), layout="constrained", width_ratios=[1, 1.2])[1]
        )
    if len(axes) != 2:
        raise InputError(f"a diagnosis has two pictures: pass two axes, not {len(axes)}.")
    left, right = axes
    additive, pairwise, verdict = (
        found.additivity.additive,
        found.additivity.pairwise,
        found.additivity.verdict,
    )
    shares = 100 * np.array([additive.overall, pairwise.overall, 1 - pairwise.overall])
    errors = (
        100
        * SURE
        * np.array([additive.overall_error, pairwise.overall_error, pairwise.overall_error])
    )
    parts = zip(("values alone", "values and pairs", "beyond pairs"), shares, errors, strict=True)
    _draw_shares(
        left,
        shares,
        errors,
        [f"{part}\n{number_text(share, error)} %" for part, share, error in parts],
    )
    left.axvline(100 * EXPLAINED_SHARE, color="black", lw=0.8, ls="--")
    left.set_title(
        wrapped(f"Verdict: {verdict}", found.additivity.meaning), fontsize=11, loc="left"
    )
    what = f"share of how the output varies, % ({error_words(errors)})"
    left.set_xlabel(wrapped(what, f"dashed: {100 * EXPLAINED_SHARE:.0f} %, nearly all"))
    _draw_outside(right, found, most)
    return [tidy(left), tidy(right)]


def _draw_outside(ax: "Axes", found: Diagnosis, most: int) -> None:
    ax.set_title("Outside of the data", fontsize=11, loc="left")
    if found.off_manifold is None:
        why = "not measured: no background of 20 rows\nor more, or values are missing"
        ax.text(0.5, 0.5, why, ha="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    shares = 100 * found.off_manifold.by_feature.mean(0)
    errors = 100 * SURE * found.off_manifold.by_feature_error.mean(0)  # rows share their orderings
    order = largest(shares, most)
    _draw_shares(
        ax, shares[order], errors[order], [found.feature_names[feature] for feature in order]
    )
    expected = 100 * found.off_manifold.expected
    ax.axvline(expected, color="black", lw=0.8, ls="--")
    what = f"gains with an end outside of the data, % ({error_words(errors)})"
    dashed = f"dashed: {expected:.3g} % of the data themselves count as outside"
    ax.set_xlabel(wrapped(what, dashed, smaller_not_shown(len(shares) - len(order))))


def _draw_shares(ax: "Axes", shares: np.ndarray, errors: np.ndarray, names: Sequence[str]) -> None:
    heights = np.arange(len(shares))
    ax.barh(heights, shares, color=BLUE, height=0.7)
    draw_errors(ax, shares, heights, errors)
    ax.axvline(0, color="black", lw=0.8)
    name_rows(ax, told_apart(names))
    known = np.nan_to_num(errors)
    ax.set_xlim(min(0, (shares - known).min() * 1.05), max(100, (shares + known).max() * 1.05))
