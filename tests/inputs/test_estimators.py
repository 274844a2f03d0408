"""Fitted estimators as people have them: scores in place of probabilities, searches, pipelines."""

import numpy as np
import pandas as pd
import pytest

import jaxshap

pytest.importorskip("sklearn")
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 4)), columns=["a", "b", "c d", "e"])
YES = np.where(X["a"] + X["b"] > 0, "yes", "no")
HIST = HistGradientBoostingRegressor(max_iter=3, max_depth=2)
KINDS = np.digitize(X["a"], [-0.5, 0.5])


def explained(model):
    return jaxshap.explain(model, X[:2], X[:4])


def search(model):
    return GridSearchCV(model, {"n_jobs": [1]}, cv=2)


@pytest.mark.parametrize(
    "kind", [SVC, LinearSVC, RidgeClassifier, SGDClassifier, Perceptron], ids=lambda k: k.__name__
)
def test_classifiers_without_probabilities_are_explained_by_their_scores_and_say_so(kind):
    for labels, names in ((YES, None), (KINDS, ("0", "1", "2"))):
        model = kind().fit(X, labels)
        ex = explained(model)
        assert ex.value_function == "marginal (decision_function)"
        assert ex.output_names == names
        total = ex.base_values + ex.values.sum(1)
        np.testing.assert_allclose(total, model.decision_function(X[:2]), atol=1e-9)


def test_scores_of_pairs_of_classes_have_no_names_of_classes():
    kinds = np.digitize(X["a"], [-0.8, 0.0, 0.8])
    model = SVC(decision_function_shape="ovo").fit(X, kinds)
    assert explained(model).output_names is None
    assert explained(model).shape == (2, 4, 6)


def test_votes_are_shares_by_weight():
    members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    model = VotingClassifier(members, weights=[3, 1]).fit(X, YES)
    ex = explained(model)
    votes = [member.predict(X[:2].to_numpy()) for member in model.estimators_]
    shares = 0.75 * np.array(votes[0]) + 0.25 * np.array(votes[1])
    assert ex.value_function == "marginal (share of votes)"
    np.testing.assert_allclose((ex.base_values + ex.values.sum(1))[:, 1], shares, atol=1e-9)


@pytest.mark.parametrize("around", [make_pipeline, search])
def test_votes_at_the_end_of_a_pipeline_or_in_a_search_are_shares_too(around):
    members = [("linear", LogisticRegression()), ("ridge", RidgeClassifier())]
    voting = VotingClassifier(members, weights=[3, 1]).fit(X, YES)
    model = around(VotingClassifier(members, weights=[3, 1])).fit(X, YES)
    ex = explained(model)
    assert ex.value_function == "marginal (share of votes)"
    np.testing.assert_allclose(ex.values, explained(voting).values, atol=1e-9)


@pytest.mark.parametrize(
    "model", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(3, max_depth=3)]
)
def test_several_targets_stand_side_by_side(model):
    model.fit(X, np.stack([KINDS, KINDS > 0], axis=1))
    ex = explained(model)
    assert ex.output_names == ("0: 0", "0: 1", "0: 2", "1: 0", "1: 1")
    assert (ex.estimator == "trees") == isinstance(model, RandomForestClassifier)
    expected = np.concatenate(model.predict_proba(X[:2]), axis=1)
    np.testing.assert_allclose(ex.base_values + ex.values.sum(1), expected, atol=1e-6)
    sampled = jaxshap.explain(model, X[:2], X[:4], estimator=jaxshap.Exact())
    np.testing.assert_allclose(ex.values, sampled.values, atol=1e-6)


def test_a_chain_of_classifiers_has_one_output_per_target():
    model = ClassifierChain(LogisticRegression()).fit(X, np.stack([KINDS > 0, KINDS > 1], axis=1))
    ex = explained(model)
    total = ex.base_values + ex.values.sum(1)
    np.testing.assert_allclose(total, model.predict_proba(X[:2]), atol=1e-9)


def forest_pipeline():
    selection = SelectKBest(f_regression, k=2)
    return make_pipeline("passthrough", selection, RandomForestRegressor(3, random_state=0))


def columns_pipeline():
    chosen = make_column_transformer(("passthrough", ["e", "a"]), ("drop", ["b"]))
    return make_pipeline(chosen, DecisionTreeRegressor(max_depth=3, random_state=0))


