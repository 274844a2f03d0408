"""What must not change an answer: player order, duplicated rows, batches, threads, precision.

Units are in tests/estimators/test_units.py, devices in tests/engine/test_devices.py.
"""

import concurrent.futures

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import jaxshap

RNG = np.random.default_rng(3)
X, BACKGROUND = (RNG.normal(size=(rows, 5)).astype(np.float32) for rows in (3, 4))
SLOPES = np.array([1.0, -0.6, 0.3, 0.8, -1.1], np.float32)
SAMPLED = {
    jaxshap.OddGP(): 24,
    jaxshap.Kernel(): 24,
    jaxshap.Permutation(): 42,
    jaxshap.Scattered(): 16,
}
EVERY = SAMPLED | {jaxshap.Exact(): 32}
every_estimator = pytest.mark.parametrize("estimator", EVERY, ids=repr)
ROUNDING = 64 * np.finfo(np.float32).eps


def model(rows):
    """Without symmetry, and with interactions of all orders."""
    slopes = SLOPES.astype(rows.dtype)
    return jnp.tanh(rows @ slopes) + rows[:, 0] * rows[:, 1] * jnp.where(rows[:, 2] > 0, 1, 0)


def reordered(rows):
    """The model of rows whose columns stand in reverse."""
    return model(rows[:, ::-1])


def explained(estimator, X=X, background=BACKGROUND, model=model, **options):
    budget = EVERY[estimator]
    return jaxshap.explain(model, X, background, estimator=estimator, budget=budget, **options)


def same(first, second, rounding=0.0):
    for field in ("values", "std_error"):
        arrays = getattr(first, field), getattr(second, field)
        np.testing.assert_allclose(*arrays, rtol=0, atol=rounding)
    assert first.exact == second.exact
    np.testing.assert_allclose(first.degrees, second.degrees, rtol=rounding)


def test_exact_values_follow_the_order_of_the_players():
    moved = explained(jaxshap.Exact(), X[:, ::-1], BACKGROUND[:, ::-1], reordered)
    plain = explained(jaxshap.Exact())
    np.testing.assert_allclose(moved.values[:, ::-1], plain.values, atol=ROUNDING)
    assert (np.ptp(plain.values, axis=1) > 0.1).all()  # or any order would do


@pytest.mark.parametrize("estimator", SAMPLED, ids=repr)
def test_sampled_values_follow_the_order_of_the_players_within_their_errors(estimator):
    """Other coalitions are drawn for the players in another order; 15 differences within 6 of their
    own errors and coverage of the truth alike.
    """
    moved = explained(estimator, X[:, ::-1], BACKGROUND[:, ::-1], reordered)[:, ::-1]
    plain, truth = explained(estimator), explained(jaxshap.Exact())
    spread = np.hypot(moved.std_error, plain.std_error)
    assert (np.abs(moved.values - plain.values) < 6 * spread + ROUNDING).all()
    for one in (moved, plain):
        assert (np.abs(one.values - truth.values) < 6 * one.std_error + ROUNDING).all()


@every_estimator
def test_a_row_that_stands_there_twice_gets_the_same_twice_and_moves_no_other(estimator):
    alone, twice = explained(estimator), explained(estimator, X[[0, 1, 1, 2]])
    for field in ("values", "std_error"):
        array = getattr(twice, field)
        np.testing.assert_array_equal(array[1], array[2])
        if not isinstance(estimator, jaxshap.OddGP):  # whose rows may share length scales
            np.testing.assert_allclose(array[[0, 1, 3]], getattr(alone, field), atol=ROUNDING)


def test_a_background_that_is_there_twice_is_the_same_background():
    plain = explained(jaxshap.Exact())
    twice = explained(jaxshap.Exact(), background=np.tile(BACKGROUND, (2, 1)))
    same(plain, twice, ROUNDING)
    shared = explained(jaxshap.Kernel(), background=np.tile(BACKGROUND, (2, 1)))
    same(explained(jaxshap.Kernel()), shared, ROUNDING)


@every_estimator
def test_batches_change_nothing_beyond_rounding(estimator):
    runs = [explained(estimator, batch_size=batch_size) for batch_size in ("auto", 1, 7)]
    for run in runs[1:]:
        same(run, runs[0], 8 * ROUNDING)


def test_explanations_in_threads_are_those_of_one_thread():
    """Four at a time, and with another number of BLAS threads: bit for bit."""
    estimators = [*EVERY] * 2
    alone = [explained(estimator) for estimator in EVERY] * 2
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(explained, estimators))
    for first, second in zip(alone, together, strict=True):
        same(first, second)
    with threadpool_limits(2, "blas"):
        same(explained(jaxshap.OddGP()), alone[0])


@every_estimator
def test_float64_changes_nothing_beyond_the_rounding_of_float32(estimator):
    single = explained(estimator)
    with jax.enable_x64(True):
        wide = [array.astype(np.float64) for array in (X, BACKGROUND)]
        double = explained(estimator, *wide)
    assert single.values.dtype == np.float32
    assert double.values.dtype == np.float64
    same(single, double, 1e-4)
