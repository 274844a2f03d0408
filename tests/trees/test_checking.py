"""The guard: trees whose sum is not the model's own raw prediction are never explained."""

import dataclasses

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn import ensemble
from zoo_cases import (
    CASES,
    CATEGORICAL,
    CLASSES,
    FEW,
    HOLES,
    LETTERS,
    LGB,
    NAMED,
    OF_CODE,
    ORDER,
    POSITIVE,
    YES,
    X,
    Y,
    column,
)

import jaxshap
from jaxshap.errors import UnsupportedModelError
from jaxshap.trees import check_reading, interventional, read_trees

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", CASES)
def test_trees_that_are_read_right_pass_in_float32(name):
    model, rows = CASES[name].fit(), CASES[name].rows
    check_reading(read_trees(model), model, rows)


def test_large_sums_in_float32_pass():
    many = {"n_estimators": 300, "learning_rate": 0.05, "max_depth": 3, "n_jobs": 1}
    model = xgboost.XGBRegressor(**many).fit(X, 1e6 + 1e4 * Y)
    check_reading(read_trees(model), model, X)


@pytest.mark.parametrize("name", ["forest", "lightgbm, regression", "xgboost, classes"])
def test_a_leaf_that_differs_is_found(name):
    model, rows = CASES[name].fit(), CASES[name].rows
    trees = read_trees(model)
    other = dataclasses.replace(trees, values=trees.values.at[0, 0].add(1e-4))
    with pytest.raises(UnsupportedModelError, match=r"by up to 0\.0001: one of its options"):
        check_reading(other, model, rows)
    fewer = dataclasses.replace(trees, base=trees.base[:1])
    if len(trees.base) > 1:
        structure = dataclasses.replace(trees.structure, num_outputs=1)
        with pytest.raises(UnsupportedModelError, match="3 outputs, and its trees were read as 1"):
            check_reading(dataclasses.replace(fewer, structure=structure), model, rows)


def test_an_option_that_the_trees_do_not_show_is_refused_by_name():
    stops = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.01}
    model = lightgbm.LGBMClassifier(**LGB, **stops).fit(X, YES)
    with pytest.raises(UnsupportedModelError) as refusal:
        jaxshap.explain(model, X[:3], X)
    text = refusal.value.args[0]
    assert text.startswith("LGBMClassifier(")
    assert "pred_early_stop=True" in text
    assert "learning_rate" not in text, "a default is not worth mentioning"
    jaxshap.explain(model, X[:3], X[:5], estimator=jaxshap.Exact())


def test_the_background_is_checked_too():
    """This model takes no missing values, as only its own prediction knows."""
    model = ensemble.GradientBoostingRegressor(**FEW).fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        jaxshap.explain(model, X[:3], HOLES)


class TestExplain:
    def test_frames_are_matched_by_name_and_coded_as_the_model_codes_them(self):
        rows = column(LETTERS, categories=ORDER)
        model = lightgbm.LGBMRegressor(**LGB, **CATEGORICAL).fit(rows, OF_CODE)
        turned = rows[["d", "b", "first one", "c"]]
        explained = jaxshap.explain(model, turned.iloc[:3], turned.iloc[5:12])
        assert explained.feature_names == ("first one", "b", "c", "d")
        np.testing.assert_array_equal(explained.data[:, 1], rows["b"].cat.codes[:3])
        expected = interventional(read_trees(model), rows.iloc[:3], rows.iloc[5:12])
        np.testing.assert_array_equal(explained.values, expected[..., 0])
        total = explained.values.sum(1) + explained.base_values
        np.testing.assert_allclose(total, model.predict(rows.iloc[:3]), atol=1e-5)

    def test_a_native_booster_matches_frames_by_name(self):
        booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(NAMED, Y), 3)
        turned = NAMED[["d", "c", "b", "first one"]]
        plain, other = (
            jaxshap.explain(booster, frame[:3], frame[5:9]) for frame in (NAMED, turned)
        )
        np.testing.assert_array_equal(plain.values, other.values)
        assert other.feature_names == tuple(NAMED)
        with pytest.raises(jaxshap.InputError, match="lacks the columns"):
            jaxshap.explain(booster, turned.rename(columns={"d": "e"}), turned)

    def test_names_of_an_array_are_those_that_are_given(self):
        model = lightgbm.LGBMRegressor(**LGB).fit(X, Y)
        names = ("p", "q", "r", "s")
        assert jaxshap.explain(model, X[:3], feature_names=names).feature_names == names
        frame = pd.DataFrame(X[:3], columns=names)
        assert jaxshap.explain(model, frame).feature_names == names

    def test_margins_say_so(self):
        links = {
            "softmax": lightgbm.LGBMClassifier(**LGB).fit(X, CLASSES),
            "log": lightgbm.LGBMRegressor(**LGB, objective="poisson").fit(X, POSITIVE),
            "logit": ensemble.GradientBoostingClassifier(**FEW).fit(X, YES),
        }
        for link, model in links.items():
            name = jaxshap.explain(model, X[:2], X[:5]).value_function
            assert name == f"interventional ({link} margin)"
        forest = ensemble.RandomForestClassifier(**FEW).fit(X, CLASSES)
        assert jaxshap.explain(forest, X[:2]).value_function == "path-dependent"

    def test_an_isolation_forest_is_refused_by_name(self):
        model = ensemble.IsolationForest(n_estimators=3, random_state=0).fit(X)
        with pytest.raises(UnsupportedModelError, match=r"IsolationForest .*score_samples"):
            jaxshap.explain(model, X[:3], X[:5])
        explained = jaxshap.explain(model.score_samples, X[:3], X[:5])
        total = explained.values.sum(1) + explained.base_values
        np.testing.assert_allclose(total, model.score_samples(X[:3]), atol=1e-5)
