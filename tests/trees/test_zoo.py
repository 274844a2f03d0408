"""Every library, objective and option that changes a prediction: read exactly or refused."""

import re

import catboost
import jax
import lightgbm
import numpy as np
import pandas as pd
import pytest
import trees_oracle as oracle
import xgboost
from sklearn import ensemble, tree
from zoo_cases import (
    CASES,
    CAT,
    HIST,
    LETTERS,
    LGB,
    NAMED,
    NUMBERS,
    TWO,
    XGB,
    YES,
    X,
    Y,
    column,
)

from jaxshap.errors import InputError, UnsupportedModelError
from jaxshap.trees import interventional, read_trees

pytestmark = pytest.mark.filterwarnings("ignore")
MODELS = {}


def model_of(name):
    """Fitted once per case."""
    if name not in MODELS:
        MODELS[name] = CASES[name].fit()
    return MODELS[name]


def raw_of(name, rows):
    raw = CASES[name].raw(model_of(name), rows)
    return np.asarray(raw, np.float64).reshape(len(rows), -1)


def mixed(row, background, rows):
    """Rows of all coalitions and background rows: present features from `row`, absent ones not."""
    members = np.arange(16)[:, None, None] >> np.arange(4) & 1
    source = np.where(members == 1, row, np.asarray(background)[:, None]).reshape(-1, 4)
    if not isinstance(rows, pd.DataFrame):
        return rows[source, np.arange(4)]
    columns = {name: rows[name].take(source[:, at]).array for at, name in enumerate(rows)}
    return pd.DataFrame(columns)


@pytest.mark.parametrize("name", CASES)
def test_the_trees_are_those_of_the_model(name):
    """Margins on all rows, values on two of them by brute force over the model's own prediction."""
    rows, tolerance = CASES[name].rows, 5e-6 if name.startswith("xgboost") else 1e-9
    with jax.enable_x64(True):
        trees = read_trees(model_of(name))
        np.testing.assert_allclose(trees.predict(rows), raw_of(name, rows), atol=tolerance)
        assert trees.structure.link == CASES[name].link
        explained, background = [0, 7], [11, 23, 35]
        values = interventional(trees, _take(rows, explained), _take(rows, background))
    for row, of_row in zip(explained, values, strict=True):
        worths = raw_of(name, mixed(row, background, rows)).reshape(16, 3, -1).mean(1)
        np.testing.assert_allclose(of_row, oracle.shapley(worths), atol=2 * tolerance)


def _take(rows, numbers):
    return rows.iloc[numbers] if isinstance(rows, pd.DataFrame) else rows[numbers]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.rows is NAMED])
def test_columns_of_a_frame_are_matched_by_name(name):
    trees = read_trees(model_of(name))
    turned = NAMED[["d", "b", "first one", "c"]]
    np.testing.assert_array_equal(trees.predict(turned), trees.predict(NAMED))


REFUSED = {
    "IsolationForest": lambda: ensemble.IsolationForest(n_estimators=3).fit(X),
    "linear_tree=True": lambda: lightgbm.LGBMRegressor(**LGB, linear_tree=True).fit(X, Y),
    "boosting_type='rf'": lambda: lightgbm.LGBMRegressor(
        **LGB, boosting_type="rf", bagging_freq=1, bagging_fraction=0.5
    ).fit(X, Y),
    "zero_as_missing=True": lambda: lightgbm.LGBMRegressor(**LGB, zero_as_missing=True).fit(X, Y),
    "'gblinear' is not read": lambda: xgboost.XGBRegressor(booster="gblinear").fit(X, Y),
    "one_output_per_tree": lambda: xgboost.XGBRegressor(
        **XGB, multi_strategy="multi_output_tree", tree_method="hist"
    ).fit(X, TWO),
    "grow_policy='SymmetricTree'": lambda: catboost.CatBoostRegressor(
        **CAT, grow_policy="Lossguide"
    ).fit(X, Y),
    "categorical features": lambda: catboost.CatBoostRegressor(**CAT, cat_features=["b"]).fit(
        column(LETTERS), Y
    ),
    "text and embedding features": lambda: catboost.CatBoostClassifier(
        **CAT, text_features=["b"]
    ).fit(NAMED.assign(b=[f"{letter} word" for letter in LETTERS]), YES),
    "integers or text": lambda: ensemble.HistGradientBoostingRegressor(**HIST).fit(
        column(NUMBERS / 2), Y
    ),
}
UNFITTED = [
    tree.DecisionTreeClassifier,
    ensemble.ExtraTreesRegressor,
    ensemble.GradientBoostingRegressor,
    ensemble.HistGradientBoostingClassifier,
    ensemble.IsolationForest,
    xgboost.XGBRegressor,
    xgboost.Booster,
    lightgbm.LGBMClassifier,
    catboost.CatBoostRegressor,
    catboost.CatBoost,
]


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_read_is_refused_by_name(message):
    with pytest.raises(UnsupportedModelError, match=re.escape(message)):
        read_trees(REFUSED[message]())


@pytest.mark.parametrize("kind", UNFITTED)
def test_a_model_that_is_not_fitted_is_told_so(kind):
    with pytest.raises(UnsupportedModelError, match=f"this {kind.__name__} has no .* fit it first"):
        read_trees(kind())


def test_columns_that_the_model_does_not_know_are_refused():
    trees = read_trees(model_of("xgboost, booster"))
    with pytest.raises(InputError, match=r"lacks the columns \['d'\]"):
        trees.predict(NAMED.rename(columns={"d": "e"}))
    nameless = read_trees(model_of("tree"))
    np.testing.assert_array_equal(nameless.predict(NAMED), nameless.predict(X))


def test_labels_that_xgboost_has_not_seen_are_refused():
    trees = read_trees(model_of("xgboost, categories of letters"))
    with pytest.raises(InputError, match=r"'b' has labels .* \['unseen'\]"):
        trees.predict(column(np.where(X[:, 0] < 0, "unseen", LETTERS)))


def test_numbers_of_a_frame_are_codes_and_stay_what_they_are():
    for name in ("xgboost", "lightgbm", "histograms"):
        case = f"{name}, categories of letters"
        trees, rows = read_trees(model_of(case)), CASES[case].rows
        numbers = trees.numbers(rows)
        assert numbers["b"].dtype == np.float64
        pd.testing.assert_frame_equal(trees.numbers(numbers), numbers)
        np.testing.assert_array_equal(trees.predict(numbers), trees.predict(rows))


@pytest.mark.parametrize(
    "name",
    ["xgboost, missing 0", "xgboost, fractions", "lightgbm, fractions", "histograms, fractions"],
)
def test_traced_rows_take_the_same_paths(name):
    trees, rows = read_trees(model_of(name)), np.float32(CASES[name].rows)
    np.testing.assert_array_equal(jax.jit(trees.predict)(rows), trees.predict(rows))
