"""Value functions refuse what they cannot explain, and say what to do."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

ROWS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
BACKGROUND = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
either = pytest.mark.parametrize("wrap", [lambda f: f, jaxshap.host], ids=["traced", "host"])


def test_value_functions_name_their_games():
    assert jaxshap.marginal(lambda x: x.sum(1), ROWS, BACKGROUND).name == "marginal"
    assert jaxshap.baseline(lambda x: x.sum(1), ROWS, BACKGROUND[0]).name == "baseline"


def test_a_reference_is_one_row():
    with pytest.raises(ValueError, match=r"jaxshap\.marginal for a background"):
        jaxshap.baseline(lambda x: x.sum(1), ROWS, BACKGROUND)


@either
@pytest.mark.parametrize(
    ("rows", "background", "message"),
    [
        (ROWS[0], BACKGROUND, r"X must be a non-empty table"),
        (ROWS[:0], BACKGROUND, r"X must be a non-empty table"),
        (ROWS, BACKGROUND[:0], r"the background must be a non-empty table"),
        (ROWS, BACKGROUND[:, :2], r"X has 3 columns and the background 2"),
    ],
)
def test_tables_that_do_not_fit_are_refused(wrap, rows, background, message):
    with pytest.raises(ValueError, match=message):
        jaxshap.marginal(wrap(lambda x: x.sum(1)), rows, background)


@either
@pytest.mark.parametrize("weights", [np.ones(3, np.float32), np.ones((4, 1), np.float32)])
def test_weights_must_be_one_a_background_row(wrap, weights):
    with pytest.raises(ValueError, match="4 background rows: pass one a row"):
        jaxshap.marginal(wrap(lambda x: x.sum(1)), ROWS, BACKGROUND, weights=weights)


@either
@pytest.mark.parametrize("model", [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x[:1, 0]])
def test_a_model_must_return_one_result_a_row(wrap, model):
    with pytest.raises(ValueError, match="one result a row"):
        jaxshap.marginal(wrap(model), ROWS, BACKGROUND)


def test_labels_are_refused_with_the_remedy():
    model = jaxshap.host(lambda x: np.where(x[:, 0] > 0, "yes", "no"))
    with pytest.raises(TypeError, match="probabilities or scores"):
        jaxshap.marginal(model, ROWS, BACKGROUND)


@either
def test_whole_numbers_and_truth_values_are_explained_as_numbers(wrap):
    game = jaxshap.marginal(wrap(lambda x: x[:, 0] > 0), ROWS, BACKGROUND)
    np.testing.assert_array_equal(game.full, np.asarray(ROWS)[:, 0] > 0)
    assert np.issubdtype(game.full.dtype, np.floating)


def test_a_model_that_jax_cannot_trace_is_sent_to_host():
    with pytest.raises(TypeError, match=r"wrap it in jaxshap\.host"):
        jaxshap.marginal(lambda x: np.asarray(x).sum(1), ROWS, BACKGROUND)
    with pytest.raises(TypeError, match=r"wrap it in jaxshap\.host"):
        jaxshap.marginal(lambda x: x.sum(1) if x[0, 0] > 0 else x[:, 0], ROWS, BACKGROUND)


def test_a_model_that_returns_several_arrays_is_refused():
    with pytest.raises(ValueError, match=r"one array \(rows,\) or \(rows, outputs\)"):
        jaxshap.marginal(lambda x: (x[:, 0], x[:, 1]), ROWS, BACKGROUND)


@either
def test_a_model_that_returns_nan_says_for_which_row_and_how_many(wrap):
    def model(x):
        xp = jnp if not isinstance(x, np.ndarray) else np
        return xp.where(x[:, 0] > 5, xp.nan, x[:, 0]).astype(np.float32)

    spoilt = ROWS.copy()
    spoilt[[2, 4], 0] = 9
    with pytest.raises(ValueError, match=r"for 2 row\(s\), the first is row 2"):
        jaxshap.marginal(wrap(model), spoilt, BACKGROUND)
    with pytest.raises(
        ValueError, match=r"for 2 background row\(s\), the first is background row 2"
    ):
        jaxshap.marginal(wrap(model), ROWS, spoilt)


@either
def test_weights_that_cannot_be_a_mean_are_refused(wrap):
    """Negative, zero in sum, or not finite."""
    for weights in ([1, 1, 1, -1], [0, 0, 0, 0], [1, np.nan, 1, 1]):
        with pytest.raises(ValueError, match="weights"):
            jaxshap.marginal(
                wrap(lambda x: x.sum(1)), ROWS, BACKGROUND, weights=np.float32(weights)
            )


@pytest.mark.parametrize("value", [jaxshap.marginal, jaxshap.conditional, jaxshap.manifold])
def test_rows_that_come_with_weights_are_a_background_as_weights_beside_it_are(value):
    def model(x):
        return x[:, 0] * x[:, 1] + x[:, 2]

    background = np.random.default_rng(3).normal(size=(12, 3)).astype(np.float32)
    weights = np.arange(1.0, 13.0)
    come = value(model, ROWS, jaxshap.WeightedRows(background, weights))
    beside = value(model, ROWS, background, weights=weights)
    assert not np.allclose(beside.empty, value(model, ROWS, background).empty, atol=1e-3)
    np.testing.assert_array_equal(come.empty, beside.empty)
    coalition = np.array([True, False, False])
    np.testing.assert_allclose(come(coalition), beside(coalition), atol=1e-6)
    with pytest.raises(ValueError, match="comes with weights of its own: omit weights="):
        value(model, ROWS, jaxshap.WeightedRows(background, weights), weights=weights)


def test_integer_tables_are_explained_as_numbers():
    game = jaxshap.marginal(
        lambda x: x @ jnp.asarray([1.0, 2.0]), np.array([[3, 4]]), np.array([[0, 0], [2, 2]])
    )
    np.testing.assert_allclose(jaxshap.shapley_values(game)[:, 0], [2, 6])
