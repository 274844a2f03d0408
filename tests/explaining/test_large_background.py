"""A background as large as the data: model_rows= asks a sample of it, and says how sure it is."""

import jax.numpy as jnp
import numpy as np
import pandas
import pytest

import jaxshap
from jaxshap.explaining import large_background

PLAYERS = 6
rng = np.random.default_rng(0)
ROWS = rng.normal(size=(3, PLAYERS)).astype(np.float32)
BACKGROUND = rng.normal(size=(600, PLAYERS)).astype(np.float32)
SLOPES = rng.normal(size=(PLAYERS, 4)).astype(np.float32)


def model(rows):
    return jnp.tanh(rows @ SLOPES) @ np.float32([1, -1, 0.5, 2]) + rows[:, 0] * rows[:, 1]


TRUTH = np.asarray(jaxshap.shapley_values(jaxshap.marginal(model, ROWS, BACKGROUND))).T


def test_values_add_up_to_the_prediction_less_the_mean_over_the_full_background():
    explanation = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=2000)
    np.testing.assert_allclose(explanation.base_values, np.mean(model(BACKGROUND)), atol=1e-5)
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, model(ROWS), atol=1e-4)
    assert explanation.num_model_rows <= 2000
    assert (explanation.std_error > 0).all()
    diagnosis = explanation.diagnose()  # of the same background rows, at four times the cost
    assert 2 * PLAYERS <= diagnosis.num_evaluations <= 8 * PLAYERS


@pytest.mark.slow
def test_errors_cover_what_the_rows_left_out_could_change_and_beat_a_smaller_background():
    """Over 40 keys, 720 numbers within 1.96 errors: .95 ± .008 if they were independent."""
    squares, few, inside = [], [], []
    for key in range(40):
        large = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=2000, key=key)
        squares.append(((large.values - TRUTH) ** 2).mean())
        inside.append(np.abs(large.values - TRUTH) < 1.96 * large.std_error)
        sample = BACKGROUND[np.random.default_rng(key).choice(600, 50, replace=False)]
        small = jaxshap.explain(model, ROWS, sample, budget=42, key=key)
        few.append(((small.values - TRUTH) ** 2).mean())
    assert np.mean(squares) < 0.5 * np.mean(few)
    assert 0.9 < np.mean(inside) < 0.99


def test_all_background_rows_are_used_where_they_are_affordable():
    explanation = jaxshap.explain(model, ROWS, BACKGROUND[:40], model_rows=40 * 62)
    truth = np.asarray(jaxshap.shapley_values(jaxshap.marginal(model, ROWS, BACKGROUND[:40]))).T
    np.testing.assert_allclose(explanation.values, truth, atol=1e-5)


def test_host_models_and_weights_work_too():
    weights = np.arange(1.0, 601.0)
    background = jaxshap.WeightedRows(BACKGROUND, weights)
    on_host = jaxshap.host(lambda rows: np.asarray(model(jnp.asarray(rows, jnp.float32))))
    explanation = jaxshap.explain(on_host, ROWS, background, model_rows=3000)
    base = np.average(model(BACKGROUND), weights=weights)
    np.testing.assert_allclose(explanation.base_values, base, atol=1e-4)
    truth = jaxshap.shapley_values(jaxshap.marginal(model, ROWS, BACKGROUND, weights=weights))
    scores = (explanation.values - np.asarray(truth).T) / explanation.std_error
    assert np.abs(scores).max() < 5


def test_groups_of_columns_and_tables_with_names_are_explained_too():
    names = list("abcdef")
    rows, background = (pandas.DataFrame(part, columns=names) for part in (ROWS, BACKGROUND))
    groups = {"first": ["a", "b"], "last": ["e", "f"]}
    how = {"groups": groups, "model_rows": 2000}
    explanation = jaxshap.explain(model, rows, background[names[::-1]], **how)
    assert explanation.feature_names == ("first", "c", "d", "last")
    game = jaxshap.grouped(jaxshap.marginal(model, ROWS, BACKGROUND), [[0, 1], [2], [3], [4, 5]])
    scores = (
        explanation.values - np.asarray(jaxshap.shapley_values(game)).T
    ) / explanation.std_error
    assert np.abs(scores).max() < 5
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, model(ROWS), atol=1e-4)


def test_inputs_of_several_arrays_are_explained_too():
    def of_both(inputs):
        return model(jnp.concatenate([inputs["left"], inputs["right"]], axis=1))

    rows, background = ({"left": part[:, :2], "right": part[:, 2:]} for part in (ROWS, BACKGROUND))
    parts = {"left": jaxshap.segments([0, 1]), "right": jaxshap.segments([0, 1, 2, 3])}
    how = {"groups": jaxshap.together(parts), "model_rows": 2000}
    explanation = jaxshap.explain(of_both, rows, background, **how)
    assert np.abs((explanation.values - TRUTH) / explanation.std_error).max() < 5


def test_rows_are_explained_some_at_a_time_where_memory_is_short(monkeypatch):
    at_once = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=2000)
    monkeypatch.setattr(large_background, "MAX_NUMBERS", 1)
    one_by_one = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=2000)
    for name in ("values", "std_error", "base_values"):
        numbers = getattr(one_by_one, name), getattr(at_once, name)
        np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_rows": 10}, "pass 300 or more"),
        ({"model_rows": 2.5}, "a whole number"),
        ({"model_rows": 2000, "budget": 100}, "omit budget="),
        ({"model_rows": 2000, "tol": 0.1}, "omit budget="),
        ({"model_rows": 2000, "checkpoint": "worths"}, "without checkpoint="),
        (
            {"model_rows": 2000, "groups": jaxshap.segments([0, 1, -1, 2, 2, 3])},
            "some entries here belong to none",
        ),
        ({"model_rows": 2000, "value": jaxshap.conditional}, "omit value="),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_it_does_not_go_with_is_refused(options, message):
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.explain(model, ROWS, BACKGROUND, **options)


def nonlinear(rows):
    rows = np.asarray(rows, np.float64)
    return np.tanh(rows @ SLOPES) @ np.array([1, -1, 0.5, 2]) + rows[:, 0] * rows[:, 1]


@pytest.mark.parametrize("power", [-70, 60])
def test_units_of_outputs_change_nothing_but_the_units(power):
    """Regressors of very different sizes stand beside one another: outputs and columns."""
    outputs, factor = jaxshap.host(nonlinear), 2.0**power
    scaled = jaxshap.host(lambda rows: factor * nonlinear(rows))
    explanation = jaxshap.explain(outputs, ROWS, BACKGROUND, model_rows=2000)
    other = jaxshap.explain(scaled, ROWS, BACKGROUND, model_rows=2000)
    np.testing.assert_array_equal(other.values, factor * explanation.values)
    np.testing.assert_array_equal(other.std_error, factor * explanation.std_error)


def test_units_of_columns_change_nothing():
    units = np.array([1e12, 1, 1, 1e-9, 1, 1])
    rows, references = np.float64(ROWS), np.float64(BACKGROUND)
    explanation = jaxshap.explain(jaxshap.host(nonlinear), rows, references, model_rows=2000)
    in_units = jaxshap.host(lambda scaled: nonlinear(scaled / units))
    other = jaxshap.explain(in_units, rows * units, references * units, model_rows=2000)
    np.testing.assert_allclose(other.values, explanation.values, atol=1e-12)
    np.testing.assert_allclose(other.std_error, explanation.std_error, rtol=1e-9)
    total = other.values.sum(1) + other.base_values
    np.testing.assert_allclose(total, nonlinear(rows), atol=1e-12)
