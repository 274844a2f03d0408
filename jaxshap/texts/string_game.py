"""Models of strings: pipelines, remote models, ONNX sessions; absent parts leave the string."""

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.inputs import check_outputs
from jaxshap.texts.absences import Absence, Removed, Replaced
from jaxshap.texts.chosen import Chosen, Pick, Played
from jaxshap.texts.dividing import Divided
from jaxshap.texts.presence_game import presence_game
from jaxshap.texts.remembering import ask_once

STRINGS_PER_CALL = 64  # by default: progress is seen, and a batch fills a processor


@dataclasses.dataclass(frozen=True, eq=False)
class StringCalls:
    """A model of strings that is asked about no string twice; what it answered is in `known`."""

    model: Callable
    pick: Pick | None = None
    known: dict[Hashable, Any] = dataclasses.field(default_factory=dict)

    def __call__(self, strings: Sequence[str]) -> Any:
        return ask_once(self.known, strings, lambda new: self._outputs([strings[i] for i in new]))

    def _outputs(self, strings: Sequence[str]) -> np.ndarray:
        outputs = np.asarray(self.model(list(strings)))
        check_outputs(outputs.shape, outputs.dtype, len(strings))
        return outputs if self.pick is None else self.pick(outputs)


def string_game(calls: StringCalls, divided: Divided, absent: Absence, chosen: Chosen) -> Played:
    """v(S) = model(the text with the parts of S)."""
    masked, num_players = masker(divided, absent), len(divided.names)
    calls, row_outputs = chosen.for_text(calls, masked(np.ones((1, num_players), bool)))

    def worths(coalitions: Bool[np.ndarray, "m n"]) -> Any:
        return calls(masked(coalitions))

    per_string = byte_limit() // STRINGS_PER_CALL
    return Played(presence_game(worths, num_players, absent.words, per_string), row_outputs)


def masker(divided: Divided, absent: Absence) -> Callable[[Any], list[str]]:
    """The function that makes strings of coalitions `(m, n)`."""
    if not isinstance(absent, Removed | Replaced):
        raise InputError(
            f"absent={absent!r} is for models of tokens: pass tokenizer=, or Removed() or "
            "Replaced(string) for a model of strings."
        )
    text, spans = divided.text, divided.spans
    parts = np.array([text[begin:end] for begin, end in spans.tolist()], object)
    starts = [*spans[1:, 0].tolist(), len(text)]
    between = np.array(
        [text[end:start] for end, start in zip(spans[:, 1].tolist(), starts, strict=True)], object
    )
    before = text[: spans[0, 0]]
    removed = isinstance(absent, Removed)
    instead = absent.by if isinstance(absent, Replaced) else ""
    blank = np.array([not gap.strip() for gap in between]) & removed

    def masked(coalitions: Bool[np.ndarray, "m n"]) -> list[str]:
        own = np.where(coalitions, parts, instead)
        gaps = np.where(coalitions | ~blank, between, "")  # the space after a word goes with it
        strings = [before + "".join(row) for row in np.stack([own, gaps], 2).reshape(len(own), -1)]
        if not removed:
            return strings
        rows = zip(coalitions[:, -1], strings, strict=True)
        return [string if ends else string.rstrip() for ends, string in rows]

    return masked
