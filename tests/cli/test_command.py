"""python -m jaxshap explain: models and tables from files, what is written, exit codes and what the
messages say.
"""

import builtins
import importlib.util
import json
import pickle
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import jaxshap
from jaxshap.__main__ import main

NUMBERS = ["age", "income k", "tenure"]
MODULE = """
import numpy as np, jax.numpy as jnp

def in_jax(rows):
    return jnp.tanh(rows[:, 0] / 50) * rows[:, 1] + rows[:, 2]

def three(rows):
    return jnp.stack([rows[:, 0], rows[:, 1] * rows[:, 2], rows[:, 2]], axis=1)

def on_host(rows):
    return np.asarray(rows, float)[:, 0] * 2 + np.asarray(rows, float)[:, 1]

class Holder:
    in_jax = staticmethod(in_jax)

def failing(rows):
    raise RuntimeError("no weights")

def labels(rows):
    return np.asarray(rows)[:, 0].astype(int)

calls = 0

def _stopping(error):
    def predict(rows):
        global calls
        calls += 1
        if calls > 8:
            raise error
        return np.asarray(rows, float).sum(1) + np.asarray(rows, float)[:, 0] ** 2
    return predict

interrupted = _stopping(KeyboardInterrupt())
halfway = _stopping(RuntimeError("the server went away"))
"""


