"""A causal transformer trained in the example: the noun that decides the verb has the credit."""

import importlib.util
import pathlib

import jax
import numpy as np
import pytest

from jaxshap import texts

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "agreement.py"


@pytest.fixture(scope="module")
def explained():
    pytest.importorskip("tokenizers")
    spec = importlib.util.spec_from_file_location("agreement", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to an integer's power
        weights = example.trained()
    model = jax.tree_util.Partial(example.logits, weights)
    prompts = ["the keys near the dog"] * 2 + ["the key near the dogs"] * 2
    verbs = [" are", " is"] * 2
    return texts.explain_prompts(model, prompts, verbs, tokenizer=example.word_tokenizer())


def test_the_network_has_learnt_to_agree_with_the_first_noun(explained):
    probable = [float(np.exp(one.base_values + one.values.sum(1))[0]) for one in explained]
    np.testing.assert_allclose(probable, [1, 0, 0, 1], atol=0.05)


def test_the_first_noun_decides_between_the_verbs(explained):
    plural = explained[0].values - explained[1].values  # of log p(are) − log p(is)
    singular = explained[2].values - explained[3].values
    assert plural.argmax() == singular.argmin() == 1
