"""The same numbers from shap on exact fixtures."""

import jax.numpy as jnp
import numpy as np
import pytest
import shap
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 6)).astype(np.float32) for count in (7, 23))
LAYER, OUT = (RNG.normal(size=shape).astype(np.float32) for shape in ((6, 8), (8, 3)))


def network(x):
    return jnp.tanh(x @ LAYER) @ OUT


def first_output(x):
    return network(x)[:, 0]


def by_shap(model, background):
    """shap's exact explainer with every background row."""
    masker = shap.maskers.Independent(background, max_samples=len(background))
    return shap.ExactExplainer(lambda x: np.asarray(model(np.float32(x))), masker)(ROWS)


@pytest.mark.parametrize(
    "references", [BACKGROUND[:1], BACKGROUND], ids=["one reference", "background"]
)
@pytest.mark.parametrize("model", [first_output, network])
def test_values_agree_with_shap_to_a_ten_thousandth(model, references):
    theirs = by_shap(model, references)
    ours = jaxshap.explain(model, ROWS, references)
    assert ours.values.shape == theirs.values.shape
    scale = np.abs(theirs.values).max()
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_array_equal(ours.std_error, 0)


def test_the_baseline_game_is_shap_with_one_reference():
    theirs = by_shap(network, BACKGROUND[:1])
    values = jaxshap.shapley_values(jaxshap.baseline(network, ROWS, BACKGROUND[0]))
    np.testing.assert_allclose(
        np.moveaxis(np.asarray(values), 0, 1), theirs.values, rtol=1e-4, atol=1e-5
    )


def test_a_forest_agrees_with_shap():
    X, y = make_regression(80, 6, noise=1.0, random_state=0)
    forest = RandomForestRegressor(5, max_depth=5, random_state=0).fit(X, y)
    masker = shap.maskers.Independent(X[:20], max_samples=20)
    theirs = shap.ExactExplainer(forest.predict, masker)(X[20:24])
    ours = jaxshap.explain(forest, X[20:24], X[:20])
    np.testing.assert_allclose(
        ours.values, theirs.values, rtol=1e-4, atol=1e-4 * np.abs(theirs.values).max()
    )


def test_sampling_agrees_with_shap_within_its_own_errors():
    """84 z-scores of a jackknife over a few dozen pairs, |z| < 6."""
    theirs = by_shap(network, BACKGROUND)
    ours = jaxshap.explain(network, ROWS, BACKGROUND, estimator=jaxshap.Kernel(), budget=48, key=1)
    assert (ours.std_error > 0).all()
    assert (np.abs(ours.values - theirs.values) <= 6 * ours.std_error).all()