def customers():
    rng = np.random.default_rng(0)
    count = 60
    frame = pd.DataFrame(
        {
            "id": np.arange(count),
            "age": rng.integers(18, 80, count),
            "income k": rng.lognormal(3, 0.5, count).round(1),
            "city": rng.choice(["Leeds", "York", "Hull"], count),
            "tenure": rng.exponential(4, count).round(1),
        }
    )
    score = (
        0.04 * (frame.age - 45)
        + (frame.city == "York")
        - 0.2 * frame.tenure
        + rng.normal(size=count)
    )
    return frame.assign(churned=np.where(score > 0, "yes", "no"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with tables and a module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("scoring", None)
    frame = customers()
    frame.to_csv("customers.csv", index=False)
    frame[[*NUMBERS, "churned"]].to_csv("numbers.csv", index=False)
    frame[20:50].to_csv("train.csv", index=False)
    (tmp_path / "scoring.py").write_text(MODULE)
    return tmp_path


def explain(line, *more):
    return main(["explain", *line.split(), *more])


def refused(capsys, line, *more):
    """The message of a call that ends with 2 and writes nothing."""
    try:
        code = explain(line, *more)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    return capsys.readouterr().err


def values_of(folder):
    (path,) = folder.glob("values.*")
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def check_written(folder, expected):
    """All files agree with an explanation."""
    found = jaxshap.load(folder / "explanation.npz")
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.std_error, expected.std_error)
    assert found.feature_names == expected.feature_names
    frame = values_of(folder)
    assert list(frame.columns) == list(expected.to_frame().columns)
    np.testing.assert_allclose(frame["value"], expected.to_frame()["value"], rtol=1e-6)
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["features"] == list(expected.feature_names)
    return found, page, data


def test_what_is_written_is_what_explain_returns(folder, capsys):
    line = "scoring:in_jax numbers.csv --target churned --background train.csv --rows 7 --budget 20 --estimator kernel"
    assert explain(line, "--key", "5") == 0
    import scoring

    numbers = pd.read_csv("numbers.csv")[NUMBERS]
    expected = jaxshap.explain(
        scoring.in_jax,
        numbers[:7],
        pd.read_csv("train.csv")[NUMBERS],
        estimator=jaxshap.Kernel(),
        budget=20,
        key=5,
    )
    _, page, data = check_written(folder / "jaxshap-report", expected)
    assert data["labels"] == customers().churned[:7].tolist()
    assert "all 30 rows of train.csv" in page
    assert str(folder) not in page
    printed = capsys.readouterr()
    assert "Explaining the first 7 of 60 rows of numbers.csv" in printed.out
    assert "Written to jaxshap-report: report.html, values." in printed.out
    assert "Off-manifold" in printed.out
    assert not printed.err


def test_without_a_background_it_is_a_sample_of_the_data_and_the_report_says_so(folder):
    assert (
        explain(
            "scoring:in_jax numbers.csv --target churned --rows 3 --background-rows 25 --quiet --out o"
        )
        == 0
    )
    page = (folder / "o" / "report.html").read_text(encoding="utf-8")
    assert "The background is a random sample of 25 of the 60 rows of numbers.csv" in page
    assert explain("scoring:in_jax numbers.csv --target churned --rows 3 --quiet --out p") == 0
    assert "The background is all 60 rows of numbers.csv" in (
        folder / "p" / "report.html"
    ).read_text(encoding="utf-8")


def test_a_function_on_the_host_and_an_attribute_work(folder, capsys):
    assert explain("scoring:on_host numbers.csv --target churned --rows 2 --quiet --out o") == 0
    assert (
        explain(
            "scoring:Holder.in_jax numbers.csv --target churned --rows 2 --quiet --out p --no-diagnose"
        )
        == 0
    )
    assert capsys.readouterr() == ("", "")
    assert "It was left out" in (folder / "p" / "report.html").read_text(encoding="utf-8")


def test_a_pipeline_that_was_fitted_on_text_gets_its_text_back(folder):
    frame, features = customers(), [*NUMBERS, "city"]
    columns = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    model = make_pipeline(columns, LogisticRegression()).fit(frame[features], frame.churned)
    joblib.dump(model, "pipe.joblib")
    assert (
        explain(
            "pipe.joblib customers.csv --target churned --background train.csv --rows 5 --quiet --out o"
        )
        == 0
    )
    found = jaxshap.load(folder / "o" / "explanation.npz")
    assert found.feature_names == tuple(features)
    assert found.output_names == ("no", "yes")
    np.testing.assert_allclose(
        found.base_values + found.values.sum(1), model.predict_proba(frame[features][:5]), atol=1e-5
    )
    codes = {name: code for code, name in enumerate(["Hull", "Leeds", "York"])}
    by_hand = frame[features].assign(city=frame.city.map(codes)).to_numpy(float)

    def predict(rows):
        names = np.array(["Hull", "Leeds", "York"])[np.asarray(rows)[:, 3].astype(int)]
        return model.predict_proba(pd.DataFrame(rows, columns=features).assign(city=names))

    expected = jaxshap.explain(jaxshap.host(predict), by_hand[:5], by_hand[20:50])
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    page = (folder / "o" / "report.html").read_text(encoding="utf-8")
    assert '"Leeds"' in page
    assert "Left out, since the model does not know them: id." in page


def test_missing_text_stays_missing(folder, capsys):
    frame = customers()
    frame.loc[[1, 30], "city"] = None
    frame.to_csv("customers.csv", index=False)
    frame = pd.read_csv("customers.csv")
    features = [*NUMBERS, "city"]
    columns = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    model = make_pipeline(columns, LogisticRegression()).fit(frame[features], frame.churned)
    joblib.dump(model, "pipe.pkl")
    assert explain("pipe.pkl customers.csv --target churned --rows 3 --quiet --out o") == 0
    assert capsys.readouterr() == ("", "")  # its diagnosis did not fail
    found = jaxshap.load(folder / "o" / "explanation.npz")
    np.testing.assert_allclose(
        found.base_values + found.values.sum(1), model.predict_proba(frame[features][:3]), atol=1e-5
    )


def test_text_for_a_model_of_numbers_is_refused(folder, capsys):
    message = refused(capsys, "scoring:in_jax customers.csv --target churned --drop id")
    assert "['city'] are not numbers" in message
    assert "--drop" in message


def test_trees_are_path_dependent_without_a_background_and_the_report_says_why_there_is_no_diagnosis(
    folder,
):
    frame = customers()
    model = GradientBoostingClassifier(n_estimators=5).fit(frame[NUMBERS], frame.churned)
    joblib.dump(model, "boost.joblib")
    assert explain("boost.joblib customers.csv --target churned --quiet --budget 50") == 0
    _, page, _ = check_written(folder / "jaxshap-report", jaxshap.explain(model, frame[NUMBERS]))
    assert "path-dependent" in page
    assert "come from training counts in the trees" in page
    assert "raw margin of the trees" in page
    assert "were not needed" in page


def test_trees_with_a_background_are_interventional_and_diagnosed(folder, monkeypatch):
    monkeypatch.setattr("jaxshap.cli.run.DIAGNOSED", 4)
    frame = customers()
    model = RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(
        frame[NUMBERS].to_numpy(), frame.churned
    )
    joblib.dump(model, "forest.joblib")
    line = "forest.joblib numbers.csv --target churned --background train.csv --rows 6 --output yes --quiet"
    assert explain(line) == 0
    numbers = frame[NUMBERS].to_numpy()
    expected = jaxshap.explain(model, numbers[:6], numbers[20:50])[:, :, "yes"]
    assert expected.feature_names == ("x0", "x1", "x2")
    named = jaxshap.load("jaxshap-report/explanation.npz")
    np.testing.assert_array_equal(named.values, expected.values)
    assert named.feature_names == tuple(NUMBERS)
    page = (folder / "jaxshap-report" / "report.html").read_text(encoding="utf-8")
    assert "raw margin of the trees" not in page  # a forest's is the probability itself
    assert "the first 4 rows" in page
    assert "Off-manifold share" in page


def test_an_estimator_samples_the_predictions_of_trees(folder):
    xgboost = pytest.importorskip("xgboost")
    frame = customers()
    model = xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(
        frame[NUMBERS], (frame.churned == "yes").astype(int)
    )
    model.save_model("model.json")
    assert (
        explain(
            "model.json numbers.csv --target churned --estimator kernel --rows 4 --quiet --no-diagnose"
        )
        == 0
    )
    found = jaxshap.load("jaxshap-report/explanation.npz")
    total = found.base_values + found.values.sum(1)
    np.testing.assert_allclose(total, model.predict_proba(frame[NUMBERS][:4])[:, 1], atol=1e-5)


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_xgboost_files(folder, suffix):
    xgboost = pytest.importorskip("xgboost")
    frame = customers()
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(
        frame[NUMBERS[::-1]], frame.age // 30
    )
    model.save_model(f"model.{suffix}")
    assert explain(f"model.{suffix} numbers.csv --target churned --quiet") == 0
    _, page, data = check_written(
        folder / "jaxshap-report", jaxshap.explain(model, frame[NUMBERS[::-1]])
    )
    assert data["outputs"] == ["0", "1", "2"]
    assert "raw margin of the trees" in page
    assert "xgboost " in page


def test_lightgbm_files_whose_names_have_no_blanks(folder):
    lightgbm = pytest.importorskip("lightgbm")
    frame = customers()
    model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=3, verbose=-1).fit(
        frame[NUMBERS], frame.age
    )
    model.booster_.save_model("model.txt")
    assert explain("model.txt customers.csv --target churned --quiet") == 0
    check_written(folder / "jaxshap-report", jaxshap.explain(model.booster_, frame[NUMBERS]))


