"""Models from files: pipelines with text, tree ensembles, XGBoost, LightGBM and ONNX."""

import joblib
import numpy as np
import pandas as pd
import pytest
from command_line import NUMBERS, check_written, customers, explain, page_of, refused
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import jaxshap

FEATURES = [*NUMBERS, "city"]
MARGIN = "raw margin of the trees"


def fitted_pipeline(frame):
    columns = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    return make_pipeline(columns, LogisticRegression()).fit(frame[FEATURES], frame.churned)


def check_totals(explanation, predictions, **tolerance):
    totals = explanation.base_values + explanation.values.sum(1)
    np.testing.assert_allclose(totals, predictions, **tolerance)


def test_a_pipeline_that_was_fitted_on_text_gets_its_text_back(folder):
    frame = customers()
    model = fitted_pipeline(frame)
    joblib.dump(model, "pipe.joblib")
    options = "--target churned --background train.csv --rows 5 --quiet --out o"
    assert explain(f"pipe.joblib customers.csv {options}") == 0
    loaded = jaxshap.load(folder / "o" / "explanation.npz")
    assert loaded.feature_names == tuple(FEATURES)
    assert loaded.output_names == ("no", "yes")
    check_totals(loaded, model.predict_proba(frame[FEATURES][:5]), atol=1e-5)
    cities = np.array(["Hull", "Leeds", "York"])
    codes = {name: code for code, name in enumerate(cities)}
    by_hand = frame[FEATURES].assign(city=frame.city.map(codes)).to_numpy(float)

    def predict(rows):
        names = cities[np.asarray(rows)[:, 3].astype(int)]
        return model.predict_proba(pd.DataFrame(rows, columns=FEATURES).assign(city=names))

    expected = jaxshap.explain(jaxshap.host(predict), by_hand[:5], by_hand[20:50])
    np.testing.assert_allclose(loaded.values, expected.values, atol=1e-6)
    page = page_of(folder / "o")
    assert '"Leeds"' in page
    assert "Left out, since the model does not know them: id." in page


def test_missing_text_stays_missing(folder, capsys):
    frame = customers()
    frame.loc[[1, 30], "city"] = None
    frame.to_csv("customers.csv", index=False)
    frame = pd.read_csv("customers.csv")
    model = fitted_pipeline(frame)
    joblib.dump(model, "pipe.pkl")
    assert explain("pipe.pkl customers.csv --target churned --rows 3 --quiet --out o") == 0
    assert capsys.readouterr() == ("", "")  # its diagnosis did not fail
    loaded = jaxshap.load(folder / "o" / "explanation.npz")
    check_totals(loaded, model.predict_proba(frame[FEATURES][:3]), atol=1e-5)


def test_text_for_a_model_of_numbers_is_refused(folder, capsys):
    message = refused(capsys, "scoring:in_jax customers.csv --target churned --drop id")
    assert "['city'] are not numbers" in message
    assert "--drop" in message


def test_trees_without_a_background_are_path_dependent_and_the_report_says_why_undiagnosed(folder):
    frame = customers()
    model = GradientBoostingClassifier(n_estimators=5).fit(frame[NUMBERS], frame.churned)
    joblib.dump(model, "boost.joblib")
    assert explain("boost.joblib customers.csv --target churned --quiet --budget 50") == 0
    page, _ = check_written(folder / "jaxshap-report", jaxshap.explain(model, frame[NUMBERS]))
    assert "path-dependent" in page
    assert "come from training counts in the trees" in page
    assert MARGIN in page
    assert "were not needed" in page


def test_trees_with_a_background_are_interventional_and_diagnosed(folder, monkeypatch):
    monkeypatch.setattr("jaxshap.cli.run.MAX_DIAGNOSED_TREE_ROWS", 4)
    numbers, labels = customers()[NUMBERS].to_numpy(), customers().churned
    model = RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(numbers, labels)
    joblib.dump(model, "forest.joblib")
    options = "--target churned --background train.csv --rows 6 --output yes --quiet"
    assert explain(f"forest.joblib numbers.csv {options}") == 0
    expected = jaxshap.explain(model, numbers[:6], numbers[20:50])[:, :, "yes"]
    assert expected.feature_names == ("x0", "x1", "x2")
    named = jaxshap.load("jaxshap-report/explanation.npz")
    np.testing.assert_array_equal(named.values, expected.values)
    assert named.feature_names == tuple(NUMBERS)
    page = page_of(folder / "jaxshap-report")
    assert MARGIN not in page  # a forest returns the probability itself
    assert "the first 4 rows" in page
    assert "Off-manifold share" in page


def forest_of_several_targets(numbers):
    targets = np.stack([numbers[:, 0], numbers[:, 1] * numbers[:, 2]], axis=1)
    return RandomForestRegressor(n_estimators=3, random_state=0).fit(numbers, targets)


