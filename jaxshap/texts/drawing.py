"""Texts coloured by value, with errors: HTML for notebooks, and a terminal's own colours."""

import html
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxshap.errors import InputTypeError
from jaxshap.explaining import certainty, half_intervals, number_text, plural, shown_output
from jaxshap.games import shown

if TYPE_CHECKING:
    from jaxshap.texts.text_explanation import TextExplanation

POSITIVE, NEGATIVE = (213, 94, 0), (86, 180, 233)  # as in plots: distinct to the colour-blind
MAX_OUTPUTS = 8  # that are drawn of one text


class Piece(NamedTuple):
    """A stretch of text with its value and error, or None where it belongs to nobody."""

    text: str
    value: float | None = None
    error: float = 0.0  # half of the 95 % interval

    @property
    def number(self) -> str:
        """The value and half of its 95 % interval, such as `+0.31 ± 0.04`; alone where exact."""
        if not np.isfinite(self.error):
            return f"{number_text(self.value or 0.0, signed=True)} ± ?"
        return number_text(self.value or 0.0, self.error, signed=True)

    @property
    def is_sure(self) -> bool:
        """Whether the sign is; where the error is unknown it is not."""
        return self.error == 0 or bool(abs(self.value or 0) > self.error)


class Drawn(NamedTuple):
    """One output of an explained text, ready to be drawn."""

    name: str | None
    base: float
    total: float
    pieces: list[Piece]
    largest: float  # |value| of all players and outputs, which has the full colour

    def shade(self, piece: Piece) -> float:
        return abs(piece.value or 0) / self.largest

    @property
    def caption(self) -> str:
        name = "output" if self.name is None else self.name
        total, base = (f"{part:.4g}".replace("-", "−") for part in (self.total, self.base))
        return f"{name} {total}, of which {base} is the text without its players"


def as_html(explanation: "TextExplanation") -> str:
    """Each word on its colour above its value ± error; a dotted line where the sign is unsure."""
    if not isinstance(getattr(explanation, "text", None), str):
        raise InputTypeError(f"{shown(explanation)} is no explained text: pass one of them.")
    lines = []
    for drawn in _drawn(explanation):
        words = "".join(_html_piece(piece, drawn) for piece in drawn.pieces)
        caption = f"<div style='font-size:.85em;opacity:.75'>{html.escape(drawn.caption)}</div>"
        style = "white-space:pre-wrap;overflow-wrap:anywhere"
        lines.append(f"{caption}<div style='{style}'>{words}</div>")
    notes = "".join(f"<div>{html.escape(line)}</div>" for line in _heading(explanation))
    head = f"<div style='font-size:.85em;opacity:.75'>{notes}</div>"
    return f"<div style='max-width:60em;margin:.8em 0'>{head}{''.join(lines)}</div>"


def as_text(explanation: "TextExplanation") -> str:
    """In colours on a terminal; elsewhere, and where NO_COLOR is set, with the values alone."""
    paint = _ansi_piece if _takes_colours() else _plain_piece
    lines = _heading(explanation)
    for drawn in _drawn(explanation):
        lines.append(drawn.caption)
        lines.append("".join(paint(piece, drawn) for piece in drawn.pieces))
    return "\n".join(lines)


def _heading(explanation: "TextExplanation") -> list[str]:
    _, players, *outputs = explanation.values.shape
    exact = " (exact)" if explanation.exact else ""
    lines = [
        f"Explanation of a text with {players} player{'s' * (players > 1)}: "
        f"{plural(explanation.kind)} where {explanation.absent}, by {explanation.estimator}"
        f"{exact}, {explanation.num_evaluations:,} evaluations{certainty(explanation)}"
    ]
    hidden = int(np.prod(outputs)) - MAX_OUTPUTS
    return lines + [f"… and {hidden} outputs more, by explanation[:, :, number]"] * (hidden > 0)


def _drawn(explanation: "TextExplanation") -> Iterator[Drawn]:
    """The outputs one after the other; of two classes the second, as in a table."""
    count = len(explanation.feature_names)
    outputs = shown_output(explanation)
    unnamed = "output 1" if outputs is not explanation and outputs.output_names is None else None
    explanation = outputs
    halves = half_intervals(explanation)
    values, errors = (part[0].reshape(count, -1) for part in (explanation.values, halves))
    bases, own = explanation.base_values[0].reshape(-1), explanation.row_outputs
    names = explanation.output_names if own is None else own[0].tolist()
    shown = min(MAX_OUTPUTS, values.shape[1])
    largest = float(np.abs(values[:, :shown]).max()) or 1.0
    for number in range(shown):
        own, base = values[:, number], float(bases[number]) + 0.0  # no −0
        several = f"output {number}" if values.shape[1] > 1 else unnamed
        name = several if names is None else names[number]
        pieces = list(_pieces(explanation, own, errors[:, number]))
        yield Drawn(name, base, base + float(own.sum()), pieces, largest)


def _pieces(explanation: "TextExplanation", values: Any, errors: Any) -> Iterator[Piece]:
    """The text from left to right: players, and what stands between them."""
    text, reached = explanation.text, 0
    for (begin, end), value, error in zip(explanation.spans.tolist(), values, errors, strict=True):
        if begin > reached:
            yield Piece(text[reached:begin])
        yield Piece(text[begin:end], float(value) + 0.0, float(error))
        reached = end
    if reached < len(text):
        yield Piece(text[reached:])


def _html_piece(piece: Piece, drawn: Drawn) -> str:
    text = html.escape(piece.text)
    if piece.value is None:
        return f"<span>{text}</span>"
    red, green, blue = POSITIVE if piece.value >= 0 else NEGATIVE
    sure = "" if piece.is_sure else ";border-bottom:2px dotted currentColor"
    style = (
        f"background:rgba({red},{green},{blue},{0.9 * drawn.shade(piece):.2f});"
        f"border-radius:.2em;padding:.1em .15em{sure}"
    )
    number = html.escape(piece.number)
    value, _, error = number.partition(" ")
    below = "font-size:.65em;line-height:1.25em;white-space:nowrap;user-select:none"
    column = "display:inline-flex;flex-direction:column;align-items:center;vertical-align:top"
    return (
        f"<span style='{column};margin:.2em .1em' title='{text}: {number}'>"
        f"<span style='{style}'>{text}</span><span style='{below}'>{value}</span>"
        f"<span style='{below};opacity:.7'>{error}</span></span>"
    )


def _ansi_piece(piece: Piece, drawn: Drawn) -> str:
    """Black on a colour from white to full; underlined where the sign is unsure."""
    text = _printable(piece.text)
    if piece.value is None:
        return text
    shade = drawn.shade(piece)
    full = POSITIVE if piece.value >= 0 else NEGATIVE
    red, green, blue = (round(255 + shade * (part - 255)) for part in full)
    unsure = "" if piece.is_sure else ";4"
    return f"\x1b[30;48;2;{red};{green};{blue}{unsure}m{text}\x1b[0m\x1b[2m({piece.number})\x1b[0m"


def _plain_piece(piece: Piece, drawn: Drawn) -> str:
    del drawn
    text = _printable(piece.text)
    return text if piece.value is None else f"{text}({piece.number})"


def _printable(text: str) -> str:
    """Without characters that would command a terminal."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else ascii(letter)[1:-1]
        for letter in text
    )


def _takes_colours() -> bool:
    return "NO_COLOR" not in os.environ and sys.stdout is not None and sys.stdout.isatty()
