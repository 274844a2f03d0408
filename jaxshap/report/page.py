"""One self-contained HTML page of an explanation: all rows to look at, error bars, and how far to
believe it.
"""

import html
import importlib.resources
import json
import os
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.plots import NEGATIVE, POSITIVE
from jaxshap.report.words import diagnostics, facts_of, lead
from jaxshap.trust import Diagnosis

MOST_ROWS = 1_000
MOST_NUMBERS = 400_000  # of values in one page, so that it opens at once and can be mailed
PLACE = re.compile(r"\{\{(\w+)\}\}")
UNDIAGNOSED = "No diagnosis was made: pass diagnosis=explanation.diagnose() to have one."


def write_report(
    explanation: Explanation,
    path: str | os.PathLike,
    diagnosis: Diagnosis | None = None,
    title: str | None = None,
    labels: Sequence | np.ndarray | None = None,
) -> None:
    """Write an HTML page with a summary, every row's values with error bars, and the diagnosis
    where there is one.

    The file needs nothing else, not even a network. `labels` are shown beside the rows, the true
    classes, say. A table of more than 1,000 rows (or fewer, where there are many features and
    outputs) is cut, and the page says so.

    Example:

    >>> import numpy as np, jaxshap, pathlib, tempfile
    >>> rows = np.random.default_rng(0).normal(size=(20, 3))
    >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], rows, rows)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> jaxshap.write_report(ex, path, ex.diagnose(), title="A product and a sum")
    >>> "A product and a sum" in path.read_text(encoding="utf-8")
    True
    """
    page = report_html(explanation, diagnosis, title=title, labels=labels)
    pathlib.Path(path).write_text(page, encoding="utf-8")


def report_html(
    explanation: Explanation,
    diagnosis: Diagnosis | None = None,
    *,
    title: str | None = None,
    labels: Sequence | np.ndarray | None = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    undiagnosed: str = UNDIAGNOSED,
    texts: Mapping[str, Sequence[str]] | None = None,
    packages: Sequence[str] = (),
) -> str:
    """The page as a string, the same for the same input.

    `facts` are lines on what was explained, `notes` what a reader must know first, and
    `undiagnosed` says why there is no diagnosis. `texts` are what the codes of a feature stand for,
    and `packages` those whose versions matter.
    """
    if labels is not None and len(labels) != len(explanation):
        raise InputError(
            f"there are {len(labels)} labels for {len(explanation)} rows: pass one a row."
        )
    title = title or "What the model's predictions rest on"
    embedded = _num_embedded(explanation)
    if embedded < len(explanation):
        cut = f"Rows 0 to {embedded - 1:,} of {len(explanation):,} can be looked at here; the means are over all rows."
        notes = [*notes, cut]
    data = _payload(explanation, labels, embedded)
    data["texts"] = {
        explanation.feature_names.index(name): list(part) for name, part in (texts or {}).items()
    }
    parts = {
        "title": html.escape(title),
        "lead": html.escape(lead(explanation, diagnosis)),
        "notes": "".join(f'<p class="note">{_marked(note)}</p>' for note in notes),
        "facts": _described({**(facts or {}), **facts_of(explanation, packages)}),
        "diagnostics": "".join(
            _card(*card) for card in diagnostics(explanation, diagnosis, undiagnosed)
        ),
        "data": json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e"),
        "style": _packaged("page.css").replace("POSITIVE", POSITIVE).replace("NEGATIVE", NEGATIVE),
        "script": _packaged("page.js"),
    }
    return PLACE.sub(lambda found: parts[found[1]], _packaged("page.html"))


def _packaged(name: str) -> str:
    return importlib.resources.files("jaxshap.report").joinpath(name).read_text(encoding="utf-8")


def _num_embedded(explanation: Explanation) -> int:
    _, *rest = explanation.values.shape
    return max(1, min(len(explanation), MOST_ROWS, MOST_NUMBERS // int(np.prod(rest))))


def _payload(
    explanation: Explanation, labels: Sequence | np.ndarray | None, embedded: int
) -> dict[str, Any]:
    """What the script draws: arrays by output, then row, then feature."""
    rows, features = explanation.values.shape[:2]
    values, errors = (
        part.reshape(rows, features, -1).transpose(2, 0, 1)
        for part in (explanation.values, explanation.std_error)
    )
    base = explanation.base_values.reshape(rows, -1).T
    outputs = values.shape[0]
    names = explanation.output_names or (tuple(map(str, range(outputs))) if outputs > 1 else None)
    means = explanation.summary()
    table = explanation.data_of_features
    return {
        "features": list(explanation.feature_names),
        "outputs": None if names is None else list(names),
        "first": outputs - 1
        if outputs == 2
        else 0,  # of two classes, the one that "yes" stands for
        "values": _numbers(values[:, :embedded]),
        "errors": _numbers(errors[:, :embedded]),
        "base": _numbers(base[:, :embedded]),
        "data": None if table is None else _numbers(table[:embedded]),
        "labels": None if labels is None else [_label(one) for one in list(labels)[:embedded]],
        "means": _numbers(means.values.reshape(features, -1).T),
        "mean_errors": _numbers(means.std_error.reshape(features, -1).T),
        "total": rows,
    }


def _numbers(array: np.ndarray) -> list:
    """Six significant digits, all of a whole number, and None for what is not a number: JSON has no
    other.
    """
    if array.ndim > 1:
        return [_numbers(part) for part in array]
    return list(map(_short, array.astype(np.float64).tolist()))


def _short(number: float) -> float | None:
    if not np.isfinite(number):
        return None
    return number if number.is_integer() else float(f"{number:.6g}")


def _label(one: Any) -> str:
    return f"{one:.6g}" if isinstance(one, float | np.floating) else str(one)


def _described(facts: Mapping[str, str]) -> str:
    lines = (
        f"<dt>{html.escape(name)}</dt><dd>{_marked(text)}</dd>" for name, text in facts.items()
    )
    return f"<dl>{''.join(lines)}</dl>"


def _card(heading: str, headline: str, text: str, meaning: str) -> str:
    wide = ' class="wide"' if "\n" in text else ""
    heading, headline, meaning = map(_marked, (heading, headline, meaning))
    said = "".join(f"<p>{_marked(line)}</p>" for line in text.splitlines())
    more = f'<p class="meaning">{meaning}</p>' if meaning else ""
    return (
        f'<article{wide}><h3>{heading}</h3><p class="headline">{headline}</p>{said}{more}</article>'
    )


def _marked(text: str) -> str:
    """Escaped, with options of the command line kept in one piece."""
    return re.sub(r"(?<!\S)--[a-z][a-z-]+", r"<code>\g<0></code>", html.escape(text))
