"""Values side by side with their error bars: of several explanations, and of all outputs of one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, shown_values
from jaxshap.games import check_kind
from jaxshap.plots.selection import (
    check_not_empty,
    footnote,
    interval_words,
    labels,
    one_output,
    what_is_drawn,
)
from jaxshap.plots.style import (
    HATCHES,
    LINES,
    Axes,
    draw_errors,
    given_axes,
    largest,
    legend_beside,
    name_rows,
    new_axes,
    shortened,
    smaller_not_shown,
    tidy,
    wrapped,
)


def compare(
    explanations: Mapping[str, Explanation], *, max_display: int = 8, ax: Axes | None = None
) -> Axes:
    """Draw several explanations of the same rows side by side, with 95 % intervals.

    Such as one by the marginal and one by the manifold game. It draws the values of a single row,
    or mean |value| over rows; features are matched by name.

    Args:
        explanations: explanations of the same rows and features and of one output, by the name
            that the legend gives them.
        max_display: how many features to draw, the largest first; 8 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are no explanations, or they have several outputs or differ in their
            rows or features.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X, model = np.array([[1.0, 0.0], [3.0, 1.0]]), lambda x: x[:, 0] * x[:, 1]
        >>> backgrounds = {"zeros": 0 * X, "data": X}
        >>> by_name = {name: jaxshap.explain(model, X[1:], b) for name, b in backgrounds.items()}
        >>> [text.get_text() for text in jaxshap.plots.compare(by_name).get_legend().get_texts()]
        ['zeros', 'data']
    """
    check_kind(explanations, dict, "explanations", "a dict of explanations by name")
    if not explanations:
        raise InputError("there are no explanations to compare: pass a dict of them by name.")
    explanations = {name: one_output(ex, f"compare ({name})") for name, ex in explanations.items()}
    first = next(iter(explanations.values()))
    for name, explanation in explanations.items():
        same_features = set(explanation.feature_names) == set(first.feature_names)
        if len(explanation) != len(first) or not same_features:
            raise InputError(
                f"{name!r} has {len(explanation)} rows of {explanation.feature_names}, and the "
                f"first has {len(first)} of {first.feature_names}: compare explanations of the "
                "same rows and features."
            )
    names = list(first.feature_names)
    drawn = [shown_values(explanation[:, names]) for explanation in explanations.values()]
    values, errors = (np.stack(arrays, axis=1) for arrays in zip(*drawn, strict=True))
    shown = list(explanations.values())
    return _draw_groups(shown, values, errors, list(explanations), max_display, ax)


def classes(explanation: Explanation, *, max_display: int = 8, ax: Axes | None = None) -> Axes:
    """Draw all outputs at once.

    The values of a single row stand side by side, with 95 % intervals. Of several rows,
    mean |value| per output is stacked; the error bar is that of the whole stack and a bound: the
    errors of its outputs added up.

    Args:
        explanation: the explanation of several outputs.
        max_display: how many features to draw, the largest first; 8 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there is a single output, or nothing to draw.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> def model(x):
        ...     return np.stack([x[:, 0], -x[:, 1]], axis=1)
        >>> ex = jaxshap.explain(model, np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text() for text in jaxshap.plots.classes(ex).get_legend().get_texts()]
        ['output 0', 'output 1']
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    if explanation.values.ndim != 3:
        raise InputError(
            "classes draws several outputs, and the values have shape "
            f"{explanation.values.shape}: draw them with bar."
        )
    check_not_empty(explanation, "classes")
    numbered = tuple(f"output {number}" for number in range(explanation.values.shape[2]))
    names = explanation.output_names or numbered
    values, errors = shown_values(explanation)
    if len(explanation) == 1:
        return _draw_groups([explanation], values, errors, names, max_display, ax)
    order = largest(values.sum(1), max_display)
    ax = given_axes(ax) or new_axes(8.5, 1.4 + 0.34 * len(order))
    rows, widths = np.arange(len(order)), values[order]
    starts = np.cumsum(widths, axis=1) - widths
    for number, name in enumerate(names):
        look = _look(number) | {"left": starts[:, number], "label": shortened(name)}
        ax.barh(rows, widths[:, number], **look)
    draw_errors(ax, widths.sum(1), rows, errors[order].sum(1))
    ax.set_xlim(left=0)
    _name_groups(ax, explanation, order)
    words = interval_words(errors[order], explanation).replace("intervals", "intervals at most")
    what = f"{what_is_drawn(explanation)}, summed over outputs ({words})"
    ax.set_xlabel(wrapped(what, footnote(explanation, len(order))))
    return tidy(ax)


def draw_cohorts(
    groups: Mapping[str, Explanation], max_display: int, ax: Axes | None = None
) -> Axes:
    """Groups of rows side by side, however many rows each has."""
    if not groups:
        raise InputError("there are no groups to draw: pass explanations by name.")
    named = {name: one_output(group, f"bar ({name})") for name, group in groups.items()}
    features = {group.feature_names for group in named.values()}
    if len(features) > 1:
        raise InputError("the groups have different features: pass cohorts of one explanation.")
    drawn = [shown_values(group) for group in named.values()]
    values, errors = (np.stack(arrays, axis=1) for arrays in zip(*drawn, strict=True))
    rows = {name: len(group) for name, group in named.items()}
    names = [name if count == 1 else f"{name} ({count:,} rows)" for name, count in rows.items()]
    return _draw_groups(list(named.values()), values, errors, names, max_display, ax)


def _draw_groups(
    explanations: Sequence[Explanation],
    values: Float[np.ndarray, "features k"],
    errors: Float[np.ndarray, "features k"],
    names: Sequence[str],
    max_display: int,
    ax: Axes | None,
) -> Axes:
    """Draw k bars per feature, side by side."""
    explanation = explanations[0]
    order = largest(np.abs(values).max(1), max_display)
    ax = given_axes(ax) or new_axes(8.5, 1.2 + len(order) * max(0.34, 0.14 * len(names)))
    height = 0.82 / len(names)
    for number, name in enumerate(names):
        heights = np.arange(len(order)) + (number - (len(names) - 1) / 2) * height
        look = _look(number) | {"height": height, "label": shortened(name)}
        ax.barh(heights, values[order, number], **look)
        draw_errors(ax, values[order, number], heights, errors[order, number])
    ax.axvline(0, color="black", lw=0.8)
    if len(explanation) > 1:
        ax.set_xlim(left=0)  # where errors would reach below
    _name_groups(ax, explanation, order)
    alike = {what_is_drawn(one) for one in explanations}
    what = alike.pop() if len(alike) == 1 else f"mean |{explanation.kind}|"
    what = f"{what} ({interval_words(errors[order], *explanations)})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def _name_groups(ax: Axes, explanation: Explanation, order: Int[np.ndarray, "k"]) -> None:
    name_rows(ax, labels(explanation, order))
    legend_beside(ax)


def _look(number: int) -> dict[str, Any]:
    """Told apart by hatching where there are no colours."""
    colour, hatch = LINES[number % len(LINES)], HATCHES[number % len(HATCHES)]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "lw": 0.5}
