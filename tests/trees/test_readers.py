"""Readers of other libraries' trees against their own margins, the marginal game, and shap."""

import pkgutil

import catboost
import jax
import lightgbm
import numpy as np
import pytest
import shap
import xgboost
from sklearn import ensemble, tree
from sklearn.linear_model import LinearRegression

import jaxshap
from jaxshap.trees import readers
from jaxshap.trees.interventional_values import interventional
from jaxshap.trees.path_dependent_values import path_dependent
from jaxshap.trees.readers import registry, xgboost_trees
from jaxshap.trees.readers.registry import is_tree_model, read_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] * (X[:, 4] > 0)
CLASSES = np.digitize(Y, np.quantile(Y, [0.33, 0.66]))
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
CODED = np.column_stack([RNG.integers(0, 9, 400), X[:, 1:]])
OF_CODE = RNG.normal(size=9)[CODED[:, 0].astype(int)] * (1 + CODED[:, 1])
WEIGHTS = RNG.uniform(0.1, 3, 400)
LGB = {"n_estimators": 12, "num_leaves": 8, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}
CAT = {"iterations": 10, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
XGB = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1}


def scores(model, rows):
    return model.predict(rows)


def probabilities(model, rows):
    return model.predict_proba(rows)


def decisions(model, rows):
    return model.decision_function(rows)


def xgb_margin(model, rows):
    return model.predict(rows, output_margin=True)


def lgb_margin(model, rows):
    return model.predict(rows, raw_score=True)


def cat_margin(model, rows):
    return model.predict(rows, prediction_type="RawFormulaVal")


def fitted(model, rows=X, target=Y, **options):
    return lambda: (model.fit(rows, target, **options), rows)


def categorical(kind):
    def fit():
        if kind == "lightgbm":
            options = {**LGB, "min_data_per_group": 5, "cat_smooth": 1.0, "max_cat_to_onehot": 2}
            model = lightgbm.LGBMRegressor(**options).fit(CODED, OF_CODE, categorical_feature=[0])
        elif kind == "sklearn":
            holes = np.where(RNG.random(CODED.shape) < 0.1, np.nan, CODED)
            middle = 3 * holes[:, 0]  # codes with gaps, in the middle column
            table = np.column_stack([holes[:, 1:3], middle, holes[:, 3:]])
            model = ensemble.HistGradientBoostingRegressor(
                max_iter=12, categorical_features=[2], min_samples_leaf=5
            )
            model.fit(table, OF_CODE)
            table[:5, 2] = 100  # a category that it never saw
            return model, table
        else:
            types = ["c", "q", "q", "q", "q"]
            model = xgboost.XGBRegressor(
                **XGB,
                feature_types=types,
                enable_categorical=True,
                max_cat_to_onehot=1,
                tree_method="hist",
            ).fit(CODED, OF_CODE)
        return model, CODED

    return fit


