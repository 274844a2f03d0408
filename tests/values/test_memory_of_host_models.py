"""A host model owns the memory it gets: it may write to it, and to that of its last answer."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 4)) for count in (3, 40))
WEIGHTS = np.array([1.0, -2.0, 3.0, 0.5])


def pure(rows):
    return np.tanh(rows @ WEIGHTS) + rows[:, 0] * rows[:, 2]


class Spoiler:
    """Computes the same, spoils what it was given, and answers in one piece of memory."""

    def __init__(self, *callers):
        self.callers, self.memory, self.last = callers, np.zeros(2**16), None

    def __call__(self, rows):
        assert rows.flags.writeable
        assert not any(np.shares_memory(rows, array) for array in self.callers)
        assert self.last is None or not np.shares_memory(rows, self.last)
        self.memory[:] = np.nan
        self.memory[: len(rows)] = pure(rows)
        self.last = rows
        rows[:] = np.nan
        return self.memory[: len(rows)]


def explained(model, X, background, **options):
    options = {"progress": False} | options
    return jaxshap.explain(jaxshap.host(model), X, background, **options).values


CALLS = {
    "explain": explained,
    "unmarked": lambda model, X, b: jaxshap.explain(model, X, b, progress=False).values,
    "one reference": lambda model, X, b: explained(model, X, b[:1]),
    "groups": lambda model, X, b: explained(model, X, b, groups=[[0, 1]]),
    "players": lambda model, X, b: explained(model, X, b, groups=jaxshap.tokens(4)),
    "a part stays": lambda model, X, b: explained(
        model, X, b, groups=jaxshap.segments([-1, 0, 1, 2])
    ),
    "strata": lambda model, X, b: explained(model, X, b, estimator=jaxshap.Scattered(), budget=12),
    "separate draws": lambda model, X, b: explained(
        model, X, b, separate_draws=True, estimator=jaxshap.Kernel(), budget=12
    ),
    "baseline": lambda model, X, b: explained(model, X, b[:1], value=jaxshap.baseline),
    "conditional": lambda model, X, b: explained(model, X, b, value=jaxshap.conditional),
    "manifold": lambda model, X, b: explained(model, X, b, value=jaxshap.manifold),
    "pdp": lambda model, X, b: jaxshap.effects.pdp(jaxshap.host(model), b, 0).values,
    "ice": lambda model, X, b: jaxshap.effects.ice(jaxshap.host(model), b, 1).values,
    "ale": lambda model, X, b: jaxshap.effects.ale(jaxshap.host(model), b, 2, bins=4).values,
    "lime": lambda model, X, b: (
        jaxshap.lime.local_surrogate(0, jaxshap.host(model), X, b, num_samples=50).coefficients
    ),
    "component": lambda model, X, b: jaxshap.interactions.component(jaxshap.host(model), b, [0, 2])(
        X[:, [0, 2]]
    ),
    "direct effect": lambda model, X, b: (
        jaxshap.causal.direct_effect(jaxshap.host(model), b, 0, at=1.0, reference=0.0).values
    ),
    "fair predictor": lambda model, X, b: jaxshap.causal.fair_predictor(
        jaxshap.host(model), b, [1]
    )(X),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_model_that_spoils_its_memory_changes_nothing(call):
    rows, background = ROWS.copy(), BACKGROUND.copy()
    spoiled = CALLS[call](Spoiler(rows, background), rows, background)
    np.testing.assert_array_equal(rows, ROWS)
    np.testing.assert_array_equal(background, BACKGROUND)
    np.testing.assert_array_equal(spoiled, CALLS[call](pure, ROWS, BACKGROUND))
    assert np.isfinite(np.asarray(spoiled)).all()


def test_a_game_may_spoil_its_coalitions():
    def worths(coalitions):
        answer = coalitions @ WEIGHTS
        coalitions[:] = True
        return answer

    game = jaxshap.make_game(jaxshap.host(worths), 4)
    np.testing.assert_allclose(jaxshap.shapley_values(game), WEIGHTS, rtol=1e-6)
    estimate = jaxshap.estimate(0, game, jaxshap.Permutation(), 20)
    np.testing.assert_allclose(estimate.values, WEIGHTS, rtol=1e-6)


def test_a_pipeline_that_scales_in_place_is_explained_right():
    target = BACKGROUND @ WEIGHTS
    fitted = {
        copies: make_pipeline(StandardScaler(copy=copies), LinearRegression()).fit(
            BACKGROUND.copy(), target
        )
        for copies in (True, False)
    }
    rows, background = ROWS.copy(), BACKGROUND.copy()
    for model in (fitted[False], fitted[False].predict):
        explanation = jaxshap.explain(model, rows, background)
        expected = (ROWS - BACKGROUND.mean(0)) * WEIGHTS
        np.testing.assert_allclose(explanation.values, expected, atol=1e-5)
        np.testing.assert_array_equal(rows, ROWS)
        np.testing.assert_array_equal(background, BACKGROUND)
