"""Every function of worths or outputs, not estimates alone, is free of their units and offset."""

import numpy as np
import pytest

import jaxshap
from jaxshap import causal, effects, hierarchies, interactions, lime, residuals, trust

RNG = np.random.default_rng(0)
BACKGROUND = RNG.normal(size=(12, 3))
X = BACKGROUND[:2]
SLOPES = np.array([1.0, 2.0, -1.0])


def model_of(scale, offset):
    return jaxshap.host(
        lambda rows: scale * (np.tanh(rows @ SLOPES) + rows[:, 0] * rows[:, 1] + offset)
    )


def near(model):
    return lime.local_surrogate(0, model, X, BACKGROUND, num_samples=60)


def game_of(model):
    return jaxshap.marginal(model, X, BACKGROUND)


LINEAR = {  # by how they grow with the outputs
    "pdp": lambda model: effects.pdp(model, BACKGROUND, 0, grid_resolution=4).std_error,
    "ice": lambda model: effects.ice(model, BACKGROUND, 0, grid_resolution=4, centred=True).values,
    "ale": lambda model: effects.ale(model, BACKGROUND, 0, bins=3).values,
    "ale's error": lambda model: effects.ale(model, BACKGROUND, 0, bins=3).std_error,
    "lime": lambda model: near(model).coefficients,
    "lime's error": lambda model: near(model).std_error,
    "direct effect": lambda model: (
        causal.direct_effect(model, BACKGROUND, 0, at=1.0, reference=0.0).std_error
    ),
    "parts": lambda model: (
        hierarchies.top_down(0, game_of(model), hierarchies.hierarchy([[0, 1], 2])).values
    ),
    "interactions": lambda model: interactions.exact_interactions(game_of(model)).values,
    "component": lambda model: interactions.component(model, BACKGROUND, [0])(X[:, :1]),
}
CONSTANT = {
    "shares": lambda model: residuals.shares(game_of(model)),
    "sampled shares": lambda model: residuals.estimate_shares(0, game_of(model), 32).values,
    "their errors": lambda model: residuals.estimate_shares(0, game_of(model), 32).std_error,
    "lime's score": lambda model: near(model).score,
}
SQUARES = {
    "norms": lambda model: residuals.norms(game_of(model)),
    "sampled norms": lambda model: residuals.estimate_norms(0, game_of(model), 32).values,
    "edges": lambda model: residuals.edge_norms(0, game_of(model), 60, draws_per_entry=2).values,
    "posterior": lambda model: trust.bayes_shap(0, game_of(model), 8).scale,
}
POWERS = dict.fromkeys(LINEAR, 1) | dict.fromkeys(CONSTANT, 0) | dict.fromkeys(SQUARES, 2)
EVERY = LINEAR | CONSTANT | SQUARES


@pytest.mark.parametrize("name", EVERY)
def test_neither_units_nor_an_offset_change_an_answer(name):
    """1e8 in float64 has a rounding error of 1.5e-8; a power of two costs nothing."""
    plain = np.asarray(EVERY[name](model_of(1.0, 0.0)), np.float64)
    assert (plain != 0).any()
    moved = np.asarray(EVERY[name](model_of(1.0, 1e8)), np.float64)
    np.testing.assert_allclose(moved, plain, atol=1e-4 * np.abs(plain).max())
    small = model_of(2.0**-73, 0.0)  # 1e-22
    if name in SQUARES:
        with pytest.raises(jaxshap.InputError, match="do not fit into float32"):
            EVERY[name](small)
        return
    answer = np.asarray(EVERY[name](small), np.float64) * 2.0 ** (73 * POWERS[name])
    np.testing.assert_allclose(answer, plain, rtol=1e-5, atol=1e-6 * np.abs(plain).max())


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_values_that_do_not_fit_into_float32_are_refused(scale):
    game = jaxshap.make_game(jaxshap.host(lambda members: scale * members @ SLOPES), 3)
    with pytest.raises(jaxshap.InputError, match="do not fit"):
        jaxshap.estimate(0, game, jaxshap.Exact())


@pytest.mark.parametrize("scale", [0.0, 1e-30])
def test_errors_below_the_smallest_float32_are_not_0(scale):
    game = jaxshap.make_game(jaxshap.host(lambda members: scale * members @ SLOPES), 3)
    estimate = jaxshap.estimate(0, game, jaxshap.Permutation(), 14)
    assert not np.asarray(estimate.exact).any()
    assert (np.asarray(estimate.std_error) > 0).all()
    model = jaxshap.host(lambda rows: scale * rows @ SLOPES)
    explained = jaxshap.explain(
        model, X, BACKGROUND, separate_draws=True, estimator=jaxshap.Permutation(), budget=14
    )
    assert not explained.exact
    assert (explained.std_error > 0).all()