def boosted_classes(numbers):
    return GradientBoostingClassifier(n_estimators=2).fit(numbers, numbers[:, 0] // 30)


def catboost_classes(numbers):
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 3, "depth": 2, "verbose": False, "allow_writing_files": False}
    return catboost.CatBoostClassifier(**options).fit(numbers, numbers[:, 0] // 30)


@pytest.mark.parametrize(
    ("fit", "is_margin"),
    [(forest_of_several_targets, False), (boosted_classes, True), (catboost_classes, True)],
)
def test_only_sums_of_trees_before_a_link_are_called_margins(folder, fit, is_margin):
    joblib.dump(fit(customers()[NUMBERS].to_numpy()), "model.joblib")
    assert explain("model.joblib numbers.csv --target churned --quiet") == 0
    assert (MARGIN in page_of(folder / "jaxshap-report")) == is_margin


def test_an_estimator_samples_the_predictions_of_trees(folder):
    xgboost = pytest.importorskip("xgboost")
    frame = customers()
    model = xgboost.XGBClassifier(n_estimators=4, max_depth=2)
    model.fit(frame[NUMBERS], (frame.churned == "yes").astype(int)).save_model("model.json")
    options = "--target churned --estimator kernel --rows 4 --quiet --no-diagnose"
    assert explain(f"model.json numbers.csv {options}") == 0
    loaded = jaxshap.load("jaxshap-report/explanation.npz")
    check_totals(loaded, model.predict_proba(frame[NUMBERS][:4])[:, 1], atol=1e-5)


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_xgboost_files(folder, suffix):
    xgboost = pytest.importorskip("xgboost")
    features = customers()[NUMBERS[::-1]]
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(features, features.age // 30)
    model.save_model(f"model.{suffix}")
    assert explain(f"model.{suffix} numbers.csv --target churned --quiet") == 0
    page, data = check_written(folder / "jaxshap-report", jaxshap.explain(model, features))
    assert data["outputs"] == ["0", "1", "2"]
    assert MARGIN in page
    assert "xgboost " in page


def test_lightgbm_files_whose_names_have_no_blanks(folder):
    lightgbm = pytest.importorskip("lightgbm")
    frame = customers()
    model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=3, verbose=-1)
    booster = model.fit(frame[NUMBERS], frame.age).booster_
    booster.save_model("model.txt")
    assert explain("model.txt customers.csv --target churned --quiet") == 0
    check_written(folder / "jaxshap-report", jaxshap.explain(booster, frame[NUMBERS]))


def test_lightgbm_files_without_names_go_by_position(folder, capsys):
    lightgbm = pytest.importorskip("lightgbm")
    frame = customers()
    numbers = frame[NUMBERS].to_numpy()
    model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=3, verbose=-1)
    model.fit(numbers, frame.age).booster_.save_model("model.txt")
    joblib.dump(model, "model.joblib")
    for name in ("model.txt", "model.joblib"):
        line = f"{name} customers.csv --target churned --out {name}-report"
        assert "expects 3 columns and DATA has 5" in refused(capsys, line)
        assert explain(f"{line} --drop id --drop city --quiet") == 0
        loaded = jaxshap.load(f"{name}-report/explanation.npz")
        assert loaded.feature_names == tuple(NUMBERS)
        check_totals(loaded, model.predict(numbers), rtol=1e-5)


def onnx_file(path, matrix, kind="float", rows="rows"):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, dtype = onnx.helper, getattr(onnx.TensorProto, kind.upper())
    inputs = helper.make_tensor_value_info("x", dtype, [rows, matrix.shape[0]])
    labels = helper.make_tensor_value_info("label", onnx.TensorProto.INT64, [rows])
    scores = helper.make_tensor_value_info("scores", dtype, [rows, matrix.shape[1]])
    entries = matrix.astype(np.float64).ravel().tolist()
    weights = helper.make_tensor("w", dtype, matrix.shape, entries)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(nodes, "g", [inputs], [labels, scores], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


@pytest.mark.parametrize(("outputs", "kind"), [(1, "float"), (2, "double")])
def test_onnx_files(folder, outputs, kind):
    matrix = np.arange(1.0, 1 + 3 * outputs).reshape(3, outputs)
    onnx_file("model.onnx", matrix, kind)
    assert explain("model.onnx numbers.csv --target churned --rows 4 --quiet") == 0
    values = jaxshap.load("jaxshap-report/explanation.npz").values
    numbers = customers()[NUMBERS].to_numpy()
    expected = (numbers[:4] - numbers.mean(0))[:, :, None] * matrix
    expected = expected[..., 0] if outputs == 1 else expected
    np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-3)


def test_an_onnx_file_of_one_row_at_a_time_is_refused(folder, capsys):
    onnx_file("model.onnx", np.ones((3, 1)), rows=1)
    message = refused(capsys, "model.onnx numbers.csv --target churned")
    assert "export it with a free number of rows" in message