@pytest.mark.parametrize("make", [forest_pipeline, columns_pipeline])
def test_a_pipeline_that_only_selects_columns_is_explained_by_its_trees(make):
    model = make().fit(X, X["a"] - X["e"])
    exact = explained(model)
    assert exact.estimator == "trees"
    assert exact.feature_names == tuple(X.columns)
    sampled = jaxshap.explain(model, X[:2], X[:4], estimator=jaxshap.Exact())
    np.testing.assert_allclose(exact.values, sampled.values, atol=1e-5)
    assert explained(model).values.shape == jaxshap.explain(model, X[:2]).values.shape


def test_a_search_is_explained_by_the_trees_that_it_found():
    search = GridSearchCV(RandomForestClassifier(2, random_state=0), {"max_depth": [2]}, cv=2)
    ex = explained(search.fit(X, YES))
    assert (ex.estimator, ex.output_names) == ("trees", ("no", "yes"))


def test_a_pipeline_that_does_more_than_select_is_sampled():
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2)).fit(X, X["a"])
    assert explained(model).estimator != "trees"


def test_names_that_lightgbm_rewrote_are_those_of_the_table_again():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=2, min_child_samples=5, verbose=-1).fit(X, KINDS)
    moved = X[["e", "c d", "b", "a"]]
    for ex in (
        jaxshap.explain(model, moved[:2], X[:4]),
        jaxshap.explain(model.predict_proba, X[:2], moved[:4], feature_names=None),
    ):
        assert sorted(ex.feature_names) == sorted(X.columns)
    sampled = jaxshap.explain(model, moved[:2], X[:4], estimator=jaxshap.Exact())
    total = sampled.base_values + sampled.values.sum(1)
    np.testing.assert_allclose(total, model.predict_proba(X[:2]), atol=1e-9)


def test_catboost_with_categories_is_explained_by_sampling():
    catboost = pytest.importorskip("catboost")
    frame = X.assign(town=RNG.choice(["Rome", "Oslo"], len(X)), code=RNG.integers(0, 3, len(X)))
    how = {"iterations": 3, "depth": 2, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**how, cat_features=["town", "code"])
    model.fit(frame, (frame["town"] == "Rome").astype(int))
    ex = jaxshap.explain(model, frame[:2], frame[:4])
    total = ex.base_values + ex.values.sum(1)
    np.testing.assert_allclose(total, model.predict_proba(frame[:2]), atol=1e-9)
    assert ex.display_data[0, 4] == frame["town"][0]


def test_trees_show_the_labels_behind_their_codes():
    lightgbm = pytest.importorskip("lightgbm")
    frame = X.assign(town=pd.Categorical(RNG.choice(["Rome", "Oslo"], len(X))))
    model = lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=5, verbose=-1)
    ex = jaxshap.explain(model.fit(frame, frame["town"] == "Rome"), frame[:3])
    assert ex.display_data[:, 4].tolist() == frame["town"][:3].tolist()


NULLABLE = X.convert_dtypes().assign(flag=pd.array(X["a"] > 0, dtype="boolean"))
NULLABLE.loc[[0, 30], ["a", "flag"]] = None
TABLES = {
    "nullable": NULLABLE,
    "arrow": NULLABLE.convert_dtypes(dtype_backend="pyarrow"),
    "truth": (X > 0).assign(a=X["a"]),
    "sparse": csr_matrix(X.where(X > 0, 0.0).to_numpy()),
}


@pytest.mark.parametrize("kind", TABLES)
def test_trees_take_every_table_that_their_model_takes(kind):
    table = TABLES[kind]
    model = RandomForestRegressor(3, max_depth=3) if kind == "sparse" else HIST
    ex = jaxshap.explain(model.fit(table, X["a"] + X["b"]), table[:3], table[:20])
    assert ex.estimator == "trees"
    total = ex.base_values + ex.values.sum(1)
    np.testing.assert_allclose(total, model.predict(table[:3]), atol=1e-5)
    assert kind != "nullable" or set(ex.display_data[:, -1]) <= {"missing", "True", "False"}


def test_a_column_that_is_lacking_is_named_as_the_model_knows_it_and_no_other():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=2, min_child_samples=5, verbose=-1).fit(X, X["a"])
    with pytest.raises(jaxshap.InputError, match=r"lacks the columns \['a'\] .* fitted with\.$"):
        jaxshap.explain(model, X[:2].drop(columns="a"))


def test_a_class_is_no_model_and_is_told_before_the_table_is_looked_at():
    with pytest.raises(jaxshap.InputError, match="is a class"):
        jaxshap.explain(LogisticRegression, "no table", None)
    with pytest.raises(jaxshap.InputError, match="a model is a function"):
        jaxshap.explain(3, "no table", None)
