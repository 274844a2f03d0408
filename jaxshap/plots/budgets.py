"""Pictures of estimates that become better with their budget."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.plots.selection import footnote, one_output
from jaxshap.plots.style import (
    LINES,
    MARKERS,
    SURE,
    error_words,
    largest,
    legend_beside,
    new_axes,
    shortened,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 0.3  # of the gap between two budgets, over which features stand side by side


def convergence(
    explanations: Sequence[Explanation],
    row: int = 0,
    features: Sequence[str | int] | None = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Values of one row ± 1.96 standard errors over the evaluations spent: do they settle where
    their errors said?

    Takes explanations of the same rows with growing budgets; without `features`, the five largest
    of the last. They stand slightly side by side, so that error bars do not hide each other.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(9, 12))
        >>> model, how = lambda x: np.sin(x[:, :3].sum(1)) + x[:, 3], jaxshap.Kernel()
        >>> found = [jaxshap.explain(model, X[:1], X, estimator=how, budget=budget) for budget in (100, 200)]
        >>> [line.get_label() for line in jaxshap.plots.convergence(found, features=["x0", "x3"]).containers]
        ['x0', 'x3']
    """
    if not explanations:
        raise InputError(
            "there are no explanations to draw: pass a list of them with growing budgets."
        )
    found = sorted(explanations, key=lambda explanation: explanation.num_evaluations)
    for explanation in found:
        one_output(explanation, "convergence")
        if explanation.feature_names != found[-1].feature_names:
            raise InputError(
                "these explanations have different features: pass explanations of the same rows."
            )
    last = found[-1]
    chosen = (
        largest(np.abs(last[row].values[0]), 5).tolist() if features is None else list(features)
    )
    picked = [explanation[row, chosen] for explanation in found]
    values, errors = (
        np.stack([getattr(one, part)[0] for one in picked]) for part in ("values", "std_error")
    )
    spent = np.array([explanation.num_evaluations for explanation in found], float)
    ax = ax or new_axes(7.5, 4)
    gap = np.diff(np.log(spent)).min(initial=np.log(2)) or np.log(2)
    for number, name in enumerate(picked[-1].feature_names):
        place = spent * np.exp(
            WIDTH * gap * (number - (len(chosen) - 1) / 2) / max(len(chosen) - 1, 1)
        )
        _draw_path(ax, place, values[:, number], SURE * errors[:, number], number, name)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xscale="log", xlabel=wrapped(f"evaluations of the game ({footnote(last)})"))
    ax.set_xticks(spent, [f"{count:,.0f}" for count in spent])
    ax.minorticks_off()
    ax.set_ylabel(f"Shapley value\n({error_words(errors)})")
    legend_beside(ax)
    return tidy(ax)


def _draw_path(ax: "Axes", place, values, errors, number: int, name: str) -> None:
    """A line with error bars; an error of NaN has no bar."""
    colour, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
    ax.errorbar(
        place,
        values,
        yerr=errors,
        color=colour,
        marker=marker,
        ms=4,
        lw=1,
        elinewidth=1.2,
        capsize=3,
        label=shortened(name),
    )