MODELS = {
    "DecisionTreeRegressor": (fitted(tree.DecisionTreeRegressor(max_depth=5)), scores),
    "DecisionTreeClassifier": (
        fitted(tree.DecisionTreeClassifier(max_depth=4), target=CLASSES),
        probabilities,
    ),
    "RandomForestRegressor": (
        fitted(ensemble.RandomForestRegressor(8, max_depth=6), sample_weight=WEIGHTS),
        scores,
    ),
    "RandomForestRegressor, missing": (
        fitted(ensemble.RandomForestRegressor(8, max_depth=5), HOLES),
        scores,
    ),
    "RandomForestRegressor, two outputs": (
        fitted(ensemble.RandomForestRegressor(5, max_depth=4), target=np.stack([Y, Y**2], 1)),
        scores,
    ),
    "RandomForestClassifier": (
        fitted(ensemble.RandomForestClassifier(8, max_depth=5), target=CLASSES),
        probabilities,
    ),
    "ExtraTreesClassifier": (
        fitted(ensemble.ExtraTreesClassifier(8, max_depth=5), target=Y > 0),
        probabilities,
    ),
    "GradientBoostingRegressor": (
        fitted(ensemble.GradientBoostingRegressor(n_estimators=12)),
        scores,
    ),
    "GradientBoostingClassifier, two": (
        fitted(ensemble.GradientBoostingClassifier(n_estimators=9), target=Y > 0),
        decisions,
    ),
    "GradientBoostingClassifier, three": (
        fitted(ensemble.GradientBoostingClassifier(n_estimators=9), target=CLASSES),
        decisions,
    ),
    "HistGradientBoostingRegressor": (
        fitted(ensemble.HistGradientBoostingRegressor(max_iter=12), HOLES),
        scores,
    ),
    "HistGradientBoostingClassifier": (
        fitted(ensemble.HistGradientBoostingClassifier(max_iter=8), HOLES, CLASSES),
        decisions,
    ),
    "HistGradientBoostingRegressor, categories": (categorical("sklearn"), scores),
    "XGBRegressor": (fitted(xgboost.XGBRegressor(**XGB), HOLES, sample_weight=WEIGHTS), xgb_margin),
    "XGBClassifier, two": (fitted(xgboost.XGBClassifier(**XGB), HOLES, Y > 0), xgb_margin),
    "XGBClassifier, three": (fitted(xgboost.XGBClassifier(**XGB), HOLES, CLASSES), xgb_margin),
    "XGBRegressor, poisson": (
        fitted(
            xgboost.XGBRegressor(**XGB, objective="count:poisson"), HOLES, np.round(np.exp(Y / 2))
        ),
        xgb_margin,
    ),
    "XGBRegressor, categories": (categorical("xgboost"), xgb_margin),
    "LGBMRegressor": (fitted(lightgbm.LGBMRegressor(**LGB), HOLES), lgb_margin),
    "LGBMRegressor, nothing missing": (fitted(lightgbm.LGBMRegressor(**LGB)), lgb_margin),
    "LGBMClassifier, two": (fitted(lightgbm.LGBMClassifier(**LGB), HOLES, Y > 0), lgb_margin),
    "LGBMClassifier, three": (fitted(lightgbm.LGBMClassifier(**LGB), HOLES, CLASSES), lgb_margin),
    "LGBMRegressor, categories": (categorical("lightgbm"), lgb_margin),
    "CatBoostRegressor": (fitted(catboost.CatBoostRegressor(**CAT), HOLES), cat_margin),
    "CatBoostRegressor, large": (
        fitted(catboost.CatBoostRegressor(**CAT, nan_mode="Max"), HOLES),
        cat_margin,
    ),
    "CatBoostClassifier, two": (
        fitted(catboost.CatBoostClassifier(**CAT), HOLES, Y > 0),
        cat_margin,
    ),
    "CatBoostClassifier, three": (
        fitted(catboost.CatBoostClassifier(**CAT), HOLES, CLASSES),
        cat_margin,
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_margins_and_values_are_those_of_the_library(name):
    fit, margin_of = MODELS[name]
    model, rows = fit()

    def margin(table):
        return np.asarray(margin_of(model, table), float).reshape(len(table), -1)

    with jax.enable_x64(True):
        found = read_trees(model)
        precise = 1e-10 if "XGB" not in name else 2e-6  # XGBoost sums in float32
        np.testing.assert_allclose(found.predict(rows), margin(rows), atol=precise)
        some, background = rows[:3], rows[100:112]
        game = jaxshap.marginal(jaxshap.host(margin), some, background)
        exact = np.moveaxis(jaxshap.shapley_values(game), 0, 1)
        np.testing.assert_allclose(interventional(found, some, background), exact, atol=2 * precise)


SHAP_READS = [
    name
    for name in MODELS
    if "categories" not in name and name != "GradientBoostingClassifier, three"
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAP_READS)
def test_path_dependent_values_are_those_of_shap(name):
    model, rows = MODELS[name][0]()
    expected = np.asarray(
        shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").shap_values(rows[:20])
    )
    values = np.asarray(path_dependent(read_trees(model), rows[:20]))
    np.testing.assert_allclose(values, expected.reshape(values.shape), atol=2e-5)


def test_a_float64_row_on_a_threshold_goes_the_library_s_way_in_float32():
    model = lightgbm.LGBMRegressor(**LGB).fit(X, Y)
    found = read_trees(model)
    feature, thresholds = max(enumerate(found.structure.thresholds), key=lambda pair: len(pair[1]))
    rows = np.repeat(X[:1], 2 * len(thresholds), axis=0)
    beyond = np.nextafter(thresholds, np.inf)  # by one step of float64
    rows[:, feature] = np.concatenate([thresholds, beyond])
    np.testing.assert_allclose(found.predict(rows)[:, 0], model.predict(rows), atol=1e-5)


def test_what_cannot_be_read_is_refused_by_name():
    with pytest.raises(TypeError, match="LinearRegression is not a tree model"):
        read_trees(LinearRegression().fit(X, Y))
    assert not is_tree_model(lambda x: x)
    refused = {
        "gblinear": lambda: xgboost.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, Y),
        "boosting_type='rf'": lambda: lightgbm.LGBMRegressor(
            **LGB, boosting_type="rf", bagging_freq=1, bagging_fraction=0.5
        ).fit(X, Y),
        "zero_as_missing": lambda: lightgbm.LGBMRegressor(**LGB, zero_as_missing=True).fit(X, Y),
        "`init`": lambda: ensemble.GradientBoostingRegressor(
            init=LinearRegression(), n_estimators=2
        ).fit(X, Y),
        "one_output_per_tree": lambda: xgboost.XGBRegressor(
            **XGB, multi_strategy="multi_output_tree", tree_method="hist"
        ).fit(X, np.stack([Y, -Y], 1)),
        "SymmetricTree": lambda: catboost.CatBoostRegressor(**CAT, grow_policy="Depthwise").fit(
            X, Y
        ),
        "coded|codes them": lambda: catboost.CatBoostRegressor(**CAT, cat_features=[0]).fit(
            np.column_stack([CODED[:, 0].astype(int).astype(object), CODED[:, 1:].astype(object)]),
            OF_CODE,
        ),
    }
    for message, fit in refused.items():
        with pytest.raises(ValueError, match=message):
            read_trees(fit())


def test_weights_of_dropped_trees_are_found_where_xgboost_stores_them_before_and_since_3_4():
    trees, weights = [{}, {}], [1.0, 0.5]
    before = {"name": "dart", "gbtree": {"model": {"trees": trees}}, "weight_drop": weights}
    since = {"name": "gbtree", "model": {"trees": trees, "weight_drop": weights}}
    none = {"name": "gbtree", "model": {"trees": trees}}
    read = [xgboost_trees._content(booster)[1] for booster in (before, since, none)]
    assert read == [weights, weights, [1.0, 1.0]]


def test_every_file_of_a_library_is_listed_in_the_registry():
    names = [module.name for module in pkgutil.iter_modules(readers.__path__)]
    files = set(names) - {"reader", "registry"}
    listed = {reader.read.__module__ for reader in registry.READERS}
    assert listed == {f"{readers.__name__}.{name}" for name in files}


class TestExplain:
    def test_a_background_makes_it_interventional_and_none_path_dependent(self):
        model = ensemble.RandomForestRegressor(6, max_depth=5, random_state=0).fit(X, Y)
        with_background = jaxshap.explain(model, X[:4], X[50:60])
        without = jaxshap.explain(model, X[:4])
        expected = interventional(read_trees(model), X[:4], X[50:60])[..., 0]
        np.testing.assert_allclose(with_background.values, expected)
        assert with_background.value_function == "interventional"
        assert without.value_function == "path-dependent"
        for ex in (with_background, without):
            np.testing.assert_allclose(
                ex.values.sum(1) + ex.base_values, model.predict(X[:4]), atol=1e-5
            )
            assert not ex.std_error.any()
            assert ex.num_evaluations == 0
            assert "(exact)" in repr(ex)

    def test_an_estimator_still_samples_and_agrees(self):
        model = ensemble.RandomForestRegressor(6, max_depth=5, random_state=0).fit(X, Y)
        exact = jaxshap.explain(model, X[:4], X[50:60])
        sampled = jaxshap.explain(model, X[:4], X[50:60], estimator=jaxshap.Exact(), budget=32)
        np.testing.assert_allclose(exact.values, sampled.values, atol=1e-5)
        assert sampled.num_evaluations == 32

    def test_margins_of_classifiers_say_so(self):
        model = lightgbm.LGBMClassifier(**LGB).fit(X, Y > 0)
        explained = jaxshap.explain(model, X[:2], X[:9])
        assert explained.value_function == "interventional (logit margin)"
        names = jaxshap.explain(lightgbm.LGBMClassifier(**LGB).fit(X, CLASSES), X[:2]).output_names
        assert names == ("0", "1", "2")

    def test_what_does_not_fit_is_refused(self):
        model = ensemble.RandomForestRegressor(2, max_depth=2).fit(X, Y)
        with pytest.raises(ValueError, match="need no checkpoint"):
            jaxshap.explain(model, X[:2], checkpoint="worths.bin")
        with pytest.raises(ValueError, match="pass background="):
            jaxshap.explain(model, X[:2], groups=[[0, 1]])
        with pytest.raises(ValueError, match="pass background="):
            jaxshap.explain(lambda rows: rows.sum(1), X[:2])
        with pytest.raises(ValueError, match="2 output_names"):
            jaxshap.explain(model, X[:2], output_names=["a", "b"])
