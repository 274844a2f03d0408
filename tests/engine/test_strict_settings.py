"""Estimates under the settings that find mistakes: no hidden copies between host and device, no NaN
that nobody asked for, and JAX's own checks.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from device_programs import ESTIMATORS_ON_DEVICE, PLAYERS, budget_of

import jaxshap
from jaxshap.estimators import Permutation, ProjectedSGD, Scattered

rng = np.random.default_rng(0)
ROWS, BACKGROUND = (rng.normal(size=(k, PLAYERS)).astype(np.float32) for k in (2, 3))
WEIGHTS = rng.normal(size=PLAYERS).astype(np.float32)


def network(weights, rows):
    return jnp.tanh(rows @ weights)


GAME = jaxshap.marginal(jax.tree_util.Partial(network, WEIGHTS), ROWS, BACKGROUND)


@pytest.mark.parametrize("estimator", ESTIMATORS_ON_DEVICE, ids=repr)
def test_every_estimate_passes_the_strictest_settings_of_jax(estimator):
    budget = np.int64(budget_of(estimator))
    with jax.transfer_guard("disallow"), jax.debug_nans(True), jax.enable_checks(True):
        found = jaxshap.estimate(0, GAME, estimator, budget)
    assert np.isfinite(found.values).all()
    assert not (found.std_error < 0).any()


@pytest.mark.parametrize("key", [np.int64(2**40), jax.random.key(1), jax.random.PRNGKey(2)])
def test_keys_and_budgets_are_copied_to_the_device_on_purpose(key):
    with jax.transfer_guard("disallow"):
        jaxshap.estimate(key, GAME, Permutation(), 26)
        jaxshap.estimate(key, GAME, Scattered(Permutation()))
        jaxshap.shapley_values(GAME)


@pytest.mark.parametrize("estimator", [Permutation(), ProjectedSGD()], ids=repr)
def test_an_unknown_error_is_nan_where_it_is_returned_and_nowhere_before(estimator):
    with jax.debug_nans(True):
        found = jaxshap.estimate(0, GAME, estimator, 2 * PLAYERS)  # an ordering and its reverse
    assert np.isnan(found.std_error).all()
    assert not found.exact.any()


def test_a_model_that_returns_nan_is_found_by_debug_nans():
    def broken(coalition):
        return jnp.log(coalition.sum().astype(np.float32) - 2.5)

    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        jaxshap.estimate(0, jaxshap.make_game(broken, PLAYERS), Permutation(), 26)


def test_models_on_the_host_pass_the_transfer_guard_too():
    def on_host(rows):
        return np.tanh(np.asarray(rows) @ WEIGHTS)

    with jax.transfer_guard("disallow"):
        game = jaxshap.marginal(jaxshap.host(on_host), ROWS, BACKGROUND)
        jaxshap.estimate(0, game, Permutation(), 26)
        found = jaxshap.explain(on_host, ROWS, BACKGROUND, budget=26)
    assert np.isfinite(found.values).all()
