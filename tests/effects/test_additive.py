"""Additive models: least squares where smoothers are lines, and what every view makes of them."""

import numpy as np
import pandas as pd
import pytest

import jaxshap
from jaxshap.effects import additive_model, ale, pdp, smoothing_spline


def line(x, y):
    return np.poly1d(np.polyfit(x, y, 1))


def table(rows=300, noise=0.0):
    rng = np.random.default_rng(0)
    first = rng.normal(size=rows)
    X = np.stack(
        [first, 0.6 * first + 0.8 * rng.normal(size=rows), rng.uniform(size=rows) < 0.4], 1
    )
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 - 2 * X[:, 2] + noise * rng.normal(size=rows)
    return X, y


def test_with_lines_as_smoothers_it_is_least_squares():
    X, y = table(noise=0.5)
    model = additive_model(X, y, smoother=line)
    design = np.column_stack([np.ones(len(X)), X])
    expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert model.converged
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-4)
    np.testing.assert_allclose(model.intercept, y.mean())
    np.testing.assert_allclose(model.contributions(X).mean(0), 0, atol=1e-12)


def test_smoothing_splines_find_the_components_of_a_noisy_additive_function():
    X, y = table(1_000, noise=0.3)
    model = additive_model(X, y)
    assert model.converged
    truth = np.stack([np.sin(2 * X[:, 0]), 0.5 * X[:, 1] ** 2, -2 * X[:, 2]], axis=1)
    errors = model.contributions(X) - (truth - truth.mean(0))
    # About 30 degrees of freedom share noise of 0.3 over 1,000 rows: 0.3 √(30/1000) = 0.05.
    assert (np.sqrt((errors**2).mean(0)) < 0.08).all()


def test_its_components_are_its_functional_decomposition_in_every_view():
    X, y = table(noise=0.3)
    model, rows = additive_model(X, y), X[:4]
    own = model.contributions(rows)
    parts = jaxshap.interactions.decompose(jaxshap.marginal(jaxshap.host(model.predict), rows, X))
    np.testing.assert_allclose(parts[()], model.intercept, atol=1e-5)
    for players in parts.sets[1:]:
        expected = own[:, players[0]] if len(players) == 1 else 0
        np.testing.assert_allclose(parts[players], expected, atol=1e-5)
    np.testing.assert_allclose(jaxshap.explain(model, rows, X).values, own, atol=1e-5)
    curve = pdp(model, X, 0, grids={0: rows[:, 0]})
    np.testing.assert_allclose(curve.values, model.intercept + own[:, 0], atol=1e-5)
    local = ale(model, X, 1)
    ends = model.components[1](local.grids[0])
    np.testing.assert_allclose(np.diff(local.values), np.diff(ends), atol=1e-5)


def test_the_spline_is_that_of_scipy_and_goes_on_straight():
    from scipy.interpolate import make_smoothing_spline

    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 1, 60))
    x[[0, -1]] = 0, 1
    y = np.cos(4 * x) + 0.2 * rng.normal(size=60)
    peer = make_smoothing_spline(x, y, lam=1e-4)
    np.testing.assert_allclose(smoothing_spline(x, y, 1e-4)(x), peer(x), atol=1e-9)
    chosen = smoothing_spline(x, y)
    np.testing.assert_allclose(chosen(x), np.cos(4 * x), atol=0.25)
    assert 1e-6 <= chosen.penalty <= 1e-2
    curve = smoothing_spline(10 * x - 3, y)  # its own scale does not matter
    np.testing.assert_allclose(curve(10 * x - 3), smoothing_spline(x, y)(x), atol=1e-6)
    beyond = curve(np.array([7.0, 8.0, 9.0]))
    np.testing.assert_allclose(np.diff(beyond, 2), 0, atol=1e-9)
    flags = smoothing_spline([0.0, 1.0, 1.0, 0.0], [1.0, 5.0, 7.0, 3.0])
    assert flags([0.0, 1.0, 2.0]).tolist() == [2.0, 6.0, 6.0]
    pairs = np.repeat(y, 2) + np.tile([-1.0, 1.0], 60)
    repeated = smoothing_spline(np.repeat(x, 2), pairs, 1e-4)
    np.testing.assert_allclose(repeated(x), smoothing_spline(x, y, 5e-5)(x), atol=1e-6)


def test_tables_are_matched_by_name_and_too_few_rounds_are_said():
    X, y = table(100)
    frame = pd.DataFrame(X, columns=["a", "b", "flag"])
    model = additive_model(frame, y, max_rounds=2, tolerance=0.0)
    assert model.feature_names == ("a", "b", "flag")
    assert (model.rounds, model.converged) == (2, False)
    assert model.change > 0
    turned = frame[["flag", "a", "b"]]
    np.testing.assert_array_equal(model.predict(turned), model.predict(X))
    constant = additive_model(frame, np.ones(100))
    np.testing.assert_allclose(constant.predict(frame), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: additive_model(X, y[1:]), "y has shape"),
        (lambda X, y: additive_model(X, np.where(y > 1, np.nan, y)), "NaN or infinite"),
        (lambda X, y: additive_model(X, y, smoother="spline"), "smoother"),
        (lambda X, y: additive_model(X, y, smoother=lambda x, y: 3.0), "not a function"),
        (lambda X, y: additive_model(X, y, smoother=lambda x, y: np.mean), "returned shape"),
        (lambda X, y: additive_model(X, y, max_rounds=0), "max_rounds"),
        (lambda X, y: additive_model(X, y, max_rounds=1).predict(X[:, :2]), r"pass \(rows, 3\)"),
        (lambda X, y: smoothing_spline(y, y[1:]), "as many numbers"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(jaxshap.InputError, match=message):
        call(*table(30))
