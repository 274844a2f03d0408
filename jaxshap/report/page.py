"""One self-contained HTML page: every row's values, their error bars, and how far to believe it."""

import html
import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, half_intervals, shown_values
from jaxshap.games import as_array, check_kind, read_whole
from jaxshap.plots import NEGATIVE, POSITIVE
from jaxshap.report.what_if import what_if_of
from jaxshap.report.words import Card, diagnostics, facts_of, lead
from jaxshap.texts import TextExplanation, as_html
from jaxshap.trust import Diagnosis

MAX_ROWS = 10_000  # in one page, which a browser draws in about a second
MAX_VALUES = 400_000  # in one page, so that it opens at once and can be mailed
SCRIPTS = "page.js", "questions.js", "reader.js"  # one after the other
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
UNDIAGNOSED = "No diagnosis was made: pass diagnosis=explanation.diagnose() to have one."


def report_html(
    explanation: Explanation,
    diagnosis: Diagnosis | None = None,
    *,
    title: str | None = None,
    labels: Any = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    undiagnosed: str = UNDIAGNOSED,
    packages: Sequence[str] = (),
    what_if: int = 0,
) -> str:
    """The page as a string, the same for the same input.

    `facts` describe what was explained, `notes` tell what a reader must know first, and
    `undiagnosed` says why there is no diagnosis, and `packages` are named with their versions;
    `what_if` is as in `write_report`.
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    if diagnosis is not None:
        check_kind(diagnosis, Diagnosis, "diagnosis", "what explanation.diagnose() returned")
    if title is not None:
        check_kind(title, str, "title", "a text")
    what_if = read_whole(what_if, "what_if", 0)
    if labels is not None and np.shape(as_array(labels, "labels")) != (len(explanation),):
        raise InputError(
            f"labels have shape {np.shape(labels)} for {len(explanation)} rows: pass one per row."
        )
    title = title or "What the model's predictions rest on"
    embedded = _num_embedded(explanation)
    if embedded < len(explanation):
        cut = f"Rows 0 to {embedded - 1:,} of {len(explanation):,} can be looked at here"
        notes = [*notes, f"{cut}; the means are over all rows."]
    data = _payload(explanation, labels, embedded)
    data["texts"] = {
        explanation.feature_names.index(name): list(words)
        for name, words in explanation.words.items()
        if name in explanation.feature_names
    }
    data["what_if"] = _moves_payload(explanation, min(what_if, embedded))
    cards = diagnostics(explanation, diagnosis, undiagnosed)
    filling = {
        "of_means": "exact" if explanation.exact else "with 95 % intervals of the estimate",
        "whiskers": "" if explanation.exact else "; whiskers are 95 % intervals",
        "title": html.escape(title),
        "lead": html.escape(lead(explanation, diagnosis)),
        "notes": "".join(f'<p class="note">{_marked(note)}</p>' for note in notes),
        "drawn": _drawn(explanation),
        "facts": _described({**(facts or {}), **facts_of(explanation, packages)}),
        "diagnostics": "".join(map(_article, cards)),
        "data": json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e"),
        "style": _packaged("page.css").replace("POSITIVE", POSITIVE).replace("NEGATIVE", NEGATIVE),
        "script": "\n".join(map(_packaged, SCRIPTS)),
    }
    return PLACEHOLDER.sub(lambda match: filling[match[1]], _packaged("page.html"))


def _packaged(name: str) -> str:
    return importlib.resources.files("jaxshap.report").joinpath(name).read_text(encoding="utf-8")


def _drawn(explanation: Explanation) -> str:
    """A text in its colours; nothing for other inputs."""
    if not isinstance(explanation, TextExplanation):
        return ""
    heading = '<h2 id="text-heading">The text</h2>'
    return f'<section aria-labelledby="text-heading">{heading}{as_html(explanation)}</section>'


def _num_embedded(explanation: Explanation) -> int:
    _, *rest = explanation.values.shape
    return max(1, min(len(explanation), MAX_ROWS, MAX_VALUES // int(np.prod(rest))))


def _payload(explanation: Explanation, labels: Any, embedded: int) -> dict[str, Any]:
    """What the script draws: arrays by output, then row, then feature."""
    rows, features = explanation.values.shape[:2]
    values, errors = (
        array.reshape(rows, features, -1).transpose(2, 0, 1)
        for array in (explanation.values, explanation.std_error)
    )
    base = explanation.base_values.reshape(rows, -1).T
    outputs = values.shape[0]
    names = explanation.output_names or (tuple(map(str, range(outputs))) if outputs > 1 else None)
    halves = half_intervals(explanation).reshape(rows, features, -1)
    means, mean_halves = (part.reshape(features, -1) for part in shown_values(explanation))
    table = explanation.data_of_features
    return {
        "features": list(explanation.feature_names),
        "outputs": None if names is None else list(names),
        "first": 1 if outputs == 2 else 0,  # of two classes, the one that "yes" stands for
        "values": _numbers(values[:, :embedded]),
        "errors": _numbers(errors[:, :embedded]),
        "halves": _numbers(halves.transpose(2, 0, 1)[:, :embedded]),
        "sums": _numbers(base[:, :embedded] + np.nansum(values, axis=2)[:, :embedded]),
        "base": _numbers(base[:, :embedded]),
        "data": None if table is None else _numbers(table[:embedded]),
        "labels": None if labels is None else [_label(label) for label in list(labels)[:embedded]],
        "means": _numbers(np.abs(means).T),
        "mean_halves": _numbers(mean_halves.T),
        "total": rows,
    }


def _moves_payload(explanation: Explanation, num_rows: int) -> dict[str, Any] | None:
    """Curves by feature, then output, row and point; None where the model is not to be asked."""
    if num_rows == 0:
        return None
    asked = what_if_of(explanation, num_rows)
    rows = len(asked.own)
    moves = [
        {
            "feature": move.feature,
            "grid": _numbers(move.grid),
            "curves": _numbers(move.curves.reshape(rows, len(move.grid), -1).transpose(2, 0, 1)),
        }
        for move in asked.moves
    ]
    return {"own": _numbers(asked.own.reshape(rows, -1).T), "moves": moves}


def _numbers(array: np.ndarray) -> list:
    """Six significant digits, all of a whole number, and None for NaN, which JSON lacks."""
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return list(map(_short, array.astype(np.float64).tolist()))


def _short(number: float) -> float | None:
    if not np.isfinite(number):
        return None
    return number if number.is_integer() else float(f"{number:.6g}")


def _label(label: Any) -> str:
    return f"{label:.6g}" if isinstance(label, float | np.floating) else str(label)


def _described(facts: Mapping[str, str]) -> str:
    lines = (
        f"<dt>{html.escape(name)}</dt><dd>{_marked(text)}</dd>" for name, text in facts.items()
    )
    return f"<dl>{''.join(lines)}</dl>"


def _article(card: Card) -> str:
    wide = ' class="wide"' if "\n" in card.text else ""
    heading, headline, meaning = map(_marked, (card.heading, card.headline, card.meaning))
    text = "".join(f"<p>{_marked(line)}</p>" for line in card.text.splitlines())
    meaning = f'<p class="meaning">{meaning}</p>' if meaning else ""
    headline = f'<p class="headline">{headline}</p>'
    return f"<article{wide}><h3>{heading}</h3>{headline}{text}{meaning}</article>"


def _marked(text: str) -> str:
    """Escaped text, with options of the command line kept in one piece."""
    return re.sub(r"(?<!\S)--[a-z][a-z-]+", r"<code>\g<0></code>", html.escape(text))
