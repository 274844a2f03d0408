"""Budgets, keys, batch sizes, groups, models without a fit: read as meant or refused by name."""

import pickle

import catboost
import jax
import jax.numpy as jnp
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn import ensemble, linear_model, pipeline, preprocessing, svm

import jaxshap
from jaxshap.errors import InputError, UnsupportedModelError

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(2, 4)), RNG.normal(size=(3, 4))
pytestmark = pytest.mark.usefixtures("unchecked")


def model(rows):
    return rows @ jnp.array([1.0, 2.0, 3.0, 4.0], rows.dtype) * rows[:, 0]


GAME = jaxshap.marginal(jaxshap.host(lambda rows: rows.sum(1) * rows[:, 0]), ROWS, BACKGROUND)


def explained(**options):
    options = {"estimator": jaxshap.Kernel(), "budget": 12} | options
    return jaxshap.explain(model, ROWS, BACKGROUND, progress=False, **options)


def test_exact_values_know_what_they_need():
    game = jaxshap.table(RNG.normal(size=2**12))
    assert not np.asarray(jaxshap.estimate(0, game, jaxshap.Exact()).std_error).any()
    with pytest.raises(jaxshap.BudgetError, match=r"2\*\*40"):
        jaxshap.estimate(0, _forty(), jaxshap.Exact())


@pytest.mark.parametrize(
    "call",
    [
        jaxshap.shapley_values,
        jaxshap.interactions.decompose,
        jaxshap.interactions.exact_interactions,
        jaxshap.residuals.norms,
        jaxshap.residuals.flows,
    ],
)
def test_forty_players_are_refused_and_the_interpreter_lives(call):
    with pytest.raises(InputError, match="40"):
        call(_forty())


def _forty():
    return jaxshap.make_game(jaxshap.host(lambda coalitions: coalitions.sum(1) * 1.0), 40)


@pytest.mark.parametrize("budget", [np.int64(12), np.uint8(12), 12.0, np.float32(12)])
def test_any_whole_number_is_a_budget(budget):
    np.testing.assert_array_equal(explained(budget=budget).values, explained().values)


@pytest.mark.parametrize(
    "budget", [12.5, "12", "many", True, [12], np.array([12]), -3, 0, 2**40, np.nan, np.inf, 12j]
)
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(InputError, match="budget="):
        explained(budget=budget)
    with pytest.raises(InputError, match="budget="):
        jaxshap.estimate(0, GAME, jaxshap.Kernel(), budget)


@pytest.mark.parametrize("batch_size", [None, 0, -1, 1.5, "x", True, [4], np.array(3)])
def test_what_is_no_batch_size_is_refused(batch_size):
    for call in (
        lambda: explained(batch_size=batch_size),
        lambda: jaxshap.estimate(0, GAME, jaxshap.Kernel(), 12, batch_size=batch_size),
        lambda: jaxshap.evaluate(GAME, np.ones((1, 4), bool), batch_size=batch_size),
    ):
        with pytest.raises(InputError, match="batch_size="):
            call()


@pytest.mark.parametrize("key", [2**63, -(2**63) - 1, np.uint64(2**63 + 5), 1.5, "a", None, True])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(InputError, match="key="):
        explained(key=key)
    with pytest.raises(InputError, match="key="):
        jaxshap.estimate(key, GAME, jaxshap.Kernel(), 12)


def test_keys_of_64_bits_and_of_any_kind_are_taken():
    number = explained(key=3).values
    for key in (np.int8(3), jax.random.key(3), jax.random.PRNGKey(3)):
        np.testing.assert_array_equal(explained(key=key).values, number)
    jaxshap.estimate(2**63 - 1, GAME, jaxshap.Kernel(), 12)


@pytest.mark.parametrize(
    "groups",
    [
        np.array([[0, 1], [2, 3]]),
        [np.array([0, 1]), np.array([2, 3])],
        {"a": np.array([0, 1]), "b": np.array([2, 3])},
        [(0, 1), range(2, 4)],
    ],
)
def test_groups_may_be_arrays(groups):
    plain = explained(groups=[[0, 1], [2, 3]])
    np.testing.assert_array_equal(explained(groups=groups).values, plain.values)


UNFITTED = [
    linear_model.LinearRegression(),
    pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    svm.SVC(),
    ensemble.RandomForestRegressor(),
    ensemble.HistGradientBoostingClassifier(),
    ensemble.IsolationForest(),
    xgboost.XGBClassifier(),
    xgboost.Booster(),
    lightgbm.LGBMRegressor(),
    catboost.CatBoostClassifier(),
]


@pytest.mark.parametrize("unfitted", UNFITTED, ids=lambda model: type(model).__name__)
def test_an_unfitted_model_is_to_be_fitted_first(unfitted):
    for call in (
        lambda: jaxshap.explain(unfitted, ROWS, BACKGROUND),
        lambda: jaxshap.explain(unfitted, ROWS, BACKGROUND, estimator=jaxshap.Kernel()),
        lambda: jaxshap.explain(unfitted.predict, ROWS, BACKGROUND),
    ):
        with pytest.raises(UnsupportedModelError, match="fit it first"):
            call()


@pytest.mark.parametrize(
    "error",
    [
        jaxshap.EvaluationError("the model failed", np.arange(3.0)),
        jaxshap.Interrupted(np.arange(3.0), 8),
    ],
)
def test_errors_keep_what_was_evaluated_on_their_way_from_a_worker(error):
    error.explanation = explained()
    carried = pickle.loads(pickle.dumps(error))
    assert type(carried) is type(error)
    assert str(carried) == str(error)
    np.testing.assert_array_equal(carried.worths, error.worths)
    np.testing.assert_array_equal(carried.explanation.values, error.explanation.values)
    budget = pickle.loads(pickle.dumps(jaxshap.BudgetError("too little", 7)))
    assert (str(budget), budget.needed) == ("too little", 7)


def test_every_error_and_warning_survives_pickling():
    for kind in vars(jaxshap.errors).values():
        is_error = isinstance(kind, type) and issubclass(kind, BaseException)
        if is_error and kind not in (jaxshap.EvaluationError, jaxshap.Interrupted):
            carried = pickle.loads(pickle.dumps(kind("what happened")))
            assert (type(carried), str(carried)) == (kind, "what happened")
