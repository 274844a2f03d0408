"""What runs batched off the CPU gives the numbers that it gives one by one on a CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.estimators import BoostedTrees, OddGP, RegressionAdjusted
from jaxshap.games import devices

PLAYERS = 6
rng = np.random.default_rng(0)
WORTHS = np.tanh(rng.normal(size=(2**PLAYERS, 3))).astype(np.float32)
ROWS, BACKGROUND = (rng.normal(size=(k, PLAYERS)).astype(np.float32) for k in (5, 3))


@pytest.fixture
def elsewhere(monkeypatch):
    """Trace as for a GPU, with room for two items of `mapped` in a batch."""

    def trace_anew(bytes_per_item=2**40):
        jax.clear_caches()
        monkeypatch.setattr(devices, "platform", lambda: "gpu")
        monkeypatch.setattr(devices, "MAX_MAPPED_BYTES", 2 * bytes_per_item)

    yield trace_anew
    monkeypatch.undo()
    jax.clear_caches()


def test_the_default_device_says_where_a_computation_runs():
    assert devices.runs_on_cpu() == (jax.default_backend() == "cpu")
    for device in ("cpu", jax.local_devices(backend="cpu")[0]):
        with jax.default_device(device):
            assert devices.platform() == "cpu"


def test_items_are_mapped_in_batches_within_the_memory(elsewhere):
    def loops(bytes_per_item):
        program = jax.make_jaxpr(lambda x: devices.mapped(jnp.sin, x, bytes_per_item))
        scans = [step for step in program(jnp.ones(6)).eqns if step.primitive.name == "scan"]
        return [step.params["length"] for step in scans]

    assert loops(100) == [6]  # on a CPU
    elsewhere(100)
    assert loops(100) == [3]
    assert sum(loops(33)) <= 1  # all at once
    assert loops(1000) == [6]


@pytest.mark.parametrize(
    ("estimator", "budget"),
    [(OddGP(fit_each=True), 40), (RegressionAdjusted(BoostedTrees(num_trees=3)), 60)],
    ids=["length scales of each output", "boosted trees"],
)
def test_a_solve_in_batches_finds_the_same(elsewhere, estimator, budget):
    def solved():
        with jax.enable_x64(True):
            game = jaxshap.table(WORTHS.astype(np.float64))
            key = jax.random.key(0)
            return jax.jit(lambda key: jaxshap.estimate(key, game, estimator, budget)[:2])(key)

    one_by_one = solved()
    elsewhere()
    for first, second in zip(one_by_one, solved(), strict=True):
        np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("num_players", [9, 40])  # beyond 31 players sizes are drawn by chance
def test_plans_are_the_same_on_every_device(elsewhere, num_players):
    def plan(key):
        return OddGP().plan(key, num_players, 20 * num_players).coalitions

    here = jax.jit(plan)(jax.random.key(0))
    elsewhere()
    np.testing.assert_array_equal(jax.jit(plan)(jax.random.key(0)), here)


def test_rows_with_draws_of_their_own_are_the_same_together(elsewhere):
    def model(rows):
        return jnp.tanh(rows).prod(1)

    def explained():
        settings = {"estimator": jaxshap.Permutation(), "budget": 40, "separate_draws": True}
        return jaxshap.explain(model, ROWS, BACKGROUND, **settings)

    one_by_one = explained()
    elsewhere()
    together = explained()
    np.testing.assert_allclose(together.values, one_by_one.values, atol=1e-6)
    np.testing.assert_allclose(together.std_error, one_by_one.std_error, atol=1e-6)
