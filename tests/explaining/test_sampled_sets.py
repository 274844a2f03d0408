"""explain(..., model_rows=, interactions=): sets of players from background rows with own plans."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.explaining import large_background

PLAYERS = 6
rng = np.random.default_rng(1)
ROWS = rng.normal(size=(2, PLAYERS)).astype(np.float32)
BACKGROUND = rng.normal(size=(400, PLAYERS)).astype(np.float32)
SLOPES = rng.normal(size=(PLAYERS, 4)).astype(np.float32)


def model(rows):
    bent = jnp.tanh(rows @ SLOPES) @ np.float32([1, -1, 0.5, 2])
    return jnp.stack([bent + rows[:, 0] * rows[:, 1], rows[:, 2] * rows[:, 3] * rows[:, 4]], 1)


def exact(background, order):
    game = jaxshap.marginal(model, ROWS, background)
    return np.asarray(jaxshap.interactions.exact_interactions(game, "SII", order).values)


def test_they_are_unbiased_and_within_their_errors():
    """Over 20 keys: the means of 140 numbers at most 6 errors off, by Student's t with 19 degrees
    of freedom, which one draw of keys in 800 exceeds; 2,800 intervals of 95 %, alike in part.
    """
    truth, off, inside = exact(BACKGROUND, 3), [], []
    for key in range(20):
        how = {"model_rows": 1200, "interactions": 3, "key": key}
        found = jaxshap.explain(model, ROWS, BACKGROUND, **how).interactions
        off.append((found.values - truth)[PLAYERS:])
        inside.append(np.abs(off[-1]) < 1.96 * found.std_error[PLAYERS:])
    scores = np.mean(off, 0) / (np.std(off, 0, ddof=1) / np.sqrt(20))
    assert np.abs(scores).max() < 6
    assert 0.92 < np.mean(inside) < 0.98


def test_they_cost_no_model_rows_and_the_values_stay_the_same():
    found = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=600, interactions=2)
    same = jaxshap.explain(model, ROWS, BACKGROUND, model_rows=600)
    assert found.num_model_rows == same.num_model_rows <= 600
    np.testing.assert_allclose(found.values, same.values, atol=1e-5)
    np.testing.assert_allclose(found.std_error, same.std_error, rtol=1e-4)
    diagonal = found.interaction_matrix[:, np.arange(PLAYERS), np.arange(PLAYERS)]
    np.testing.assert_allclose(diagonal, found.values, atol=1e-5)


def test_all_coalitions_of_all_background_rows_are_exact():
    found = jaxshap.explain(model, ROWS, BACKGROUND[:8], model_rows=8 * 62, interactions=4)
    np.testing.assert_allclose(found.interactions.values, exact(BACKGROUND[:8], 4), atol=1e-5)
    np.testing.assert_array_equal(found.interactions.std_error, 0)


def test_some_rows_at_a_time_change_nothing(monkeypatch):
    how = {"model_rows": 600, "interactions": 2}
    at_once = jaxshap.explain(model, ROWS, BACKGROUND, **how).interactions
    monkeypatch.setattr(large_background, "MAX_NUMBERS", 1)
    one_by_one = jaxshap.explain(model, ROWS, BACKGROUND, **how).interactions
    np.testing.assert_allclose(one_by_one.values, at_once.values, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one_by_one.std_error, at_once.std_error, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("number", [1, 3])
def test_a_few_background_rows_and_groups_of_columns_work_too(number):
    groups = {"first": [0, 1, 2], "second": [3], "third": [4, 5]}
    how = {"groups": groups, "interactions": 2, "model_rows": number * 8}
    found = jaxshap.explain(model, ROWS, BACKGROUND[:number], **how)
    own = jaxshap.explain(model, ROWS, BACKGROUND[:number], groups=groups, interactions=2)
    np.testing.assert_allclose(found.interaction_matrix, own.interaction_matrix, atol=1e-5)


def test_orders_that_are_not_there_are_refused():
    with pytest.raises(jaxshap.InputError, match="between 1 and 6"):
        jaxshap.explain(model, ROWS, BACKGROUND, model_rows=600, interactions=7)
    many = np.zeros((2, 300), np.float32)
    with pytest.raises(jaxshap.InputError, match="pass a lower order"):
        jaxshap.explain(lambda rows: rows.sum(1), many, many, interactions=4)
