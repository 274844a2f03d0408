"""Tokenisers of other libraries, used as they are: tokens with their places in the text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import shown

MASK_NAMES = ("[MASK]", "<mask>", "<|mask|>")
PAD_NAMES = ("[PAD]", "<pad>", "<|pad|>")


class Encoded(NamedTuple):
    """The tokens of one text, without padding."""

    ids: Int[np.ndarray, "length"]
    offsets: Int[np.ndarray, "length 2"]  # characters from … to
    special: Bool[np.ndarray, "length"]  # such as [CLS] and [SEP]


def encode(tokenizer: Any, text: str, where: str) -> Encoded:
    """The tokens of a text; `where` is what messages call it."""
    ids, offsets, special, real = (
        _by_tokenizers(tokenizer, text, where)
        if hasattr(tokenizer, "token_to_id")
        else _by_transformers(tokenizer, text)
    )
    kept = np.asarray(real, bool)
    places = np.asarray(offsets, np.int64).reshape(-1, 2)
    return Encoded(np.asarray(ids, np.int32)[kept], places[kept], np.asarray(special, bool)[kept])


def mask_token(tokenizer: Any) -> int | None:
    """The number of the token that stands for a word that is not known, where there is one."""
    if hasattr(tokenizer, "token_to_id"):
        return _first_known(tokenizer, MASK_NAMES)
    return getattr(tokenizer, "mask_token_id", None)


def pad_token(tokenizer: Any) -> int | None:
    """The number of the token that fills up short texts, where there is one."""
    if not hasattr(tokenizer, "token_to_id"):
        return getattr(tokenizer, "pad_token_id", None)
    if tokenizer.padding:
        return tokenizer.padding["pad_id"]
    return _first_known(tokenizer, PAD_NAMES)


def longest(tokenizer: Any) -> int | None:
    """The most tokens that the tokeniser allows for, where it says so."""
    if hasattr(tokenizer, "token_to_id"):
        return tokenizer.truncation["max_length"] if tokenizer.truncation else None
    return getattr(tokenizer, "model_max_length", None)


def _by_tokenizers(tokenizer: Any, text: str, where: str):
    encoding = tokenizer.encode(text)
    if encoding.overflowing:
        raise InputError(
            f"{where} is longer than the {tokenizer.truncation['max_length']} tokens at which its "
            "tokeniser cuts texts off: shorten it, or call tokenizer.no_truncation() if the model "
            "takes more."
        )
    return encoding.ids, encoding.offsets, encoding.special_tokens_mask, encoding.attention_mask


def _by_transformers(tokenizer: Any, text: str):
    no_tokenizer = (
        f"{shown(tokenizer)} is no tokeniser: pass one of Hugging Face's tokenizers, or a fast one "
        "of transformers."
    )
    if not callable(tokenizer) or isinstance(tokenizer, type):
        raise InputTypeError(no_tokenizer)
    wanted = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    names = "input_ids", "offset_mapping", "special_tokens_mask", "attention_mask"
    try:
        encoding: Any = tokenizer(text, **wanted)
        return [encoding[name] for name in names]
    except NotImplementedError as error:
        raise InputTypeError(
            f"{type(tokenizer).__name__} does not say where its tokens stand in the text: pass "
            "the fast tokeniser of the same name."
        ) from error
    except (TypeError, KeyError) as error:
        raise InputTypeError(no_tokenizer) from error


def _first_known(tokenizer: Any, names: Sequence[str]) -> int | None:
    numbers = (tokenizer.token_to_id(name) for name in names)
    return next((number for number in numbers if number is not None), None)
