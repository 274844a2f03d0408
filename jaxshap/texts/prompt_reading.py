"""Prompts and continuations as people pass them: read and checked before the model is asked."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from jaxshap.engine import BatchSize
from jaxshap.errors import InputError
from jaxshap.inputs import STAYS
from jaxshap.texts.absences import Absence, Embedded, MaskToken, Removed
from jaxshap.texts.chosen import Played
from jaxshap.texts.continuations import Prompt, prompt_game, scored
from jaxshap.texts.dividing import Divide, check_several, distinct, divided
from jaxshap.texts.encoding import Encoded, encode, longest, pad_token
from jaxshap.texts.reading import Readied, check_model, places, read_absence
from jaxshap.texts.token_game import TokenCalls, from_vectors
from jaxshap.texts.token_rows import TokenRow, check_length, roomy, token_row


class Continued(NamedTuple):
    """The tokens of a prompt with its continuation, which are the last ones, and their words."""

    encoded: Encoded
    words: tuple[str, ...]


def read_prompts(
    model: Callable,
    prompts: Collection[str],
    continuations: Collection[str],
    *,
    tokenizer: Any,
    players: Divide,
    absent: Absence | None,
    start_token: int | None,
    max_length: int | None,
    per_token: bool,
    batch_size: BatchSize,
) -> list[Readied]:
    """One game per prompt; all of them share what the model answered."""
    check_model(model, tokenizer)
    named = places(prompts, "prompts"), places(continuations, "continuations")
    if len(prompts) != len(continuations):
        raise InputError(
            f"there are {len(continuations)} continuations of {len(prompts)} prompts: pass one per "
            "prompt."
        )
    absent = _read_absence(absent, tokenizer)
    limit = longest(tokenizer) if max_length is None else max_length
    asked = from_vectors(model, absent) if isinstance(absent, Embedded) else model
    calls = TokenCalls(scored(asked), batch_size)
    pad = pad_token(tokenizer) or 0  # behind the continuation, where a causal model does not look

    def readied(prompt: str, continuation: str, where: str, continuing: str) -> Readied:
        part = divided(prompt, players, where)
        continued = encode_continued(tokenizer, prompt, continuation, start_token, continuing)
        check_length(continued.encoded, limit, f"{where} with its continuation")
        row, own = token_row(continued.encoded, part, where)
        _check_begins(row, len(continued.words), absent, where)
        padded = Prompt(row.padded(roomy(row.num_tokens, limit), pad), len(continued.words))
        words = f"{absent.words}, and the output is the log-probability of {continuation!r}"
        names = continued.words if per_token else None
        return Readied(
            own, lambda: Played(prompt_game(calls, padded, absent, pad, words, per_token)), names
        )

    ready = [readied(*each) for each in zip(prompts, continuations, *named, strict=True)]
    check_several([one.divided for one in ready], "prompts")
    return ready


def encode_continued(
    tokenizer: Any, prompt: str, continuation: str, start_token: int | None, where: str
) -> Continued:
    """Both in one piece, as the model would read them, without special tokens at the end."""
    if not isinstance(continuation, str) or not continuation:
        raise InputError(f"{where} is empty or no string: pass the text that follows the prompt.")
    text = prompt + continuation
    ids, offsets, special = encode(tokenizer, text, where)
    if start_token is not None:
        ids = np.insert(ids, 0, start_token)
        offsets, special = np.insert(offsets, 0, 0, axis=0), np.insert(special, 0, True)
    begin, end = np.where(special[:, None], 0, offsets).T
    if ((begin < len(prompt)) & (end > len(prompt))).any():
        raise InputError(
            f"one token holds the beginning of {where} and the end of its prompt: end the prompt "
            "between two tokens, as before a space that begins the continuation."
        )
    behind = np.flatnonzero(begin >= len(prompt))
    if not behind.size:
        raise InputError(f"the tokeniser makes no tokens of {where}.")
    used = slice(behind[-1] + 1)
    words = [text[i:j] for i, j in offsets[behind[0] : behind[-1] + 1].tolist()]
    return Continued(Encoded(ids[used], offsets[used], special[used]), distinct(words))


def _read_absence(absent: Absence | None, tokenizer: Any) -> Absence:
    absent = Removed() if absent is None else read_absence(absent, tokenizer)
    if not isinstance(absent, Removed | MaskToken | Embedded):
        raise InputError(
            f"absent={absent!r} is not for prompts: pass Removed(), MaskToken() or Embedded(embed)."
        )
    return absent


def _check_begins(row: TokenRow, num_continued: int, absent: Absence, where: str) -> None:
    """A causal model needs a token to predict the next one from, also where nobody is present."""
    owner: Any = row.players.owner
    if isinstance(absent, Removed) and (owner[: len(owner) - num_continued] != STAYS).all():
        raise InputError(
            f"nothing is left of {where} where all its players are absent, and the model has no "
            "token to predict the continuation from: pass start_token=, such as the number of the "
            "token that begins a text."
        )