def test_lightgbm_files_without_names_go_by_position(folder, capsys):
    lightgbm = pytest.importorskip("lightgbm")
    frame = customers()
    model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=3, verbose=-1)
    model.fit(frame[NUMBERS].to_numpy(), frame.age).booster_.save_model("model.txt")
    joblib.dump(model, "model.joblib")
    for name in ("model.txt", "model.joblib"):
        message = refused(capsys, f"{name} customers.csv --target churned --out {name}-report")
        assert "expects 3 columns and DATA has 5" in message
        assert (
            explain(
                f"{name} customers.csv --target churned --drop id --drop city --quiet --out {name}-report"
            )
            == 0
        )
        found = jaxshap.load(f"{name}-report/explanation.npz")
        assert found.feature_names == tuple(NUMBERS)
        np.testing.assert_allclose(
            found.base_values + found.values.sum(1),
            model.predict(frame[NUMBERS].to_numpy()),
            rtol=1e-5,
        )


def onnx_file(path, matrix, kind="float", rows="rows"):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, number = onnx.helper, getattr(onnx.TensorProto, kind.upper())
    given = helper.make_tensor_value_info("x", number, [rows, matrix.shape[0]])
    labels = helper.make_tensor_value_info("label", onnx.TensorProto.INT64, [rows])
    scores = helper.make_tensor_value_info("scores", number, [rows, matrix.shape[1]])
    weights = helper.make_tensor(
        "w", number, matrix.shape, matrix.astype(np.float64).ravel().tolist()
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(nodes, "g", [given], [labels, scores], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


@pytest.mark.parametrize(("outputs", "kind"), [(1, "float"), (2, "double")])
def test_onnx_files(folder, outputs, kind):
    matrix = np.arange(1.0, 1 + 3 * outputs).reshape(3, outputs)
    onnx_file("model.onnx", matrix, kind)
    assert explain("model.onnx numbers.csv --target churned --rows 4 --quiet") == 0
    found = jaxshap.load("jaxshap-report/explanation.npz")
    numbers = customers()[NUMBERS].to_numpy()
    expected = (numbers[:4] - numbers.mean(0))[:, :, None] * matrix
    np.testing.assert_allclose(
        found.values, expected[..., 0] if outputs == 1 else expected, rtol=1e-3, atol=1e-3
    )


def test_an_onnx_file_of_one_row_at_a_time_is_refused(folder, capsys):
    onnx_file("model.onnx", np.ones((3, 1)), rows=1)
    assert "export it with a free number of rows" in refused(
        capsys, "model.onnx numbers.csv --target churned"
    )


def test_outputs_go_by_name_or_number(folder):
    line = "scoring:three numbers.csv --target churned --rows 3 --quiet --no-diagnose --force"
    assert explain(line) == 0
    every = jaxshap.load("jaxshap-report/explanation.npz")
    assert every.values.shape == (3, 3, 3)
    assert explain(line + " --output 1") == 0
    np.testing.assert_array_equal(
        jaxshap.load("jaxshap-report/explanation.npz").values, every.values[..., 1]
    )


def test_an_unknown_output_loses_nothing(folder, capsys):
    line = "scoring:three numbers.csv --target churned --rows 3 --quiet --no-diagnose --output cat"
    assert explain(line) == 2
    assert (
        "there is no such output (they are 0 to 2), so all of them were written"
        in capsys.readouterr().err
    )
    assert jaxshap.load("jaxshap-report/explanation.npz").values.shape == (3, 3, 3)


def test_a_tolerance_that_is_not_met_is_said(folder, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(20, 12)), columns=list("abcdefghijkl")).to_csv(
        "wide.csv", index=False
    )
    (folder / "rough.py").write_text(
        "import jax.numpy as jnp\ndef f(x): return jnp.sign(jnp.sin(9 * x).sum(1))\n"
    )
    line = "rough:f wide.csv --rows 2 --budget 60 --tol 0.0001 --estimator permutation --no-diagnose --title Rough"
    assert explain(line) == 0
    assert "warning: tol=0.0001 is not met with budget=60" in capsys.readouterr().err
    page = (folder / "jaxshap-report" / "report.html").read_text(encoding="utf-8")
    assert "tol=0.0001 is not met" in page
    assert "<h1>Rough</h1>" in page


def test_a_report_is_overwritten_only_by_force_and_other_files_stay(folder, capsys):
    line = "scoring:on_host numbers.csv --target churned --rows 2 --quiet --no-diagnose"
    assert explain(line) == 0
    (folder / "jaxshap-report" / "mine.txt").write_text("mine")
    (folder / "jaxshap-report" / "values.parquet").write_text("old")
    before = (folder / "jaxshap-report" / "report.html").read_bytes()
    assert "pass --force" in refused(capsys, line.replace("2", "3"))
    assert (folder / "jaxshap-report" / "report.html").read_bytes() == before
    assert explain(line.replace("2", "3") + " --force") == 0
    assert (folder / "jaxshap-report" / "report.html").read_bytes() != before
    assert len(list((folder / "jaxshap-report").glob("values.*"))) == 1
    assert (folder / "jaxshap-report" / "mine.txt").read_text() == "mine"
    (folder / "other").mkdir()
    (folder / "other" / "mine.txt").write_text("mine")
    assert explain(line + " --out other") == 0
    assert "is a file" in refused(capsys, line + " --out numbers.csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scoring:in_jax none.csv", "there is no file 'none.csv'"),
        ("scoring:in_jax scoring.py", "must end in .csv or .parquet"),
        ("scoring:in_jax numbers.csv --target churn", "Did you mean 'churned'?"),
        (
            "scoring:in_jax numbers.csv --drop zzz",
            "It has ['age', 'income k', 'tenure', 'churned']",
        ),
        (
            "scoring:in_jax numbers.csv --target churned --background none.csv",
            "there is no file 'none.csv'",
        ),
        (
            "scoring:in_jax numbers.csv --target churned --background odd.csv",
            "the background lacks the columns",
        ),
        ("scoring:nothing numbers.csv", "scoring has no 'nothing'"),
        ("nowhere:predict numbers.csv", "there is no module 'nowhere'"),
        ("scoring.py:in_jax numbers.csv", "such as scoring:in_jax"),
        ("needy:predict numbers.csv", "needy imports not_there, which is not installed"),
        ("broken:predict numbers.csv", "importing broken failed"),
        ("scoring:Holder numbers.csv", "pass a function of rows or a fitted model"),
        ("model.xyz numbers.csv", "module:callable, or a file that ends in .joblib"),
        ("none.joblib numbers.csv", "there is no file 'none.joblib'"),
        ("text.joblib numbers.csv", "text.joblib holds a str"),
        ("bad.joblib numbers.csv", "cannot be read as a pickled model"),
        ("bad.json numbers.csv", "cannot be read as an XGBoost model"),
        ("bad.txt numbers.csv", "cannot be read as a LightGBM model"),
        ("bad.onnx numbers.csv", "cannot be read as an ONNX model"),
        ("linear.pkl train.csv", "DATA lacks the columns ['zip'] that the model was fitted with"),
        ("scoring:in_jax numbers.csv --target churned --budget 1", "cost 2 evaluations"),
        ("scoring:in_jax numbers.csv --target churned --budget 0", "not a number of 1 or more"),
        ("scoring:in_jax numbers.csv --target churned --tol -1", "pass a positive share"),
        (
            "scoring:in_jax numbers.csv --target churned --estimator magic",
            "invalid choice: 'magic'",
        ),
        ("scoring:in_jax empty.csv", "cannot be read"),
        ("scoring:in_jax header.csv", "is empty"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(folder, capsys, line, message):
    for name in ("bad.joblib", "bad.json", "bad.txt", "bad.onnx"):
        (folder / name).write_text("nonsense")
    (folder / "text.joblib").write_bytes(pickle.dumps("a text"))
    (folder / "odd.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "needy.py").write_text("import not_there\n")
    (folder / "broken.py").write_text("1 / 0\n")
    frame = customers().rename(columns={"age": "zip"})
    joblib.dump(LinearRegression().fit(frame[["zip", "tenure"]], frame.id), "linear.pkl")
    assert message in refused(capsys, line)
    assert not (folder / "jaxshap-report").exists()


@pytest.mark.parametrize(
    ("line", "missing", "remedy"),
    [
        ("scoring:in_jax numbers.csv", "pandas", 'pip install "jaxshap[examples]"'),
        ("x.joblib numbers.csv", "joblib", 'pip install "jaxshap[examples]"'),
        ("x.ubj numbers.csv", "xgboost", 'pip install "jaxshap[trees]"'),
        ("x.txt numbers.csv", "lightgbm", 'pip install "jaxshap[trees]"'),
        ("x.onnx numbers.csv", "onnxruntime", "pip install onnxruntime"),
        ("scoring:in_jax x.parquet", "pyarrow", "pip install pyarrow"),
    ],
)
def test_a_missing_package_ends_with_2_and_names_what_to_install(
    folder, capsys, monkeypatch, line, missing, remedy
):
    for name in ("x.joblib", "x.ubj", "x.txt", "x.onnx", "x.parquet"):
        (folder / name).write_text("")
    if missing == "pyarrow":
        monkeypatch.setattr(pd, "read_parquet", lambda path: importing("pyarrow"))
    importing = builtins.__import__

    def without(name, *others, **named):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return importing(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    if missing == "pyarrow":
        monkeypatch.setattr(pd, "read_parquet", lambda path: without("pyarrow"))
    message = refused(capsys, line)
    assert missing in message
    assert remedy in message


def test_parquet_is_read_and_written_where_pyarrow_is(folder):
    pytest.importorskip("pyarrow")
    customers()[[*NUMBERS, "churned"]].to_parquet("numbers.parquet")
    assert (
        explain("scoring:on_host numbers.parquet --target churned --rows 3 --quiet --no-diagnose")
        == 0
    )
    assert (
        explain(
            "scoring:on_host numbers.csv --target churned --rows 3 --quiet --no-diagnose --out o"
        )
        == 0
    )
    one, other = (
        pd.read_parquet(path / "values.parquet")
        for path in (folder / "jaxshap-report", folder / "o")
    )
    pd.testing.assert_frame_equal(one, other)


def test_values_are_csv_where_pyarrow_is_not(folder, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name)
    )
    assert (
        explain("scoring:on_host numbers.csv --target churned --rows 3 --quiet --no-diagnose") == 0
    )
    frame = pd.read_csv(folder / "jaxshap-report" / "values.csv")
    assert list(frame.columns) == ["row", "feature", "value", "std_error"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("failing", "RuntimeError('no weights')"), ("labels", "Return probabilities or scores")],
)
def test_a_failing_model_ends_with_1_and_shows_where(folder, capsys, name, message):
    assert explain(f"scoring:{name} numbers.csv --target churned --rows 3") == 1
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" in error
    assert error.rstrip().endswith("Nothing was written.")
    assert not (folder / "jaxshap-report").exists()


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [("interrupted", 130, "interrupted after"), ("halfway", 1, "went away")],
)
def test_what_was_evaluated_before_the_end_is_written(
    folder, capsys, monkeypatch, name, code, reason
):
    monkeypatch.setattr(
        "jaxshap.engine.evaluation.choose_batch_size", lambda *_: 8
    )  # so that there are several batches
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 10)), columns=list("abcdefghij"))
    wide.to_csv("wide.csv", index=False)
    line = f"scoring:{name} wide.csv --rows 3 --estimator permutation --budget 100 --quiet"
    assert explain(line) == code
    error = capsys.readouterr().err
    assert reason in error
    assert "What there was is written" in error
    found = jaxshap.load("jaxshap-report/explanation.npz")
    assert np.isfinite(found.values).all()
    assert found.num_evaluations < 90
    assert reason in (folder / "jaxshap-report" / "report.html").read_text(encoding="utf-8")
    assert len(values_of(folder / "jaxshap-report")) == 30


