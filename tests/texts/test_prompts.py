"""Prompts as players: log-probabilities of continuations, exactly as by definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from small_models import VOCABULARY, Fast, by_orderings, causal, parameters, wordpieces

import jaxshap
from jaxshap import texts
from jaxshap.errors import InputError, InputTypeError, ModelOutputError
from jaxshap.texts.continuations import log_probabilities

WEIGHTS = parameters(1)
PROMPT, CONTINUATION = "not so bad, a", " unkind day"
WORDS = {0: [5], 1: [6], 2: [7, 11], 3: [8]}  # by hand: the tokens of each word
CONTINUED = [12, 13, 10]


def model(weights, ids, mask):
    del mask  # padding stands behind everything that is asked about
    return causal(weights, ids)


MODEL = jax.tree_util.Partial(model, WEIGHTS)


def by_hand(prompt):
    """log p of each token of the continuation in float64, one token after the other."""
    ids = np.array([[*prompt, *CONTINUED]])
    logits = np.asarray(MODEL(ids, None), float)[0]
    logs = logits - scipy.special.logsumexp(logits, axis=1, keepdims=True)
    return np.array([logs[len(prompt) - 1 + i, token] for i, token in enumerate(CONTINUED)])


def removed(players):
    return by_hand([1, *(t for word, tokens in WORDS.items() if word in players for t in tokens)])


def masked(players):
    words = WORDS.items()
    return by_hand([1, *(t if word in players else 3 for word, tokens in words for t in tokens)])


def explain(prompts=(PROMPT,), continuations=(CONTINUATION,), given=MODEL, **options):
    options = {"tokenizer": wordpieces()} | options
    return texts.explain_prompts(given, list(prompts), list(continuations), **options)


@pytest.mark.parametrize(("absent", "worth"), [(None, removed), (texts.MaskToken(), masked)])
def test_values_are_those_of_the_definition_per_token_and_in_total(absent, worth):
    (each,) = explain(absent=absent, per_token=True)
    assert each.output_names == ("un", "kind", "day")
    assert each.feature_names == ("not", "so", "bad,", "a")
    np.testing.assert_allclose(each.values[0], by_orderings(worth, 4), atol=1e-5)
    np.testing.assert_allclose(each.base_values[0], worth(frozenset()), atol=1e-5)
    (total,) = explain(absent=absent)
    assert total.values.shape == (1, 4)
    np.testing.assert_allclose(total.values, each.values.sum(-1), atol=1e-5)
    assert "log-probability of ' unkind day'" in repr(total)


def test_tokens_that_are_embedded_elsewhere_are_absent_too():
    embed = jax.tree_util.Partial(lambda table, ids: table[ids], WEIGHTS["table"])
    mask_vector = WEIGHTS["table"][3]

    def of_vectors(vectors, mask):
        del mask
        weights = WEIGHTS | {"table": vectors.reshape(-1, vectors.shape[-1])}
        return causal(weights, jnp.arange(vectors[..., 0].size).reshape(vectors.shape[:2]))

    (embedded,) = explain(given=of_vectors, absent=texts.Embedded(embed, mask_vector))
    (replaced,) = explain(absent=texts.MaskToken())
    np.testing.assert_allclose(embedded.values, replaced.values, atol=1e-5)


def test_parts_of_a_prompt_stand_together_in_larger_ones():
    (one,) = explain(("so bad. a good",), within=texts.sentences)
    assert one.kind == "Owen value"


def test_prompts_and_continuations_of_different_lengths_are_explained_together():
    prompts = [PROMPT, "so good", "the end . a good , good , bad day"]
    continuations = [CONTINUATION, " .", " a a a a a"]
    exactly = {"budget": 2**10}  # the longest prompt has ten players
    together = explain(prompts, continuations, **exactly)
    for pair, one in zip(zip(prompts, continuations, strict=True), together, strict=True):
        (alone,) = explain(*([part] for part in pair), tokenizer=Fast(wordpieces()), **exactly)
        np.testing.assert_allclose(one.values, alone.values, atol=1e-5)


def test_a_prompt_of_one_word_among_others_gets_everything_exactly():
    one = explain(["so", PROMPT], [CONTINUATION] * 2)[0]
    whole = by_hand([1, 6]).sum() - by_hand([1]).sum()
    np.testing.assert_allclose(one.values, [[whole]], atol=1e-5)
    assert one.exact


def test_no_prompt_is_scored_twice_and_the_host_gets_batches():
    seen, calls = [], []

    def host(ids, mask):
        calls.append(len(ids))
        seen.extend(tuple(row[kept > 0].tolist()) for row, kept in zip(ids, mask, strict=True))
        return np.asarray(MODEL(ids, mask))

    prompts = [PROMPT, "not so a", "so bad, not so bad, a good day"]  # of two lengths
    explained = explain(prompts, [CONTINUATION] * 3, jaxshap.host(host))
    assert len(seen) == len(set(seen))
    assert len(seen) < sum(one.num_evaluations for one in explained)
    assert max(calls) > 8
    (device,) = explain()
    np.testing.assert_allclose(explained[0].values, device.values, atol=1e-5)


def test_half_precision_is_normalised_in_float32():
    rng = np.random.default_rng(0)
    logits = jnp.asarray(40 + rng.normal(size=(2, 5, 3000)), jnp.bfloat16)
    ids, places = rng.integers(3000, size=(2, 5)), np.array([[1, 2], [3, 4]])
    found = log_probabilities(logits, jnp.asarray(ids), jnp.asarray(places))
    assert found.dtype == jnp.float32
    exact = np.asarray(logits, float)
    exact = exact - scipy.special.logsumexp(exact, axis=2, keepdims=True)
    wanted = [[exact[r, p - 1, ids[r, p]] for p in places[r]] for r in range(2)]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_special_tokens_at_the_end_are_not_scored_and_a_start_token_is_put_in_front():
    plain = wordpieces(special=False)
    (started,) = explain(tokenizer=plain, start_token=1)
    (special,) = explain()
    np.testing.assert_array_equal(started.values, special.values)


def never(*_):
    raise AssertionError("the model was asked")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("kind", "message", "prompts", "continuations", "options"),
    [
        (InputError, r"prompts\[1\] is empty", ["so bad", " "], [" a", " a"], {}),
        (InputError, "there are no prompts", [], [], {}),
        (InputTypeError, "pass prompts as a list", "so bad", [" a"], {}),
        (InputError, "1 continuations of 2 prompts", ["so bad", "so a"], [" a"], {}),
        (InputError, r"continuations\[0\] is empty", ["so bad"], [""], {}),
        (InputError, r"no tokens of continuations\[0\]", ["so bad"], ["  "], {}),
        (InputError, r"holds the beginning of continuations\[0\]", ["so ba"], ["d"], {}),
        (InputError, r"prompts\[0\] has a single player", ["so"], [" bad"], {}),
        (InputError, r"has 4 tokens.*max_length=3", ["so bad"], [" a"], {"max_length": 3}),
        (InputError, "is not for prompts", ["so bad"], [" a"], {"absent": texts.Hidden()}),
    ],
)
def test_what_cannot_be_explained_is_refused_before_the_model_is_asked(
    kind, message, prompts, continuations, options
):
    with pytest.raises(kind, match=message):
        texts.explain_prompts(never, prompts, continuations, tokenizer=wordpieces(), **options)


def test_tokenisers_that_lack_a_token_are_refused_before_the_model_is_asked():
    with pytest.raises(InputError, match="start_token="):
        explain(given=never, tokenizer=wordpieces(special=False))
    with pytest.raises(InputError, match="no mask token"):
        explain(given=never, tokenizer=wordpieces(mask=False), absent=texts.MaskToken())


def test_models_that_return_no_logits_of_every_token_are_refused():
    with pytest.raises(ModelOutputError, match="return logits"):
        explain(given=lambda ids, mask: jnp.ones((len(ids), len(VOCABULARY))))
    with pytest.raises(ModelOutputError, match="NaN or infinity"):
        explain(given=lambda ids, mask: jnp.ones((*ids.shape, 10)))  # too small a vocabulary
