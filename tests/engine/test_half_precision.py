"""Models in half precision: worths are widened where they leave the model."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.values import Copula

rng = np.random.default_rng(0)
ROWS, BACKGROUND = (rng.normal(size=(count, 5)).astype(np.float32) for count in (2, 300))
SLOPES = rng.normal(size=5).astype(np.float32)
half = pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
LEVERAGE = jaxshap.Leverage()


def narrow(dtype, offset=0.0):
    """A model whose parameters, inputs and outputs are in half precision."""
    slopes = jnp.asarray(SLOPES, dtype)

    def model(rows):
        assert rows.dtype == dtype
        return (rows * slopes).sum(1) + jnp.asarray(offset, dtype)

    return model


def halves(dtype):
    return jnp.asarray(ROWS, dtype), jnp.asarray(BACKGROUND, dtype)


@half
@pytest.mark.parametrize("value", [jaxshap.marginal, jaxshap.conditional, jaxshap.manifold])
def test_worths_and_estimates_are_float32_in_and_outside_of_jit(dtype, value):
    def estimate(rows, background):
        game = value(narrow(dtype), rows, background)
        return (*jaxshap.estimate(0, game, LEVERAGE, 20)[:2], game.empty, game.full)

    rows, background = halves(dtype)[0], halves(dtype)[1][:40]
    for found in (estimate(rows, background), jax.jit(estimate)(rows, background)):
        assert all(part.dtype == np.float32 for part in found)
        assert all(np.isfinite(part).all() for part in found)


@half
def test_explanations_and_their_files_are_float32(dtype, tmp_path):
    explanation = jaxshap.explain(narrow(dtype), *halves(dtype), estimator=LEVERAGE, budget=20)
    explanation.save(tmp_path / "one.npz")
    for one in (explanation, jaxshap.load(tmp_path / "one.npz")):
        parts = (one.values, one.std_error, one.base_values, one.data)
        assert all(np.asarray(part).dtype == np.float32 for part in parts)
    np.testing.assert_allclose(explanation.data, ROWS, rtol=1e-2)


@half
def test_games_of_functions_and_tables_are_widened(dtype):
    weights = jnp.arange(4, dtype=dtype)
    game = jaxshap.make_game(lambda s: jnp.where(s, weights, 0).sum(), 4)
    found = jax.jit(lambda key: jaxshap.estimate(key, game, LEVERAGE, 12))(jax.random.key(0))
    assert game.empty.dtype == found.values.dtype == np.float32
    np.testing.assert_allclose(found.values, np.arange(4), atol=1e-5)
    assert jaxshap.shapley_values(jaxshap.table(jnp.arange(8, dtype=dtype))).dtype == np.float32


@half
def test_host_models_work_with_every_value_function(dtype):
    model = jaxshap.host(lambda rows: (rows.astype(np.float32) @ SLOPES).astype(dtype))
    rows, background = (np.asarray(part) for part in halves(dtype))
    for value, options in ((jaxshap.marginal, {}), (jaxshap.conditional, {"how": Copula()})):
        game = value(model, rows, background[:40], **options)
        found = jaxshap.estimate(0, game, LEVERAGE, 12)
        assert game.full.dtype == found.values.dtype == np.float32


@half
def test_effects_surrogates_interactions_and_rewards_are_float32(dtype):
    rows, background = halves(dtype)
    model = narrow(dtype)
    assert jaxshap.effects.pdp(model, background, 0, grid_resolution=3).values.dtype == np.float32
    assert jaxshap.effects.ale(model, background, 0, bins=3).values.dtype == np.float32
    reward = jaxshap.rewards.reward(jaxshap.marginal(model, rows, background), jnp.tanh)
    assert jaxshap.shapley_values(reward).dtype == np.float32
    lines = jaxshap.lime.local_surrogate(0, model, rows, background)
    assert lines.coefficients.dtype == lines.std_error.dtype == np.float32
    game = jaxshap.marginal(model, rows, background)
    assert jaxshap.interactions.exact_interactions(game).values.dtype == np.float32


def test_an_offset_moves_nothing_beyond_the_rounding_of_the_model():
    """bfloat16 near 30 is a multiple of 1/8, so each output is off by at most 1/16."""
    rows, background = halves(jnp.bfloat16)
    plain, moved = (
        jaxshap.shapley_values(jaxshap.marginal(narrow(jnp.bfloat16, by), rows, background))
        for by in (0.0, 30.0)
    )
    assert np.abs(np.asarray(plain) - np.asarray(moved)).max() < 1 / 16


def test_tokens_stay_integers():
    table = jnp.asarray(rng.normal(size=10), jnp.bfloat16)

    def model(tokens):
        assert jnp.issubdtype(tokens.dtype, jnp.integer)
        return table[tokens].sum(1)

    rows = np.array([[1, 2, 3], [4, 5, 6]])
    explanation = jaxshap.explain(model, rows, rows[:1] * 0, groups=jaxshap.tokens(3))
    assert explanation.values.dtype == np.float32
    assert np.issubdtype(explanation.data.dtype, np.integer)
