"""Projected SGD: its projections, schedules and variants."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from known_games import brute_force_shapley, random_table

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.estimators import ConstantStep, InverseStep, ProjectedSGD, RootStep
from jaxshap.estimators.projections import project, project_dykstra

GAME = jaxshap.table(jnp.asarray(random_table(5, 6), jnp.float32))
TRUTH = brute_force_shapley(random_table(5, 6))
estimate = jax.jit(jaxshap.estimate, static_argnums=(2, 3))


@pytest.mark.parametrize(("total", "radius"), [(0.0, 1.0), (1.5, 1.0), (-2.0, 3.0), (0.3, 100.0)])
def test_dykstra_and_the_closed_form_agree_and_nothing_feasible_is_nearer(total, radius):
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        values = jnp.asarray(3 * rng.normal(size=7))
        point = project(values, jnp.asarray(total), jnp.asarray(radius))
        np.testing.assert_allclose(point.sum(), total, atol=1e-12)
        assert jnp.linalg.norm(point) <= radius + 1e-12
        dykstra = project_dykstra(values, jnp.asarray(total), jnp.asarray(radius), 2000)
        np.testing.assert_allclose(dykstra, point, atol=1e-9)
        of_random = jax.vmap(lambda v: project(v, jnp.asarray(total), jnp.asarray(radius)))
        feasible = of_random(jnp.asarray(rng.normal(size=(200, 7))))
        distances = jnp.linalg.norm(feasible - values, axis=1)
        assert (distances >= jnp.linalg.norm(point - values) - 1e-12).all()


@pytest.mark.parametrize(
    "estimator",
    [
        ProjectedSGD(ConstantStep(0.005)),
        ProjectedSGD(RootStep(0.1)),
        ProjectedSGD(InverseStep()),
        ProjectedSGD(InverseStep(), importance=False),
        ProjectedSGD(InverseStep(), batch=8),
        ProjectedSGD(RootStep(0.02), optimiser=functools.partial(optax.sgd, momentum=0.9)),
        ProjectedSGD(InverseStep(), radius=5.0, bound=4.0),
    ],
    ids=str,
)
def test_every_variant_approaches_the_values(estimator):
    """20,000 steps leave less than a tenth of the distance from the equal split to the values."""
    values = np.asarray(estimate(jax.random.key(0), GAME, estimator, 20_002).values)
    assert np.linalg.norm(values - TRUTH) < 0.1 * np.linalg.norm(TRUTH - TRUTH.mean())
    np.testing.assert_allclose(values.sum(), TRUTH.sum(), atol=1e-4)


def test_any_optimiser_of_optax_will_do():
    """Adam normalises gradients, so its average is only near: within a quarter of the distance."""
    with jax.numpy_dtype_promotion("standard"):  # optax itself mixes integers and floats
        estimator = ProjectedSGD(RootStep(0.1), optimiser=optax.adam)
        values = np.asarray(estimate(jax.random.key(0), GAME, estimator, 20_002).values)
    assert np.linalg.norm(values - TRUTH) < 0.25 * np.linalg.norm(TRUTH - TRUTH.mean())


def test_dykstra_can_take_the_place_of_the_closed_form():
    closed, dykstra = (
        estimate(
            jax.random.key(1),
            GAME,
            ProjectedSGD(RootStep(0.3), radius=0.8, bound=3.0, projection=projection),
            202,
        ).values
        for projection in (project, project_dykstra)
    )
    np.testing.assert_allclose(closed, dykstra, atol=1e-3)
    assert jnp.linalg.norm(closed) <= 0.8 + 1e-5
    assert np.linalg.norm(TRUTH) > 0.8  # the ball holds, though the true values lie outside


def test_the_last_of_the_iterates_is_the_estimate():
    estimator = ProjectedSGD(InverseStep())
    plan = estimator.plan(jax.random.key(2), 6, 66)
    worths = jaxshap.evaluate(GAME, plan.coalitions)
    iterates = estimator.iterates(plan, worths, GAME.empty, GAME.full)
    assert iterates.shape == (64, 6)
    values = estimator.solve(plan, worths, GAME.empty, GAME.full).values
    np.testing.assert_allclose(iterates[-1], values, atol=1e-6)


def test_averages_weigh_iterates_as_the_theory_says():
    counts = jnp.arange(1, 6)
    for schedule, weights in (
        (RootStep(), np.ones(5)),
        (InverseStep(), np.arange(1.0, 6.0)),
    ):
        mean, iterates = 0.0, np.array([3.0, -1.0, 4.0, 1.0, -5.0])
        for share, iterate in zip(np.asarray(schedule.average(counts)), iterates, strict=True):
            mean = mean + share * (iterate - mean)
        np.testing.assert_allclose(mean, (weights * iterates).sum() / weights.sum(), rtol=1e-6)


@pytest.mark.parametrize(("num_players", "importance"), [(300, True), (300, False), (2000, False)])
def test_large_games_are_planned_with_weights_that_stay_finite(num_players, importance):
    """Also for sizes so unlikely that their chance underflows."""
    estimator = ProjectedSGD(importance=importance)
    plan, _ = make_plan(jax.random.key(0), num_players, estimator, 500)
    assert np.isfinite(plan.detail).all()
    assert (np.asarray(plan.coalitions).sum(1) > 0).all()


@pytest.mark.parametrize(("field", "number"), [("radius", -1.0), ("bound", -1.0), ("batch", -1)])
def test_numbers_that_must_be_positive_are_refused(field, number):
    with pytest.raises(ValueError, match=f"{field}={number}: pass a"):
        ProjectedSGD(**{field: number})


def test_a_root_step_that_climbs_is_refused():
    with pytest.raises(ValueError, match="pass a number above 0"):
        estimate(jax.random.key(0), GAME, ProjectedSGD(RootStep(-0.1)), 20)
