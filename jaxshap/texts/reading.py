"""Texts as people pass them: divided, encoded and checked before the model is asked anything."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.engine import BatchSize
from jaxshap.errors import InputError, InputTypeError
from jaxshap.estimators import Estimator
from jaxshap.games import check_function
from jaxshap.texts.absences import Absence, Embedded, Hidden, MaskToken, Removed
from jaxshap.texts.chosen import Chosen, Played
from jaxshap.texts.dividing import Divide, Divided, check_several, divided
from jaxshap.texts.encoding import encode, longest, mask_token, pad_token
from jaxshap.texts.string_game import StringCalls, masker, string_game
from jaxshap.texts.token_game import TokenCalls, from_vectors, masked_tokens, token_game
from jaxshap.texts.token_rows import TokenRow, check_length, roomy, token_row


class Readied(NamedTuple):
    """A text that is read and checked, and the game that asks the model about it."""

    divided: Divided
    play: Callable[[], Played]
    output_names: Sequence[str] | None = None
    estimator: Estimator | None = None  # where the players stand in groups of their own


def read_texts(
    model: Callable,
    texts: Collection[str],
    tokenizer: Any,
    players: Divide,
    absent: Absence | None,
    max_length: int | None,
    batch_size: BatchSize,
    chosen: Chosen,
) -> list[Readied]:
    """One game per text; all of them share what the model answered, unless each has outputs of
    its own.
    """
    check_model(model, tokenizer)
    check_function(players, "players", "a way to divide texts, such as jaxshap.texts.words")
    parts = [
        divided(text, players, where) for text, where in zip(texts, places(texts), strict=True)
    ]
    if tokenizer is not None:
        return _for_tokens(model, parts, tokenizer, absent, max_length, batch_size, chosen)
    if max_length is not None:
        raise InputError("max_length= counts tokens: pass tokenizer= with it, or omit it.")
    absent = Removed() if absent is None else absent
    calls = StringCalls(model, chosen.pick)
    masker(parts[0], absent)  # refuses an absence of tokens
    check_several(parts, "texts")

    def readied(part: Divided) -> Readied:
        return Readied(part, lambda: string_game(calls, part, absent, chosen), chosen.names)

    return [readied(part) for part in parts]


def check_model(model: Any, tokenizer: Any = None) -> None:
    if tokenizer is None:
        check_function(model, "model", "a function of a batch of texts")
    else:
        check_function(model, "model", "a function of a batch of tokens and of their mask", 2)


def places(texts: Collection[str], what: str = "texts") -> list[str]:
    """What messages call each text; a string in place of a list, or a table, is refused."""
    known = isinstance(texts, Sequence | np.ndarray) or hasattr(texts, "to_numpy")  # a Series
    if isinstance(texts, str) or not known or len(getattr(texts, "shape", (0,))) != 1:
        raise InputTypeError(f"pass {what} as a list of strings, also where there is only one.")
    if not len(texts):
        raise InputError(f"there are no {what}: pass at least one.")
    return [f"{what}[{number}]" for number in range(len(texts))]


def _for_tokens(
    model: Callable,
    parts: Sequence[Divided],
    tokenizer: Any,
    absent: Absence | None,
    max_length: int | None,
    batch_size: BatchSize,
    chosen: Chosen,
) -> list[Readied]:
    absent = read_absence(absent, tokenizer)
    pad = pad_token(tokenizer)
    max_length = longest(tokenizer) if max_length is None else max_length
    rows, kept = [], []
    for number, part in enumerate(parts):
        where = f"texts[{number}]"
        encoded = encode(tokenizer, part.text, where)
        check_length(encoded, max_length, where)
        row, own = token_row(encoded, part, where)
        rows.append(row)
        kept.append(own)
    check_several(kept, "texts")
    rows = in_shared_lengths(rows, pad, absent, max_length)
    filler = 0 if pad is None else pad
    masked_tokens(rows[0], rows[0].present(np.ones((1, len(rows[0].players)), bool)), absent, 0)
    asked = from_vectors(model, absent) if isinstance(absent, Embedded) else model
    calls = TokenCalls(asked, batch_size, chosen.pick)

    def readied(row: TokenRow, own: Divided) -> Readied:
        return Readied(own, lambda: token_game(calls, row, absent, filler, chosen), chosen.names)

    return [readied(row, own) for row, own in zip(rows, kept, strict=True)]


def read_absence(absent: Absence | None, tokenizer: Any) -> Absence:
    """What absent means for tokens, the tokeniser's mask token filled in."""
    absent = MaskToken() if absent is None else absent
    if not isinstance(absent, MaskToken) or absent.token is not None:
        return absent
    token = mask_token(tokenizer)
    if token is None:
        raise InputError(
            "this tokeniser has no mask token: pass absent=jaxshap.texts.MaskToken(number), or "
            "Hidden(), Removed() or Embedded(embed)."
        )
    return MaskToken(token)


def in_shared_lengths(
    rows: Sequence[TokenRow], pad: int | None, absent: Absence, max_length: int | None
) -> list[TokenRow]:
    """Padded so that texts of like length share a program; without padding all must be alike."""
    if pad is not None:
        return [row.padded(roomy(row.num_tokens, max_length), pad) for row in rows]
    lengths = sorted({row.num_tokens for row in rows})
    if len(lengths) > 1 or isinstance(absent, Hidden | Removed):
        raise InputError(
            "this tokeniser has no padding token, which "
            + (
                f"texts of {lengths[0]} to {lengths[-1]} tokens need"
                if len(lengths) > 1
                else f"absent={absent!r} needs"
            )
            + ": name it with tokenizer.enable_padding(pad_id=…) or, in transformers, "
            "tokenizer.pad_token = …; or explain one text at a time with MaskToken()."
        )
    return list(rows)
