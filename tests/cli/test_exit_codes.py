"""How `python -m jaxshap` ends: exit codes by the type of error, and what the messages say."""

import builtins
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from command_line import (
    customers,
    explain,
    page_of,
    refused,
    values_of,
    wide_table,
)
from sklearn.linear_model import LinearRegression

import jaxshap
from jaxshap.__main__ import main

TARGET = "numbers.csv --target churned"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scoring:in_jax none.csv", "there is no file 'none.csv'"),
        ("scoring:in_jax scoring.py", "must end in .csv or .parquet"),
        ("scoring:in_jax numbers.csv --target churn", "Did you mean 'churned'?"),
        ("scoring:in_jax numbers.csv --drop zzz", "It has ['age', 'income k', 'tenure',"),
        (f"scoring:in_jax {TARGET} --background none.csv", "there is no file 'none.csv'"),
        (f"scoring:in_jax {TARGET} --background odd.csv", "the background lacks the columns"),
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
        (f"scoring:in_jax {TARGET} --budget 1", "cost 2 evaluations"),
        (f"scoring:in_jax {TARGET} --budget 0", "not a number of 1 or more"),
        (f"scoring:in_jax {TARGET} --tol -1", "pass a positive share"),
        (f"scoring:in_jax {TARGET} --estimator magic", "invalid choice: 'magic'"),
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


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (jaxshap.InputError("wrong"), 2),
        (jaxshap.errors.InputTypeError("wrong"), 2),
        (jaxshap.BudgetError("wrong", needed=9), 2),
        (jaxshap.UnsupportedModelError("wrong"), 2),
        (jaxshap.MissingExtraError("wrong"), 2),
        (jaxshap.ModelOutputError("wrong"), 1),
        (jaxshap.EvaluationError("wrong", np.zeros(1)), 1),
        (ValueError("wrong"), 1),
        (TypeError("wrong"), 1),
        (jaxshap.Interrupted(np.zeros(1), planned=3), 130),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda part: type(part).__name__,
)
def test_the_type_of_an_error_alone_decides_how_it_ends(folder, capsys, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("jaxshap.cli.run.explain", fail)
    assert explain(f"scoring:in_jax {TARGET} --quiet") == code
    told = capsys.readouterr().err
    assert (told == "error: wrong\n") == (code == 2)
    assert ("Traceback" in told) == (
        type(error) in (ValueError, TypeError, jaxshap.ModelOutputError)
    )
    assert not (folder / "jaxshap-report").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [("failing", "RuntimeError('no weights')"), ("labels", "Return probabilities or scores")],
)
def test_a_failing_model_ends_with_1_and_shows_where(folder, capsys, name, message):
    assert explain(f"scoring:{name} {TARGET} --rows 3") == 1
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
    several_batches = 8
    monkeypatch.setattr("jaxshap.engine.dispatch.choose_batch_size", lambda *_: several_batches)
    wide_table().to_csv("wide.csv", index=False)
    options = "--rows 3 --estimator permutation --budget 100 --quiet"
    assert explain(f"scoring:{name} wide.csv {options}") == code
    error = capsys.readouterr().err
    assert reason in error
    assert "What there was is written" in error
    loaded = jaxshap.load("jaxshap-report/explanation.npz")
    assert np.isfinite(loaded.values).all()
    assert loaded.num_evaluations < 90
    assert reason in page_of(folder / "jaxshap-report")
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
    assert explain(f"scoring:in_jax {TARGET} --rows 3 --quiet") == code
    assert said in page_of(folder / "jaxshap-report")
    assert said in capsys.readouterr().err


def test_help_shows_examples_and_the_warning(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["explain", "--help"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "only open files you trust" in text
    assert "python -m jaxshap explain model.joblib customers.csv --target churned" in text
    assert "exit codes: 0 done" in text


def from_a_shell(line, **settings):
    command = [sys.executable, "-m", "jaxshap", "explain", *line.split()]
    return subprocess.run(command, text=True, check=False, **settings)


def test_the_command_runs_from_a_shell(folder):
    (folder / "mine.py").write_text("def predict(rows):\n    return rows[:, 0] * rows[:, 1]\n")
    run = from_a_shell(f"mine:predict {TARGET} --rows 3", capture_output=True)
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    assert (folder / "jaxshap-report" / "report.html").exists()
    again = from_a_shell(f"mine:predict {TARGET}", capture_output=True)
    assert again.returncode == 2
    assert again.stderr.startswith("error: jaxshap-report has a report already")


@pytest.mark.parametrize("line", ["--help", f"scoring:in_jax {TARGET} --rows 3 --no-diagnose"])
def test_a_reader_that_goes_away_ends_it_with_141_and_without_a_word(folder, line):
    settings = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = from_a_shell(line, stdout=writing, stderr=subprocess.PIPE, env=settings)
    finally:
        os.close(writing)
    assert (run.returncode, run.stderr) == (141, "")
    assert (folder / "jaxshap-report").exists() == (line != "--help")
