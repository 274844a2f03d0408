"""Least squares under the efficiency constraint, against numpy with the constraint written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxshap.estimators.least_squares import efficient_least_squares, jackknife_error


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def problem(rows=30, players=5, outputs=2):
    rng = np.random.default_rng(0)
    design = np.where(rng.random((rows, players)) < 0.5, 1.0, -1.0)
    return (
        design,
        rng.normal(size=(rows, outputs)),
        rng.uniform(0.5, 2, rows),
        rng.normal(size=outputs),
    )


def constrained(design, target, weights, total):
    """The stationary point of the Lagrangian."""
    players = design.shape[1]
    ones = np.ones((players, 1))
    system = np.block([[design.T @ (weights[:, None] * design), ones], [ones.T, np.zeros((1, 1))]])
    right = np.concatenate([design.T @ (weights[:, None] * target), total[None]])
    return np.linalg.solve(system, right)[:players]


def fit(*arrays):
    return efficient_least_squares(*map(jnp.asarray, arrays))


def test_values_are_the_constrained_minimum():
    arrays = problem()
    np.testing.assert_allclose(fit(*arrays).values, constrained(*arrays), atol=1e-12)


def test_values_sum_to_the_total_even_in_float32():
    design, target, weights, total = (jnp.asarray(array, jnp.float32) for array in problem())
    values = efficient_least_squares(design, target, weights, total).values
    np.testing.assert_allclose(values.sum(0), total, atol=1e-5)


def test_a_design_with_no_row_along_the_constraint_is_enough():
    """All singles against the rest fix the differences; the constraint fixes the level."""
    design = 2 * np.eye(4) - 1
    fitted = fit(design, design @ np.arange(4.0)[:, None], np.ones(4), np.array([6.0]))
    np.testing.assert_allclose(fitted.values[:, 0], np.arange(4.0), atol=1e-12)


def test_rows_of_weight_zero_do_not_matter():
    design, target, weights, total = problem()
    padded = (
        np.vstack([design, design[:3]]),
        np.vstack([target, 1e6 * target[:3]]),
        np.append(weights, [0, 0, 0]),
        total,
    )
    expected = constrained(design, target, weights, total)
    np.testing.assert_allclose(fit(*padded).values, expected, atol=1e-9)


def test_residuals_are_what_the_values_leave():
    design, target, weights, total = problem()
    fitted = fit(design, target, weights, total)
    residuals = target - design @ np.asarray(fitted.values)
    np.testing.assert_allclose(fitted.residuals, residuals, atol=1e-12)


def test_outputs_keep_their_shape():
    design, target, weights, total = problem(outputs=6)
    shaped = fit(design, target.reshape(-1, 3, 2), weights, total.reshape(3, 2))
    flat = fit(design, target, weights, total)
    np.testing.assert_allclose(shaped.values.reshape(5, 6), flat.values, atol=1e-12)
    assert shaped.residuals.shape == (30, 3, 2)


def test_the_jackknife_is_leave_one_out_about_the_full_fit():
    design, target, weights, total = arrays = problem()
    sampled = np.arange(30) >= 8
    unseen = np.linspace(0.2, 1, 30)
    full = constrained(*arrays)
    variance, count = np.zeros_like(full), sampled.sum()
    for row in np.flatnonzero(sampled):
        keep = np.arange(30) != row
        left_out = constrained(design[keep], target[keep], weights[keep], total)
        variance += unseen[row] * (left_out - full) ** 2 * count / (count - 1)
    error = jackknife_error(fit(*arrays), jnp.asarray(sampled), jnp.asarray(unseen))
    np.testing.assert_allclose(error, np.sqrt(variance), rtol=1e-9)


@pytest.mark.parametrize(("count", "known"), [(0, False), (1, False), (2, True)])
def test_fewer_than_two_sampled_rows_tell_nothing(count, known):
    error = jackknife_error(fit(*problem()), jnp.arange(30) < count, jnp.ones(30))
    assert np.isfinite(error).all() == known
    assert np.isnan(error).all() == (not known)
