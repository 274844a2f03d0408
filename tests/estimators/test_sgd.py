"""Projected SGD: its projections, schedules and variants."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from known_games import brute_force_shapley, random_table

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.estimators import (
    ConstantStep,
    InverseStep,
    ProjectedSGD,
    RootStep,
    dykstra,
    project,
    project_dykstra,
)

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
        nearest = dykstra(values, jnp.asarray(total), jnp.asarray(radius), tolerance=1e-11)
        assert nearest.converged
        np.testing.assert_allclose(nearest.values, point, atol=1e-9)
        of_random = jax.vmap(lambda v: project(v, jnp.asarray(total), jnp.asarray(radius)))
        feasible = of_random(jnp.asarray(rng.normal(size=(200, 7))))
        distances = jnp.linalg.norm(feasible - values, axis=1)
        assert (distances >= jnp.linalg.norm(point - values) - 1e-12).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dykstra_says_whether_it_has_converged_and_no_point_outside_the_ball_goes_unnoticed(dtype):
    """Totals up to the tangent, √7 times the radius, and beyond. What has converged is in the ball
    to within the tolerance; near the tangent, and beyond it, nothing has.
    """
    with jax.enable_x64(True):
        values = jnp.asarray(3 * np.random.default_rng(0).normal(size=7), dtype)
        radius, tangent = jnp.asarray(1.0, dtype), math.sqrt(7)
        run = jax.jit(
            lambda total: (dykstra(values, total, radius), project(values, total, radius))
        )
        for share in (0.0, 0.5, 0.9, 0.999, 1 - 1e-6, 1.001, 1.35, 5.0):
            total = jnp.asarray(share * tangent, dtype)
            nearest, exact = run(total)
            assert nearest.num_rounds <= 1000
            assert bool(jnp.isnan(exact).all()) == (share > 1)
            if nearest.converged:
                assert nearest.values.sum() == pytest.approx(float(total), abs=1e-5)
                assert jnp.linalg.norm(nearest.values) <= 1 + 2e-5
            assert bool(nearest.converged) or share > 0.99
            assert not nearest.converged or share < 1
        for total in (tangent * 0.999999, tangent * 1.35):  # a cut is too short to get there
            short = dykstra(values, jnp.asarray(total, dtype), radius, max_rounds=100)
            assert not short.converged
            assert jnp.linalg.norm(short.values) > 1 + 1e-6
        assert jnp.isnan(project_dykstra(values, jnp.asarray(1.35 * tangent, dtype), radius)).all()


@pytest.mark.parametrize(
    ("projection", "share", "is_known"),
    [
        (project, 1.01, True),
        (project, 0.99, False),
        (project_dykstra, 2.0, True),
        (project_dykstra, 1.01, False),  # feasible, but a thousand rounds do not get there
        (project_dykstra, 0.99, False),
    ],
)
def test_values_are_nan_rather_than_outside_of_the_ball(projection, share, is_known):
    """The hyperplane touches the ball where the share is 1, and misses it below."""
    radius = float(share * abs(TRUTH.sum()) / math.sqrt(6))
    estimator = ProjectedSGD(RootStep(0.05), radius=radius, bound=4.0, projection=projection)
    values = estimate(jax.random.key(0), GAME, estimator, 34).values
    assert bool(jnp.isfinite(values).all()) == is_known
    assert bool(jnp.isnan(values).all()) != is_known
    assert not is_known or jnp.linalg.norm(values) <= radius * (1 + 2e-5)


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


@pytest.mark.parametrize(
    ("schedule", "weights"),
    [
        (ConstantStep(0.05), np.array([0.0, 1, 1, 1, 1, 1])),
        (RootStep(0.1), np.array([0.0, 1, 1, 1, 1, 1])),
        (InverseStep(), np.arange(1.0, 7.0)),
    ],
    ids=repr,
)
def test_averages_weigh_iterates_as_they_are_printed(schedule, weights):
    """Iterate t in proportion to t + 1 for inverse steps, from the start, iterate 0, on; the plain
    mean of what the steps lead to otherwise. The last of the iterates is what is not averaged.
    """
    averaging, last = ProjectedSGD(schedule), ProjectedSGD(schedule, average=False)
    plan = averaging.plan(jax.random.key(2), 6, 7)
    worths = jaxshap.evaluate(GAME, plan.coalitions)
    ends = (plan, worths, GAME.empty, GAME.full)
    start = np.full((1, 6), float(GAME.full - GAME.empty) / 6)
    iterates = np.concatenate([start, last.iterates(*ends)])
    mean = (weights[:, None] * iterates).sum(0) / weights.sum()
    np.testing.assert_allclose(averaging.solve(*ends).values, mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(last.solve(*ends).values, iterates[-1])


def test_a_step_on_half_of_the_objective_is_twice_that_on_all_of_it():
    """By hand, for F/2 with gradients w (Σ_{i∈S} φ_i − gain) over the chance of S."""
    estimator = ProjectedSGD(ConstantStep(0.01), importance=False, average=False)
    plan = estimator.plan(jax.random.key(2), 6, 34)
    worths = jaxshap.evaluate(GAME, plan.coalitions)
    values = np.full(6, float(GAME.full - GAME.empty) / 6)
    radius = 2 * math.sqrt(6) * float(np.abs(worths - GAME.empty).max())
    for members, gain in zip(np.asarray(plan.coalitions), worths - GAME.empty, strict=True):
        size = members.sum()
        over_chance = 5 / (math.comb(6, size) * size * (6 - size)) * (2**6 - 2)
        values = values - 2 * 0.01 * over_chance * (members @ values - float(gain)) * members
        values = values - values.mean() + float(GAME.full - GAME.empty) / 6
        assert np.linalg.norm(values) < radius  # the ball plays no part
    found = estimator.solve(plan, worths, GAME.empty, GAME.full).values
    np.testing.assert_allclose(found, values, rtol=1e-4)


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


def test_a_projection_that_returns_more_than_values_is_refused():
    """Such as `dykstra`, whose flag nobody would look at."""
    with pytest.raises(TypeError, match="return 6 values alone, as project_dykstra does"):
        estimate(jax.random.key(0), GAME, ProjectedSGD(RootStep(0.1), projection=dykstra), 20)
    with pytest.raises(TypeError, match=r"takes arguments .* such as project_dykstra"):
        ProjectedSGD(projection=lambda values: values)


def test_a_root_step_that_climbs_is_refused():
    with pytest.raises(ValueError, match="pass a number above 0"):
        estimate(jax.random.key(0), GAME, ProjectedSGD(RootStep(-0.1)), 20)
