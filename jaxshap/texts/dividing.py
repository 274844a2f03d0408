"""Who plays in a text: functions that divide it into spans, each of which is one player."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import check_kind, shown
from jaxshap.texts.encoding import encode

Span = tuple[int, int]
Divide = Callable[[str], Sequence[Span]]

WORD = re.compile(r"\S+")
SENTENCE = re.compile(
    r"\S.*?(?:[.!?…]+[\"'”’)\]]*(?=\s|\Z)|[。！？]+[」』”’）]*|(?=\s*\Z))", re.DOTALL
)


class Divided(NamedTuple):
    """A text, the span of characters that each player owns, and the names of the players."""

    text: str
    spans: Int[np.ndarray, "n 2"]
    names: tuple[str, ...]

    def only(self, players: np.ndarray) -> "Divided":
        """The same text with some of its players."""
        return divided_at(self.text, self.spans[players])


def words(text: str) -> list[Span]:
    """Words as players: whatever stands between spaces, its punctuation included.

    Args:
        text: the text to divide.

    Returns:
        Where each word begins and ends.

    Example:
        >>> import jaxshap
        >>> jaxshap.texts.words("Not bad, really.")
        [(0, 3), (4, 8), (9, 16)]
    """
    check_kind(text, str, "text", "a string")
    return [match.span() for match in WORD.finditer(text)]


def sentences(text: str) -> list[Span]:
    """Sentences as players: they end with a full stop, a question or an exclamation mark.

    A rule of punctuation alone: "Dr. Who" ends a sentence. For others, use `matches`.

    Args:
        text: the text to divide.

    Returns:
        Where each sentence begins and ends.

    Example:
        >>> import jaxshap
        >>> jaxshap.texts.sentences("It rained. Why? We left")
        [(0, 10), (11, 15), (16, 23)]
    """
    check_kind(text, str, "text", "a string")
    return [match.span() for match in SENTENCE.finditer(text)]


def matches(pattern: str | re.Pattern) -> Divide:
    """Whatever a regular expression matches as players; the rest of the text always stays.

    Args:
        pattern: the regular expression, such as `r"[^\\n]+"` for lines.

    Returns:
        A function that divides a text, for `players=`.

    Raises:
        InputError: the pattern is no regular expression.

    Example:
        >>> import jaxshap
        >>> jaxshap.texts.matches(r"\\w+")("Not bad, really.")
        [(0, 3), (4, 7), (9, 15)]
    """
    check_kind(pattern, (str, re.Pattern), "pattern", "a regular expression")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InputError(f"matches({pattern!r}) is no regular expression: {error}.") from error
    return lambda text: [match.span() for match in compiled.finditer(text) if match.group()]


def pieces(tokenizer: Any) -> Divide:
    """The tokens of a tokeniser as players; tokens of one character between them are one player.

    Args:
        tokenizer: of Hugging Face's `tokenizers`, or a fast one of `transformers`.

    Returns:
        A function that divides a text, for `players=`.

    Example:
        >>> import jaxshap
        >>> class Letters:  # in place of a tokeniser
        ...     def __call__(self, text, **options):
        ...         offsets = [(i, i + 1) for i in range(len(text))]
        ...         ones = [1] * len(text)
        ...         return {"input_ids": ones, "offset_mapping": offsets, "attention_mask": ones,
        ...                 "special_tokens_mask": [0] * len(text)}
        >>> jaxshap.texts.pieces(Letters())("so")
        [(0, 1), (1, 2)]
    """

    def divide(text: str) -> list[Span]:
        encoded = encode(tokenizer, text, "the text")
        own = encoded.offsets[~encoded.special & (np.diff(encoded.offsets)[:, 0] > 0)]
        return _apart(map(tuple, own.tolist()))

    return divide


def divided(text: str, divide: Divide, where: str) -> Divided:
    """The players of a text, checked; `where` is what messages call it."""
    if not isinstance(text, str):
        raise InputTypeError(f"{where} is {type(text).__name__}: pass texts as strings.")
    if not text.strip():
        raise InputError(f"{where} is empty: leave it out, it has no players.")
    parts: Any = divide(text)
    if callable(parts):
        raise InputTypeError(
            "players= makes a function in place of parts of a text: call it first, as in "
            "players=jaxshap.texts.pieces(tokenizer)."
        )
    try:
        found = np.asarray(parts)
        spans = found.astype(np.int64).reshape(-1, 2)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            f"players= divides {where} into {shown(parts)}: return (begin, end) pairs of whole "
            "numbers, from left to right."
        ) from None
    if not len(spans):
        raise InputError(f"players= finds nothing in {where}: divide it in another way.")
    if found.dtype.kind not in "iu":
        raise InputTypeError(f"players= divides {where} at {found.dtype}: pass whole numbers.")
    inside = (spans[:, 0] < spans[:, 1]).all() and spans.min() >= 0 and spans.max() <= len(text)
    if not inside or (spans[1:, 0] < spans[:-1, 1]).any():
        raise InputError(
            f"players= divides {where} into spans that overlap, are empty or are not in order: "
            "return (begin, end) pairs from left to right."
        )
    return divided_at(text, spans)


def check_several(parts: Sequence[Divided], what: str) -> None:
    """A single player owns the whole difference: where no text has more, nothing is shared out.

    Beside texts of several players it is explained, exactly, so that no list has to be sorted.
    """
    if all(len(part.names) == 1 for part in parts):
        (name,) = parts[0].names
        also = "" if len(parts) == 1 else f", and so has each of {what}"
        raise InputError(
            f"{what}[0] has a single player, {name!r}{also}: its value is the model's output less "
            "that of the text without it, and there is nothing to share out. Divide the text into "
            "smaller players, such as jaxshap.texts.pieces(tokenizer)."
        )


def divided_at(text: str, spans: Int[np.ndarray, "n 2"]) -> Divided:
    """With names: the words themselves."""
    return Divided(text, spans, distinct([text[begin:end] for begin, end in spans.tolist()]))


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names that repeat are numbered: "the", "the (2)"."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(numbered)


def _apart(spans: Iterable[Any]) -> list[Span]:
    """Spans that overlap, such as the bytes of one character, made one."""
    joined: list[Span] = []
    for begin, end in spans:
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined
