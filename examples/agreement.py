"""A small causal transformer that learns which noun a verb agrees with, and why it says "are".

python examples/agreement.py
"""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

NOUNS = ["key", "dog", "child", "tree", "painter", "keys", "dogs", "children", "trees", "painters"]
PLACES = ["near", "behind", "above"]
QUALITIES = ["old", "new", "here", "lost"]
SPECIAL = ["[PAD]", "[START]", "[END]"]
VOCABULARY = [*SPECIAL, "the", "is", "are", *NOUNS, *PLACES, *QUALITIES]
WIDTH, HEADS, LAYERS, LENGTH = 32, 2, 2, 16
Weights = dict[str, Any]


def word_tokenizer() -> Any:
    """One token a word, and a token in front that begins the text."""
    import tokenizers

    numbers = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    start, end = (("[START]", 1), ("[END]", 2))
    tokenizer.post_processor = tokenizers.processors.BertProcessing(end, start)
    tokenizer.enable_truncation(LENGTH)
    return tokenizer


def sentences() -> list[str]:
    """All sentences of the language: the verb agrees with the first noun, not with the nearest."""
    pairs = itertools.product(NOUNS, PLACES, NOUNS, QUALITIES)
    long = [f"the {a} {place} the {b} {_verb(a)} {how}" for a, place, b, how in pairs]
    return long + [f"the {a} {_verb(a)} {how}" for a in NOUNS for how in QUALITIES]


def _verb(noun: str) -> str:
    return "is" if NOUNS.index(noun) < len(NOUNS) // 2 else "are"


def logits(
    weights: Weights, ids: Int[Array, "rows length"], mask: Int[Array, "rows length"]
) -> Float[Array, "rows length vocabulary"]:
    """Of the token that follows each place; the mask is not needed, since padding comes last."""
    del mask
    hidden = weights["words"][ids] + weights["places"][: ids.shape[1]]
    for layer in weights["layers"]:
        query, key, value = jnp.moveaxis(
            (_normalised(hidden) @ layer["attend"]).reshape(*ids.shape, 3, HEADS, -1), 2, 0
        )
        attended = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + attended.reshape(hidden.shape) @ layer["gather"]
        hidden = hidden + jax.nn.gelu(_normalised(hidden) @ layer["widen"]) @ layer["narrow"]
    return _normalised(hidden) @ weights["words"].T


def _normalised(hidden: Array) -> Array:
    return jax.nn.standardize(hidden)


def trained(steps: int = 300) -> Weights:
    """Weights that give the next word of every sentence, by Adam on random batches."""
    tokenizer = word_tokenizer()
    encoded = [tokenizer.encode(sentence).ids for sentence in sentences()]
    longest = max(map(len, encoded))
    ids = jnp.array([one + [0] * (longest - len(one)) for one in encoded])
    optimiser = optax.adam(3e-3)

    def loss(weights, batch):
        scores, wanted = logits(weights, batch, batch)[:, :-1], batch[:, 1:]
        each = optax.softmax_cross_entropy_with_integer_labels(scores, wanted)
        return jnp.mean(each, where=wanted > 0)

    def step(carry, key):
        weights, state = carry
        batch = ids[jax.random.randint(key, (64,), 0, len(ids))]
        updates, state = optimiser.update(jax.grad(loss)(weights, batch), state)
        return (optax.apply_updates(weights, updates), state), None

    @jax.jit
    def run(weights, keys):
        return jax.lax.scan(step, (weights, optimiser.init(weights)), keys)[0][0]

    return run(_initial(), jax.random.split(jax.random.key(0), steps))


def _initial() -> Weights:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Array:
        return jnp.asarray(rng.normal(size=shape) / np.sqrt(WIDTH), jnp.float32)

    shapes = {"attend": 3 * WIDTH, "gather": WIDTH, "widen": 4 * WIDTH}
    layers = [
        {name: draw(WIDTH, size) for name, size in shapes.items()}
        | {"narrow": draw(4 * WIDTH, WIDTH) / 2}
        for _ in range(LAYERS)
    ]
    return {"words": draw(len(VOCABULARY), WIDTH), "places": draw(LENGTH, WIDTH), "layers": layers}


if __name__ == "__main__":
    import jaxshap

    model = jax.tree_util.Partial(logits, trained())
    prompts = ["the keys near the dog", "the key near the dogs"]
    print(
        jaxshap.texts.explain_prompts(model, prompts, [" are", " are"], tokenizer=word_tokenizer())
    )
