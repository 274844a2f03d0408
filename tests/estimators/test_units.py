"""Results do not depend on the units of the worths, nor on an offset in their own precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import random_table

import jaxshap
from jaxshap.estimators import (
    MSR,
    Balanced,
    BoostedTrees,
    Castro,
    DistinctGains,
    Exact,
    Kernel,
    Leverage,
    OddGP,
    OddLinear,
    Owen,
    Permutation,
    ProjectedSGD,
    RegressionAdjusted,
    Scattered,
    Stratified,
    UnbiasedKernel,
    WithoutReplacement,
)

WORTHS = random_table(0, 5, 2).astype(np.float32)
POWERS = (-100, -37, 60)
BUDGETS = {
    Exact(): 32,
    Permutation(): 42,
    Balanced(): 24,
    Scattered(Balanced()): 24,
    Kernel(): 24,
    Leverage(): 24,
    OddGP(): 24,
    OddLinear(): 28,
    UnbiasedKernel(): 42,
    MSR(): 42,
    MSR(paired=False): 42,
    RegressionAdjusted(): 62,
    RegressionAdjusted(BoostedTrees(num_trees=3)): 62,
    Castro(): 62,
    DistinctGains(): 62,
    Owen(): 62,
    Stratified(): 92,
    WithoutReplacement(): 92,
    ProjectedSGD(): 42,
}
every_estimator = pytest.mark.parametrize("estimator", BUDGETS, ids=repr)
jitted = jax.jit(
    lambda worths, estimator: jaxshap.estimate(
        1, jaxshap.table(worths), estimator, BUDGETS[estimator]
    ),
    static_argnums=1,
)


def on_host(worths, estimator):
    return jaxshap.estimate(1, jaxshap.table(worths), estimator, BUDGETS[estimator])


def check_powers_of_two(run, estimator):
    """Values and errors scale bit for bit; neither vanishes nor overflows."""
    base = run(jnp.asarray(WORTHS), estimator)
    for power in POWERS:
        scaled = run(jnp.asarray(WORTHS * np.float32(2.0**power)), estimator)
        for field in ("values", "std_error"):
            expected = np.asarray(getattr(base, field)) * np.float32(2.0**power)
            np.testing.assert_array_equal(getattr(scaled, field), expected)
        np.testing.assert_array_equal(scaled.degrees, base.degrees)
        np.testing.assert_array_equal(scaled.exact, base.exact)


@every_estimator
def test_powers_of_two_scale_results_bit_for_bit_and_other_factors_to_rounding(estimator):
    check_powers_of_two(on_host, estimator)
    if "BoostedTrees" in repr(estimator):  # where rounding may move a split
        return
    base, factor = on_host(jnp.asarray(WORTHS), estimator), np.float32(0.7e-22)
    scaled = on_host(jnp.asarray(WORTHS * factor), estimator)
    for field in ("values", "std_error"):
        expected = np.asarray(getattr(base, field), np.float64) * factor
        np.testing.assert_allclose(getattr(scaled, field), expected, rtol=1e-4, atol=3e-28)


@pytest.mark.parametrize("estimator", [Permutation(), Kernel(), MSR(), Balanced()], ids=repr)
def test_powers_of_two_scale_results_bit_for_bit_under_jit(estimator):
    check_powers_of_two(jitted, estimator)


@pytest.mark.parametrize("scale", [1e-22, 1.0, 1e19])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_offsets_of_a_host_model_cost_no_more_than_their_rounding_in_float64(scale, offset):
    """1e8 in float64 has a rounding error of 1.5e-8; in float32 it would be 8."""
    rows = np.random.default_rng(0).normal(size=(6, 5))

    def explained(scale, offset):
        def model(x):
            return scale * (np.tanh(x @ np.arange(5.0)) + x[:, 0] * x[:, 1] + offset)

        options = {"estimator": Kernel(), "budget": 24, "progress": False}
        return jaxshap.explain(jaxshap.host(model), rows[:2], rows[2:], **options)

    plain, moved = explained(1.0, 0.0), explained(scale, offset)
    np.testing.assert_allclose(moved.values / scale, plain.values, atol=2e-7)
    np.testing.assert_allclose(moved.std_error / scale, plain.std_error, atol=2e-7)
    np.testing.assert_allclose(moved.base_values / scale - offset, plain.base_values, atol=2e-7)
