"""Pictures of estimates that become better with their budget."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, half_intervals
from jaxshap.games import check_kind, shown
from jaxshap.inputs import is_list
from jaxshap.plots.selection import footnote, interval_words, one_output
from jaxshap.plots.style import (
    LINES,
    MARKERS,
    Axes,
    given_axes,
    largest,
    legend_beside,
    new_axes,
    shortened,
    tidy,
    wrapped,
)

SPREAD = 0.3  # of the gap between two budgets, over which features stand side by side


def convergence(
    explanations: Sequence[Explanation],
    row: int = 0,
    features: Sequence[str | int] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw values of one row with 95 % intervals over the evaluations spent.

    It shows whether the values settle where their errors said. Features stand slightly side by
    side, so that error bars do not hide each other.

    Args:
        explanations: explanations of the same rows and one output, with growing budgets.
        row: the number of the row to draw, the first by default.
        features: the features to draw, by name or number; by default the five largest of the
            explanation with the largest budget.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are no explanations, or they have several outputs or different features.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(9, 12))
        >>> def explained(budget):
        ...     model, estimator = lambda x: np.sin(x[:, :3].sum(1)) + x[:, 3], jaxshap.Kernel()
        ...     return jaxshap.explain(model, X[:1], X, estimator=estimator, budget=budget)
        >>> ax = jaxshap.plots.convergence([explained(100), explained(200)], features=["x0", "x3"])
        >>> [bars.get_label() for bars in ax.containers]
        ['x0', 'x3']
    """
    check_kind(explanations, (list, tuple), "explanations", "a list of them")
    if not explanations:
        raise InputError(
            "there are no explanations to draw: pass a list of them with growing budgets."
        )
    explanations = [one_output(explanation, "convergence") for explanation in explanations]
    ordered = sorted(explanations, key=lambda explanation: explanation.num_evaluations)
    last = ordered[-1]
    for explanation in ordered:
        if explanation.feature_names != last.feature_names:
            raise InputError(
                "these explanations have different features: pass explanations of the same rows."
            )
    if len(last[row]) != 1:
        raise InputError(f"row={shown(row)} is not one row: convergence draws one.")
    five = largest(np.abs(last[row].values[0]), 5).tolist()
    listed: Any = features if is_list(features) else [features]
    chosen = five if features is None else list(listed)
    picked = [explanation[row, chosen] for explanation in ordered]
    values = np.stack([explanation.values[0] for explanation in picked])
    errors = np.stack([half_intervals(explanation)[0] for explanation in picked])
    spent = np.array([explanation.num_evaluations for explanation in ordered], float)
    ax = given_axes(ax) or new_axes(7.5, 4)
    gap = np.diff(np.log(spent)).min(initial=np.log(2)) or np.log(2)
    sides = np.linspace(-0.5, 0.5, len(chosen)) if len(chosen) > 1 else np.zeros(1)
    for number, name in enumerate(picked[-1].feature_names):
        places = spent * np.exp(SPREAD * gap * sides[number])
        _draw_path(ax, places, values[:, number], errors[:, number], number, name)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xscale="log", xlabel=wrapped(f"evaluations of the game ({footnote(last)})"))
    ax.set_xticks(spent, [f"{count:,.0f}" for count in spent])
    ax.minorticks_off()
    ax.set_ylabel(f"{last.kind}\n({interval_words(errors, *ordered)})")
    legend_beside(ax)
    return tidy(ax)


def _draw_path(
    ax: Axes,
    places: Float[np.ndarray, "budgets"],
    values: Float[np.ndarray, "budgets"],
    errors: Float[np.ndarray, "budgets"],
    number: int,
    name: str,
) -> None:
    """Draw a line with error bars; an error of NaN has no bar."""
    look: dict[str, Any] = {"color": LINES[number % len(LINES)], "lw": 1, "elinewidth": 1.2}
    look |= {"marker": MARKERS[number % len(MARKERS)], "ms": 4, "capsize": 3}
    ax.errorbar(places, values, yerr=errors, label=shortened(name), **look)
