"""Which of many rows are distinct, so that nothing is asked about twice."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Shaped

WORD_BYTES = 8


class Distinct(NamedTuple):
    """Distinct rows in the order in which they first stand.

    The distinct rows of a prefix are thus a prefix of the distinct rows.
    """

    first: Int[np.ndarray, "distinct"]  # where each of them first stands
    rank: Int[np.ndarray, "rows"]  # which of them each row is


def distinct_items(items: Bool[np.ndarray, "m n"], num_strata: int | None) -> Distinct:
    """Distinct coalitions; with strata, all strata of a coalition, then those of the next."""
    packed = np.packbits(items, axis=1)
    if num_strata is not None:
        strata = (np.arange(len(items)) % num_strata).astype(np.uint32)
        packed = np.concatenate([packed, strata[:, None].view(np.uint8)], axis=1)
    return distinct_rows(packed)


def distinct_rows(rows: Shaped[np.ndarray, "rows ..."]) -> Distinct:
    """Rows that differ in any byte."""
    words = _words(rows)
    everything = np.arange(len(words))
    if len(np.unique(_hashes(words))) == len(words):  # rows of different hashes differ
        return Distinct(everything, everything)
    _, first, inverse = np.unique(words, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank_of = np.empty_like(order)
    rank_of[order] = np.arange(len(order))
    return Distinct(first[order], rank_of[inverse.reshape(-1)])


def _words(rows: np.ndarray) -> Int[np.ndarray, "rows words"]:
    """The bytes of each row as whole words."""
    length = math.prod(rows.shape[1:])
    content = np.ascontiguousarray(rows).reshape(len(rows), length).view(np.uint8)
    content = np.pad(content, ((0, 0), (0, -content.shape[1] % WORD_BYTES)))
    return content.view(np.int64)


def _hashes(words: Int[np.ndarray, "rows words"]) -> Int[np.ndarray, "rows"]:
    """A number per row; fixed multipliers, so that nothing depends on chance."""
    multipliers = np.random.default_rng(0).integers(2**62, size=words.shape[1]) | 1
    return words @ multipliers  # wraps around
