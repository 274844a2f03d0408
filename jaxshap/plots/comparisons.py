"""Values side by side with their error bars: of several explanations, and of all outputs of one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.plots.selection import (
    drawn_values,
    footnote,
    labels,
    one_output,
    something,
    what_is_drawn,
)
from jaxshap.plots.style import (
    HATCHES,
    LINES,
    draw_errors,
    error_words,
    largest,
    legend_beside,
    name_rows,
    new_axes,
    shortened,
    smaller_not_shown,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(
    explanations: Mapping[str, Explanation], *, most: int = 8, ax: "Axes | None" = None
) -> "Axes":
    """Several explanations of the same rows side by side, such as marginal and manifold, ± 1.96
    standard errors.

    The values of a single row, or mean |value| over rows; features are matched by name.

    Example:
        >>> import jaxshap, numpy as np
        >>> X, model = np.array([[1.0, 0.0], [3.0, 1.0]]), lambda x: x[:, 0] * x[:, 1]
        >>> found = {"zeros": jaxshap.explain(model, X[1:], 0 * X), "data": jaxshap.explain(model, X[1:], X)}
        >>> [text.get_text() for text in jaxshap.plots.compare(found).get_legend().get_texts()]
        ['zeros', 'data']
    """
    if not explanations:
        raise InputError("there are no explanations to compare: pass a dict of them by name.")
    first = next(iter(explanations.values()))
    for name, explanation in explanations.items():
        one_output(explanation, f"compare ({name})")
        if len(explanation) != len(first) or set(explanation.feature_names) != set(
            first.feature_names
        ):
            raise InputError(
                f"{name!r} has {len(explanation)} rows of {explanation.feature_names}, and the "
                f"first has {len(first)} "
                f"of {first.feature_names}: compare explanations of the same rows and features."
            )
    found = [drawn_values(each[:, list(first.feature_names)]) for each in explanations.values()]
    values, errors = (np.stack(part, axis=1) for part in zip(*found, strict=True))
    return _draw_groups(first, values, errors, list(explanations), most, ax)


def classes(explanation: Explanation, *, most: int = 8, ax: "Axes | None" = None) -> "Axes":
    """All outputs at once: the values of a single row side by side, or mean |value| over rows, one
    on the other.

    Side by side have ± 1.96 standard errors. A stack has those of its whole, at most: the errors of
    its parts added up.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: np.stack([x[:, 0], -x[:, 1]], 1), np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text() for text in jaxshap.plots.classes(ex).get_legend().get_texts()]
        ['output 0', 'output 1']
    """
    if explanation.values.ndim != 3:
        raise InputError(
            f"classes draws several outputs, and the values have shape {explanation.values.shape}: "
            "bar?"
        )
    something(explanation, "classes")
    names = explanation.output_names or tuple(
        f"output {number}" for number in range(explanation.values.shape[2])
    )
    values, errors = drawn_values(explanation)
    if len(explanation) == 1:
        return _draw_groups(explanation, values, errors, names, most, ax)
    order = largest(values.sum(1), most)
    ax = ax or new_axes(8.5, 1.4 + 0.34 * len(order))
    rows, starts = np.arange(len(order)), np.cumsum(values, axis=1) - values
    for number, name in enumerate(names):
        ax.barh(
            rows,
            values[order, number],
            left=starts[order, number],
            label=shortened(name),
            **_look(number),
        )
    draw_errors(ax, values[order].sum(1), rows, errors[order].sum(1))
    ax.set_xlim(left=0)
    _name_groups(ax, explanation, order)
    words = error_words(errors[order]).replace("errors", "errors at most")
    what = f"{what_is_drawn(explanation)}, summed over outputs ({words})"
    ax.set_xlabel(wrapped(what, footnote(explanation, len(order))))
    return tidy(ax)


def _draw_groups(
    explanation: Explanation,
    values: Float[np.ndarray, "features k"],
    errors: Float[np.ndarray, "features k"],
    names: Sequence[str],
    most: int,
    ax: "Axes | None",
) -> "Axes":
    order = largest(np.abs(values).max(1), most)
    ax = ax or new_axes(8.5, 1.2 + len(order) * max(0.34, 0.14 * len(names)))
    height = 0.82 / len(names)
    for number, name in enumerate(names):
        heights = np.arange(len(order)) + (number - (len(names) - 1) / 2) * height
        ax.barh(
            heights, values[order, number], height=height, label=shortened(name), **_look(number)
        )
        draw_errors(ax, values[order, number], heights, errors[order, number])
    ax.axvline(0, color="black", lw=0.8)
    if len(explanation) > 1:
        ax.set_xlim(left=0)  # where errors would reach below
    _name_groups(ax, explanation, order)
    what = f"{what_is_drawn(explanation)} ({error_words(errors[order])})"
    ax.set_xlabel(wrapped(what, smaller_not_shown(len(values) - len(order))))
    return tidy(ax)


def _name_groups(ax: "Axes", explanation: Explanation, order: Int[np.ndarray, "k"]) -> None:
    name_rows(ax, labels(explanation, order))
    legend_beside(ax)


def _look(number: int) -> dict[str, Any]:
    """Told apart by hatching where there are no colours."""
    colour, hatch = LINES[number % len(LINES)], HATCHES[number % len(HATCHES)]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "lw": 0.5}
