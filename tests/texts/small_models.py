"""A tokeniser, a small attention model and a small causal model for the tests of texts."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

VOCABULARY = [
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[UNK]",
    "not",
    "so",
    "bad",
    "a",
    "good",
    "day",
    ",",
    "un",
    "##kind",
    "##",
    ".",
    "the",
    "end",
]
WIDTH = 6


def wordpieces(special=True, mask=True, pad=True):
    """Hugging Face's own tokeniser, with a small vocabulary."""
    tokenizers = pytest.importorskip("tokenizers")
    dropped = {"[MASK]": not mask, "[PAD]": not pad}
    words = {word: number for number, word in enumerate(VOCABULARY) if not dropped.get(word, False)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    if special:
        tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


class Fast:
    """The interface of a fast tokeniser of transformers."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.mask_token_id = tokenizer.token_to_id("[MASK]")
        self.pad_token_id = tokenizer.token_to_id("[PAD]")

    def __call__(self, text, *, return_offsets_mapping, return_special_tokens_mask):
        assert return_offsets_mapping
        assert return_special_tokens_mask
        encoding = self.tokenizer.encode(text)
        return {
            "input_ids": encoding.ids,
            "offset_mapping": encoding.offsets,
            "special_tokens_mask": encoding.special_tokens_mask,
            "attention_mask": encoding.attention_mask,
        }


def parameters(seed=0):
    draw = np.random.default_rng(seed).normal
    names = {"table": (len(VOCABULARY), WIDTH), "place": (64, WIDTH), "query": (WIDTH, WIDTH)}
    names |= {"out": (WIDTH, 2), "head": (WIDTH, len(VOCABULARY))}
    return {name: jnp.asarray(draw(size=shape), jnp.float32) for name, shape in names.items()}


def attended(weights, vectors, visible):
    """One layer of attention; `visible` is (rows, from, to)."""
    vectors = vectors + weights["place"][: vectors.shape[1]]
    scores = jnp.einsum("rik,kl,rjl->rij", vectors, weights["query"], vectors)
    scores = jnp.where(visible, scores, -1e9)
    return jnp.tanh(jax.nn.softmax(scores) @ vectors)


def of_vectors(weights, vectors, mask):
    """(rows, length, width), (rows, length) -> (rows, 2); positions and pairs of words matter."""
    hidden = attended(weights, vectors, mask[:, None, :] > 0)
    pooled = (hidden * mask[..., None].astype(hidden.dtype)).sum(1)
    return jnp.tanh(pooled @ weights["out"])


def of_tokens(weights, ids, mask):
    return of_vectors(weights, weights["table"][ids], mask)


def causal(weights, ids):
    """(rows, length) -> logits (rows, length, vocabulary)."""
    earlier = jnp.tril(jnp.ones((ids.shape[1],) * 2, bool))[None]
    return attended(weights, weights["table"][ids], earlier) @ weights["head"]


def by_orderings(worth, num_players):
    """Shapley values by definition: the mean gain over all orderings; `worth` takes a set."""
    worth = functools.cache(worth)
    total = 0
    for order in itertools.permutations(range(num_players)):
        worths = [np.asarray(worth(frozenset(order[:k])), float) for k in range(num_players + 1)]
        gains = np.diff(np.stack(worths), axis=0)
        total = total + gains[np.argsort(order)]
    return total / math.factorial(num_players)
