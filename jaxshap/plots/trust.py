"""Pictures of trust: credible intervals, and a diagnosis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import number_text
from jaxshap.games import check_kind, read_number, shown
from jaxshap.inputs import is_list
from jaxshap.plots.sets import player_names
from jaxshap.plots.shares import draw_shares
from jaxshap.plots.style import (
    LINES,
    QUANTILE,
    Axes,
    draw_errors,
    error_words,
    given_axes,
    largest,
    name_rows,
    new_axes,
    pyplot,
    smaller_not_shown,
    tidy,
    wrapped,
)
from jaxshap.trust import (
    EXPLAINED_SHARE,
    Additivity,
    BayesPosterior,
    Diagnosis,
    EfficientPosterior,
)


def credible_intervals(
    posterior: BayesPosterior | EfficientPosterior,
    names: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    max_display: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw the centre and the credible interval of every value.

    Args:
        posterior: what `jaxshap.trust.efficient_bayes_shap` or `bayes_shap` returned, of a game
            with a single output.
        names: the names of the players, x0, x1, … by default.
        level: the posterior probability of each interval, 0.95 by default.
        max_display: how many players to draw, the largest values first; 12 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, not one name per player, or the level is not between
            0 and 1.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> posterior = jaxshap.trust.efficient_bayes_shap(0, game, budget=100)
        >>> ax = jaxshap.plots.credible_intervals(posterior, ["a", "b", "c"])
        >>> sorted(label.get_text() for label in ax.get_yticklabels())
        ['a', 'b', 'c']
    """
    known = BayesPosterior, EfficientPosterior
    check_kind(posterior, known, "posterior", "what bayes_shap or efficient_bayes_shap returned")
    values = np.asarray(posterior.values, float)
    if values.ndim != 1:
        raise InputError(
            f"credible_intervals draws one value per player, and the posterior's have shape "
            f"{values.shape}: pass the posterior of a game with a single output."
        )
    level = read_number(level, "level", above=0, below=1)
    lower, upper = (np.asarray(ends, float) for ends in posterior.interval(level))
    labels = player_names(names, len(values))
    order = largest(np.abs(values), max_display)
    ax = given_axes(ax) or new_axes(7, 1 + 0.32 * len(order))
    heights = np.arange(len(order))
    ax.plot(values[order], heights, "o", color=LINES[0], ms=6)
    errors = ((upper - lower) / 2)[order]
    draw_errors(ax, values[order], heights, errors)
    ax.axvline(0, color="black", lw=0.8)
    name_rows(ax, [labels[player] for player in order])
    words = error_words(errors, f"{100 * level:g} % credible intervals")
    of_what = "Shapley value" if isinstance(posterior, EfficientPosterior) else "coefficient"
    hidden = smaller_not_shown(len(values) - len(order))
    ax.set_xlabel(wrapped(f"{of_what} ({words})", hidden))
    return tidy(ax)


def diagnosis(
    diagnosis: Diagnosis, *, max_display: int = 12, axes: Sequence[Axes] | np.ndarray | None = None
) -> list[Axes]:
    """Draw what values explain, alone and with pairs, and which gains come from outside the data.

    The second picture says so where there was no background to compare with.

    Args:
        diagnosis: what `Explanation.diagnose` returned.
        max_display: how many features the second picture draws, the largest shares first;
            12 by default.
        axes: two axes to draw in; by default new ones.

    Returns:
        Both axes.

    Raises:
        InputError: `axes` are not two.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(30, 4))
        >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X[:5], X)
        >>> print(jaxshap.plots.diagnosis(ex.diagnose())[0].get_title(loc="left"))
        Verdict: pairwise
        the values alone mislead; interactions of two features
        tell the rest
    """
    check_kind(diagnosis, Diagnosis, "diagnosis", "what explanation.diagnose() returned")
    if axes is None:
        size: dict[str, Any] = {"figsize": (12, 4), "width_ratios": [1, 1.2]}
        axes = list(pyplot().subplots(1, 2, layout="constrained", **size)[1])
    if not is_list(axes) or len(list(axes)) != 2:
        raise InputError(f"a diagnosis has two pictures: pass two axes, not {shown(axes)}.")
    left, right = (given_axes(ax) or new_axes(6, 4) for ax in axes)
    _draw_additivity(left, diagnosis.additivity)
    _draw_outside(right, diagnosis, max_display)
    return [tidy(left), tidy(right)]


def _draw_additivity(ax: Axes, additivity: Additivity) -> None:
    """Draw the shares that values alone, values and pairs, and neither explain."""
    additive, pairwise = additivity.additive, additivity.pairwise
    shares = 100 * np.array([additive.overall, pairwise.overall, 1 - pairwise.overall])
    errors = [additive.overall_error, pairwise.overall_error, pairwise.overall_error]
    errors = 100 * QUANTILE * np.array(errors)
    bars = zip(("values alone", "values and pairs", "beyond pairs"), shares, errors, strict=True)
    names = [f"{name}\n{number_text(share, error)} %" for name, share, error in bars]
    draw_shares(ax, shares, errors, names)
    enough = 100 * EXPLAINED_SHARE
    ax.axvline(enough, color="black", lw=0.8, ls="--")
    title = wrapped(f"Verdict: {additivity.verdict}", additivity.meaning)
    ax.set_title(title, fontsize=11, loc="left")
    what = f"share of how the output varies, % ({error_words(errors)})"
    ax.set_xlabel(wrapped(what, f"dashed: {enough:.0f} %, nearly all"))


def _draw_outside(ax: Axes, diagnosis: Diagnosis, max_display: int) -> None:
    """Draw how often each feature's gains have an end outside of the data."""
    ax.set_title("Outside of the data", fontsize=11, loc="left")
    outside = diagnosis.off_manifold
    if outside is None:
        why = "not measured: no background of 20 rows\nor more, or values are missing"
        ax.text(0.5, 0.5, why, ha="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    shares = 100 * outside.by_feature.mean(0)
    errors = 100 * QUANTILE * outside.by_feature_error.mean(0)  # rows share their orderings
    order = largest(shares, max_display)
    names = [diagnosis.feature_names[feature] for feature in order]
    draw_shares(ax, shares[order], errors[order], names)
    expected = 100 * outside.expected
    ax.axvline(expected, color="black", lw=0.8, ls="--")
    what = f"gains with an end outside of the data, % ({error_words(errors)})"
    dashed = f"dashed: {expected:.3g} % of the data themselves count as outside"
    ax.set_xlabel(wrapped(what, dashed, smaller_not_shown(len(shares) - len(order))))
