"""How an Explanation reads in a terminal and in a notebook."""

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxshap.explaining.caution import caution
from jaxshap.explaining.wording import (
    half_intervals,
    number_text,
    plural,
    shown_output,
    shown_values,
)

if TYPE_CHECKING:
    from jaxshap.explaining.explanation import Explanation

MOST_LINES = 20


def as_text(explanation: "Explanation") -> str:
    """What was explained and how, then a table: the values of a single row, or means over rows,
    with 95 % intervals.
    """
    names, numbers, errors, columns = _summary(shown_output(explanation))
    cells = [
        [_number(v, e) for v, e in zip(*pair, strict=True)]
        for pair in zip(numbers, errors, strict=True)
    ]
    width = max(map(len, [*names, "feature"]))
    widths = [
        max(len(column), *(len(line[i]) for line in cells)) for i, column in enumerate(columns)
    ]
    note = caution(shown_output(explanation))
    lines = [
        title(explanation) if note is None else f"{title(explanation)}. {note}",
        f"{'feature':{width}}  " + "  ".join(map(str.rjust, columns, widths)),
    ]
    lines += [
        f"{n:{width}}  " + "  ".join(map(str.rjust, line, widths))
        for n, line in zip(names, cells, strict=True)
    ]
    return "\n".join([*lines, *_more(explanation)])


def as_html(explanation: "Explanation") -> str:
    """The same as a table with a bar and a ± error in each cell."""
    names, numbers, errors, columns = _summary(shown_output(explanation))
    largest = np.nanmax(np.abs(numbers)) or 1
    head = "".join(f"<th style='text-align:left'>{html.escape(column)}</th>" for column in columns)
    lines = "".join(
        f"<tr><td style='text-align:right'>{html.escape(name)}</td>"
        + "".join(
            f"<td>{_bar(v, largest)} {html.escape(_number(v, e))}</td>"
            for v, e in zip(*pair, strict=True)
        )
        + "</tr>"
        for name, *pair in zip(names, numbers, errors, strict=True)
    )
    notes = title(explanation), caution(shown_output(explanation)), *_more(explanation)
    caption = "<br>".join(html.escape(note) for note in notes if note is not None)
    return f"<div>{caption}</div><table><tr><th></th>{head}</tr>{lines}</table>"


def title(explanation: "Explanation") -> str:
    """One line: what was explained, how, at what cost, and how certain it is."""
    rows, features, *outputs = explanation.values.shape
    shape = f"{rows} row{'s' * (rows > 1)} × {features} feature{'s' * (features > 1)}"
    shape += "".join(f" × {number} output{'s' * (number > 1)}" for number in outputs)
    exact = " (exact)" if explanation.exact else ""
    cost = f"{explanation.num_evaluations:,} evaluations"
    if explanation.num_model_rows:
        cost += f" ({explanation.num_model_rows:,} model rows per row)"
    return (
        f"Explanation of {shape}: {explanation.value_function} {plural(explanation.kind)} by "
        f"{explanation.estimator}{exact}, {cost}{certainty(explanation)}"
    )


def certainty(explanation: "Explanation") -> str:
    """How certain the values are, where they are not exact."""
    half = half_intervals(explanation)
    if explanation.exact or not half.size:
        return ""
    known = half[np.isfinite(half)]
    if not known.size:
        return ", errors unknown"
    largest = f"{known.max():.2g}"
    return f", errors of 95 % intervals up to ±{largest}" + (
        "" if known.size == half.size else ", some unknown"
    )


def _summary(explanation: "Explanation"):
    """The largest features, their numbers and errors, and what these are called."""
    rows, features, *outputs = explanation.values.shape
    single, shape = rows == 1, (features, int(np.prod(outputs)))  # also of nothing
    numbers, errors = (part.reshape(shape) for part in shown_values(explanation))
    order = np.argsort(-np.abs(numbers).max(1), kind="stable")[:MOST_LINES]
    what = "value" if single else "mean |value|"
    what += "" if explanation.exact else " ± error (95 %)"
    own = explanation.row_outputs
    if shape[1] == 1 and explanation.output_names is None and own is None:
        columns = [what]
    else:
        outputs = explanation.output_names or tuple(f"output {i}" for i in range(shape[1]))
        outputs = outputs if own is None or not single else np.ravel(own).tolist()
        columns = [f"{what}, {output}" for output in outputs]
    return [explanation.feature_names[i] for i in order], numbers[order], errors[order], columns


def _more(explanation: "Explanation") -> list[str]:
    hidden = len(explanation.feature_names) - MOST_LINES
    return [f"… and {hidden} smaller feature{'s' * (hidden > 1)}"] if hidden > 0 else []


def _number(value: Any, error: Any) -> str:
    return number_text(value, error) if np.isfinite(error) else f"{number_text(value)} ± ?"


def _bar(value: Any, largest: Any) -> str:
    width = 80 * abs(value) / largest
    colour = (
        "#d55e00" if value >= 0 else "#56b4e9"
    )  # as in plots: distinct in greyscale and to the colour-blind
    style = f"display:inline-block;height:.7em;width:{width:.0f}px;background:{colour}"
    return f"<span style='{style}'></span>"
