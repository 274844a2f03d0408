"""Marginal plots: conditional means, which credit a feature with what goes along with it."""

import matplotlib
import numpy as np
import pytest

import jaxshap
from jaxshap.effects import ale, marginal_means, pdp

matplotlib.use("Agg")


def correlated(rows=4_000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], rows)


def second(x):
    return x[:, 1]


def test_a_feature_that_the_model_ignores_gets_what_goes_along_with_it():
    """E[x1 | x0] = 0.6 x0, where partial dependence and ALE are flat. False alarm 2e-4."""
    effect = marginal_means(second, correlated(), 0, bins=10)
    z = (effect.values - 0.6 * effect.grids[0]) / effect.std_error
    assert np.abs(z).max() < 4.3
    np.testing.assert_allclose(effect.support, 0.1, atol=1e-3)
    np.testing.assert_allclose(np.ptp(pdp(second, correlated(), 0).values), 0, atol=1e-6)
    np.testing.assert_allclose(np.ptp(ale(second, correlated(), 0).values), 0, atol=1e-6)


def test_standard_errors_are_those_over_samples():
    """200 samples of 5 bins: the spread of z is off by 0.03."""
    z = []
    for seed in range(200):
        effect = marginal_means(jaxshap.host(second), correlated(300, seed), 0, bins=5)
        z.append((effect.values - 0.6 * effect.grids[0]) / effect.std_error)
    assert 0.88 < np.std(z) < 1.12


def test_categories_weights_and_outputs():
    X = np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 5.0], [7.0, 9.0]])
    model = jaxshap.host(lambda x: np.stack([x[:, 1], 2 * x[:, 1]], axis=1))
    effect = marginal_means(model, X, ["x0"], categorical=[0], weights=[3.0, 1.0, 2.0, 2.0])[0]
    assert effect.grids[0].tolist() == [0, 2, 7]
    np.testing.assert_allclose(effect.values, [[1.5, 3], [5, 10], [9, 18]])
    assert np.isnan(effect.std_error[1:]).all()  # of a single row
    np.testing.assert_allclose(effect.support, [0.5, 0.25, 0.25])
    axes = jaxshap.plots.pdp(effect, output=0)
    assert "marginal plot" in axes.get_ylabel()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"features": (0, 1)}, "single features"), ({"bins": 0}, "bins")],
)
def test_what_cannot_be_done_says_what_to_do(options, message):
    with pytest.raises(jaxshap.InputError, match=message):
        marginal_means(second, correlated(20), **({"features": 0} | options))