def test_an_interrupt_before_anything_ends_with_130_and_writes_nothing(folder, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxshap.cli.run.read_request", stop)
    assert explain("scoring:in_jax numbers.csv") == 130
    assert "interrupted before there was anything to write" in capsys.readouterr().err
    assert not (folder / "jaxshap-report").exists()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(KeyboardInterrupt, 130, "interrupted"), (OSError("full"), 0, "full")],
)
def test_a_diagnosis_that_fails_does_not_lose_the_report(
    folder, capsys, monkeypatch, error, code, said
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(jaxshap.Explanation, "diagnose", fail)
    assert explain("scoring:in_jax numbers.csv --target churned --rows 3 --quiet") == code
    assert said in (folder / "jaxshap-report" / "report.html").read_text(encoding="utf-8")
    assert said in capsys.readouterr().err


def test_help_shows_examples_and_the_warning(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["explain", "--help"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "only open files you trust" in text
    assert "python -m jaxshap explain model.joblib customers.csv --target churned" in text
    assert "exit codes: 0 done" in text


def test_the_command_runs_from_a_shell(folder):
    (folder / "mine.py").write_text(
        textwrap.dedent("""
        def predict(rows):
            return rows[:, 0] * rows[:, 1]
        """)
    )
    command = [
        sys.executable,
        "-m",
        "jaxshap",
        "explain",
        "mine:predict",
        "numbers.csv",
        "--target",
        "churned",
    ]
    run = subprocess.run([*command, "--rows", "3"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    assert (folder / "jaxshap-report" / "report.html").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert again.stderr.startswith("error: jaxshap-report has a report already")
