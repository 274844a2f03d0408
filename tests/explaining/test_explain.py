"""explain: what comes out for tables, models and groups of every make."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 5)).astype(np.float32) for count in (6, 11))
NAMES = ["age", "height", "income", "rooms", "zip"]
SLOPES = np.float32([1, -2, 3, 0.5, 0])


def linear(x):
    return x @ SLOPES


def rough(x):
    return jnp.sin(3 * x[:, 0]) * x[:, 1] * jnp.exp(x[:, 2] / 2) + x[:, 3] * x[:, 4] * x[:, 0]


def wide(x):
    """Twelve features joined in threes, so that sampling is not exact."""
    return (
        x[:, 0] * x[:, 1] * x[:, 2]
        + jnp.tanh(x[:, 3:].sum(1)) * x[:, 4]
        + x[:, 11] * x[:, 5] * x[:, 6]
    )


WIDE_ROWS, WIDE_BACKGROUND = (RNG.normal(size=(count, 12)).astype(np.float32) for count in (4, 9))


def frame(rows, columns=NAMES):
    return pd.DataFrame(np.asarray(rows, np.float64), columns=NAMES)[list(columns)]


def test_a_linear_model_is_slope_times_distance_from_the_mean():
    ex = jaxshap.explain(linear, ROWS, BACKGROUND)
    np.testing.assert_allclose(ex.values, (ROWS - BACKGROUND.mean(0)) * SLOPES, atol=1e-5)
    np.testing.assert_allclose(ex.base_values, np.full(6, linear(BACKGROUND).mean()), rtol=1e-5)
    np.testing.assert_allclose(ex.values[:, 4], 0, atol=1e-6)
    assert (ex.value_function, ex.estimator, ex.num_evaluations) == ("marginal", "Exact()", 32)
    assert isinstance(ex.values, np.ndarray)


@pytest.mark.parametrize("budget", [20, 4000])
def test_values_and_base_add_up_to_the_prediction(budget):
    ex = jaxshap.explain(rough, ROWS, BACKGROUND, budget=budget)
    np.testing.assert_allclose(ex.base_values + ex.values.sum(1), rough(ROWS), atol=1e-5)
    assert ex.num_evaluations <= budget


def test_lists_arrays_and_frames_say_the_same():
    expected = jaxshap.explain(rough, ROWS, BACKGROUND)
    for convert in (jnp.asarray, np.float64, np.ndarray.tolist, frame):
        ex = jaxshap.explain(rough, convert(ROWS), convert(BACKGROUND))
        np.testing.assert_allclose(ex.values, expected.values, atol=1e-5)
    assert expected.feature_names == ("x0", "x1", "x2", "x3", "x4")
    assert ex.feature_names == tuple(NAMES)


def test_frames_are_matched_by_column_name():
    expected = jaxshap.explain(rough, frame(ROWS), frame(BACKGROUND))
    shuffled = frame(BACKGROUND, ["zip", "age", "rooms", "height", "income"])
    np.testing.assert_array_equal(
        jaxshap.explain(rough, frame(ROWS), shuffled).values, expected.values
    )


def test_a_model_fitted_on_a_frame_gets_its_columns_in_its_order():
    """Any order of columns in X gives every name the same value, and scikit-learn does not warn
    about names.
    """
    model = LinearRegression().fit(frame(BACKGROUND), rough(BACKGROUND))
    straight = jaxshap.explain(model, frame(ROWS), frame(BACKGROUND))
    shuffled = jaxshap.explain(
        model, frame(ROWS, NAMES[::-1]), frame(BACKGROUND, ["zip", *NAMES[:4]])
    )
    assert shuffled.feature_names == tuple(NAMES)
    np.testing.assert_array_equal(shuffled.values, straight.values)
    np.testing.assert_allclose(
        straight.values, (ROWS - BACKGROUND.mean(0)) * model.coef_, atol=1e-4
    )


@pytest.mark.filterwarnings("error")
def test_pipelines_and_regressors_run_on_the_host():
    target = np.asarray(rough(BACKGROUND))
    scaled = make_column_transformer((StandardScaler(), NAMES[:3]), remainder="passthrough")
    for model in (
        make_pipeline(scaled, LinearRegression()),
        RandomForestRegressor(5, random_state=0),
    ):
        model.fit(frame(BACKGROUND), target)
        for predict in (model, model.predict):
            ex = jaxshap.explain(predict, frame(ROWS), frame(BACKGROUND))
            assert ex.values.shape == (6, 5)
            np.testing.assert_allclose(
                ex.base_values + ex.values.sum(1), model.predict(frame(ROWS)), atol=1e-4
            )


def test_a_classifier_is_explained_by_the_probabilities_of_its_classes():
    X, y = make_classification(
        60, 5, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    model = LogisticRegression().fit(X, np.array(["no", "maybe", "yes"])[y])
    ex = jaxshap.explain(model, X[:4], X[4:20])
    assert ex.values.shape == (4, 5, 3)
    assert ex.output_names == ("maybe", "no", "yes")
    np.testing.assert_allclose(
        ex.base_values + ex.values.sum(1), model.predict_proba(X[:4]), atol=1e-5
    )
    np.testing.assert_allclose(ex.values.sum(2), 0, atol=1e-5)  # probabilities sum to one


def test_several_outputs_come_in_one_pass():
    together = jaxshap.explain(
        lambda x: jnp.stack([rough(x), linear(x)], axis=1),
        ROWS,
        BACKGROUND,
        output_names=["r", "l"],
    )
    assert together.values.shape == together.std_error.shape == (6, 5, 2)
    assert together.base_values.shape == (6, 2)
    np.testing.assert_allclose(
        together.values[..., 0], jaxshap.explain(rough, ROWS, BACKGROUND).values, atol=1e-5
    )


def test_a_host_model_gives_what_a_traced_one_gives():
    traced = jaxshap.explain(wide, WIDE_ROWS, WIDE_BACKGROUND, budget=100)
    on_host = jaxshap.explain(
        jaxshap.host(lambda x: np.asarray(wide(x))), WIDE_ROWS, WIDE_BACKGROUND, budget=100
    )
    untraceable = jaxshap.explain(
        lambda x: np.asarray(wide(jnp.asarray(x))), WIDE_ROWS, WIDE_BACKGROUND, budget=100
    )
    for ex in (on_host, untraceable):
        np.testing.assert_allclose(ex.values, traced.values, atol=1e-4)
        np.testing.assert_allclose(ex.std_error, traced.std_error, rtol=1e-2, atol=1e-5)


def test_groups_are_players_and_other_columns_stay_their_own():
    ex = jaxshap.explain(
        rough,
        frame(ROWS),
        frame(BACKGROUND),
        groups={"body": ["height", "age"], "home": ["rooms", 4]},
    )
    assert ex.feature_names == ("body", "income", "home")
    assert ex.values.shape == (6, 3)
    assert ex.data.shape == (6, 5)
    game = jaxshap.grouped(jaxshap.marginal(rough, ROWS, BACKGROUND), [[0, 1], [2], [3, 4]])
    np.testing.assert_allclose(ex.values.T, jaxshap.shapley_values(game), atol=1e-5)
    by_number = jaxshap.explain(rough, ROWS, BACKGROUND, groups=[[3, 4], [0, 1]])
    assert by_number.feature_names == ("0+1", "x2", "3+4")
    np.testing.assert_allclose(by_number.values, ex.values, atol=1e-5)


def test_another_value_function_may_be_passed():
    ex = jaxshap.explain(
        rough,
        ROWS,
        BACKGROUND,
        value=lambda f, X, background: jaxshap.baseline(f, X, background[2]),
    )
    assert ex.value_function == "baseline"
    np.testing.assert_allclose(ex.base_values, np.full(6, rough(BACKGROUND[2:3])[0]), atol=1e-6)


@pytest.mark.parametrize("batch_size", [7, 64])
def test_batches_do_not_change_the_explanation(batch_size):
    """To rounding; the default's fit of length scales takes rounding to a small part of the
    standard error.
    """
    for estimator in (jaxshap.Leverage(), None):
        auto, batched = (
            jaxshap.explain(
                wide, WIDE_ROWS, WIDE_BACKGROUND, estimator=estimator, budget=150, batch_size=size
            )
            for size in ("auto", batch_size)
        )
        atol = 1e-5 if estimator is not None else 0.05 * auto.std_error
        assert (np.abs(batched.values - auto.values) <= atol).all()


def test_two_runs_with_one_key_are_equal_and_leave_global_randomness_alone():
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second, other = (
        jaxshap.explain(wide, WIDE_ROWS, WIDE_BACKGROUND, budget=100, key=key)
        for key in (3, jax.random.key(3), 4)
    )
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.std_error, second.std_error)
    assert np.abs(first.values - other.values).max() > 1e-3
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_nearby_numbers_of_rows_share_every_compiled_program(compilations):
    rows = np.random.default_rng(1).normal(size=(36, 5)).astype(np.float32)
    jaxshap.explain(rough, rows, BACKGROUND)
    with compilations() as names:
        for count in (33, 34, 35):
            jaxshap.explain(rough, rows[:count], BACKGROUND)
    assert names == []


def test_a_row_alone_gets_the_values_it_gets_among_others():
    """The default learns lengths from all rows, so to within its error; the others do not look at
    other rows.
    """
    for estimator, tolerance in ((jaxshap.Leverage(), 0), (None, 1)):
        settings = {"estimator": estimator, "budget": 100}
        together = jaxshap.explain(wide, WIDE_ROWS, WIDE_BACKGROUND, **settings)
        alone = jaxshap.explain(wide, WIDE_ROWS[2:3], WIDE_BACKGROUND, **settings)
        difference = np.abs(alone.values[0] - together.values[2])
        assert (difference <= tolerance * np.asarray(together.std_error[2]) + 1e-5).all()


@pytest.mark.parametrize("groups", [None, {"all": ["x0", "x1"]}])
def test_a_single_player_gets_the_whole(groups):
    rows = np.array([[5.0, 1.0], [2.0, 0.0]])[:, : 1 if groups is None else 2]
    ex = jaxshap.explain(
        lambda points: 2 * points.sum(1), rows, np.zeros((3, rows.shape[1])), groups=groups
    )
    np.testing.assert_allclose(ex.values[:, 0], 2 * rows.sum(1))
