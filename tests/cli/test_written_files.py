"""What `python -m jaxshap explain` writes: the report, the values, and what they say."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from command_line import (
    NUMBERS,
    check_written,
    customers,
    explain,
    page_of,
    refused,
    wide_table,
)

import jaxshap

FAST = "--target churned --rows 3 --quiet --no-diagnose"


def test_what_is_written_is_what_explain_returns(folder, capsys):
    options = "--target churned --background train.csv --rows 7 --budget 20 --estimator kernel"
    assert explain(f"scoring:in_jax numbers.csv {options}", "--key", "5") == 0
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
    page, data = check_written(folder / "jaxshap-report", expected)
    assert data["labels"] == customers().churned[:7].tolist()
    assert "all 30 rows of train.csv" in page
    assert str(folder) not in page
    printed = capsys.readouterr()
    assert "Explaining the first 7 of 60 rows of numbers.csv" in printed.out
    assert "Written to jaxshap-report: report.html, values." in printed.out
    assert "Off-manifold" in printed.out
    assert not printed.err


def test_without_a_background_it_is_a_sample_of_the_data_and_the_report_says_so(folder):
    line = "scoring:in_jax numbers.csv --target churned --rows 3 --quiet"
    assert explain(f"{line} --background-rows 25 --out o") == 0
    sample = "The background is a random sample of 25 of the 60 rows of numbers.csv"
    assert sample in page_of(folder / "o")
    assert explain(f"{line} --out p") == 0
    assert "The background is all 60 rows of numbers.csv" in page_of(folder / "p")


def test_a_function_on_the_host_and_an_attribute_work(folder, capsys):
    options = "numbers.csv --target churned --rows 2 --quiet"
    assert explain(f"scoring:on_host {options} --out o") == 0
    assert explain(f"scoring:Holder.in_jax {options} --out p --no-diagnose") == 0
    assert capsys.readouterr() == ("", "")
    assert "It was left out" in page_of(folder / "p")


@pytest.mark.parametrize("estimator", jaxshap.estimators.ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_can_be_named(folder, estimator):
    name = estimator.__name__.lower()
    assert explain(f"scoring:on_host numbers.csv {FAST} --estimator {name} --budget 40") == 0
    loaded = jaxshap.load("jaxshap-report/explanation.npz")
    assert loaded.estimator == repr(estimator())


def test_outputs_go_by_name_or_number(folder):
    line = f"scoring:three numbers.csv {FAST} --force"
    assert explain(line) == 0
    every = jaxshap.load("jaxshap-report/explanation.npz")
    assert every.values.shape == (3, 3, 3)
    assert explain(line + " --output 1") == 0
    picked = jaxshap.load("jaxshap-report/explanation.npz")
    np.testing.assert_array_equal(picked.values, every.values[..., 1])


def test_an_unknown_output_loses_nothing(folder, capsys):
    assert explain(f"scoring:three numbers.csv {FAST} --output cat") == 2
    told = "there is no such output (they are 0 to 2), so all of them were written"
    assert told in capsys.readouterr().err
    assert jaxshap.load("jaxshap-report/explanation.npz").values.shape == (3, 3, 3)


def test_a_tolerance_that_is_not_met_is_said(folder, capsys):
    wide_table(columns=12).to_csv("wide.csv", index=False)
    (folder / "rough.py").write_text(
        "import jax.numpy as jnp\ndef f(x): return jnp.sign(jnp.sin(9 * x).sum(1))\n"
    )
    options = "--rows 2 --budget 60 --tol 0.0001 --estimator permutation --no-diagnose"
    assert explain(f"rough:f wide.csv {options} --title Rough") == 0
    assert "warning: tol=0.0001 is not met with budget=60" in capsys.readouterr().err
    page = page_of(folder / "jaxshap-report")
    assert "tol=0.0001 is not met" in page
    assert "<h1>Rough</h1>" in page


def test_a_warning_of_the_model_stays_a_warning_whatever_it_says(folder, capsys):
    (folder / "loud.py").write_text(
        "import warnings\ndef f(x):\n    warnings.warn('tol=1 or so')\n    return x.sum(1)\n"
    )
    with pytest.warns(UserWarning, match="tol=1 or so"):
        assert explain(f"loud:f numbers.csv {FAST}") == 0
    assert not capsys.readouterr().err
    assert "tol=1 or so" not in page_of(folder / "jaxshap-report")


def test_a_report_is_overwritten_only_by_force_and_other_files_stay(folder, capsys):
    line, report = f"scoring:on_host numbers.csv {FAST}", folder / "jaxshap-report"
    assert explain(line) == 0
    (report / "mine.txt").write_text("mine")
    (report / "values.parquet").write_text("old")
    before = (report / "report.html").read_bytes()
    assert "pass --force" in refused(capsys, line.replace("3", "4"))
    assert (report / "report.html").read_bytes() == before
    assert explain(line.replace("3", "4") + " --force") == 0
    assert (report / "report.html").read_bytes() != before
    assert len(list(report.glob("values.*"))) == 1
    assert (report / "mine.txt").read_text() == "mine"
    (folder / "other").mkdir()
    (folder / "other" / "mine.txt").write_text("mine")
    assert explain(line + " --out other") == 0
    assert "is a file" in refused(capsys, line + " --out numbers.csv")


def test_parquet_is_read_and_written_where_pyarrow_is(folder):
    pytest.importorskip("pyarrow")
    customers()[[*NUMBERS, "churned"]].to_parquet("numbers.parquet")
    assert explain(f"scoring:on_host numbers.parquet {FAST} --out o") == 0
    assert explain(f"scoring:on_host numbers.csv {FAST} --out p") == 0
    from_parquet, from_csv = (pd.read_parquet(folder / name / "values.parquet") for name in "op")
    pd.testing.assert_frame_equal(from_parquet, from_csv)


@pytest.fixture
def no_pyarrow(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name)
    )


@pytest.mark.usefixtures("no_pyarrow")
def test_values_are_csv_where_pyarrow_is_not(folder):
    assert explain(f"scoring:on_host numbers.csv {FAST}") == 0
    frame = pd.read_csv(folder / "jaxshap-report" / "values.csv")
    assert list(frame.columns) == ["row", "feature", "value", "std_error"]


@pytest.mark.usefixtures("no_pyarrow")
def test_a_csv_holds_no_formula_and_its_numbers_stay_numbers(folder):
    names = ["=1+1", "+a", "-b", "@c", "\td", "\re", "f-g", "'h"]
    (folder / "total.py").write_text("def f(rows):\n    return -rows.sum(1)\n")
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(9, 8)), columns=names).to_parquet("odd.parquet")
    options = "--rows 2 --quiet --no-diagnose"
    assert explain(f"total:f odd.parquet {options}") == 0
    frame = pd.read_csv(folder / "jaxshap-report" / "values.csv")
    harmless = ["'=1+1", "'+a", "'-b", "'@c", "'\td", "'\re", "f-g", "'h"]
    assert frame["feature"].tolist() == harmless * 2
    assert (frame["value"] < 0).any()
    assert frame["value"].dtype == frame["std_error"].dtype == np.float64
    values = jaxshap.load("jaxshap-report/explanation.npz").values
    np.testing.assert_allclose(frame["value"], values.ravel(), rtol=1e-5)


def test_features_can_be_moved_in_the_report_when_asked_for(folder, capsys):
    line = f"scoring:on_host numbers.csv {FAST}"
    assert explain(f"{line} --out o") == 0
    assert '"what_if": null' in page_of(folder / "o")
    assert explain(f"{line} --what-if 2 --out p") == 0
    assert '"what_if": {"own": [[' in page_of(folder / "p")
    assert not capsys.readouterr().err


def test_a_report_whose_features_cannot_be_moved_is_written_and_says_why(folder, capsys):
    (folder / "total.py").write_text("def f(rows):\n    return rows.sum(1)\n")
    pd.DataFrame(np.ones((9, 3)), columns=list("abc")).to_csv("constant.csv", index=False)
    assert explain("total:f constant.csv --rows 2 --quiet --no-diagnose --what-if 3") == 0
    reason = "No feature can be moved in this report: no feature has two values"
    assert reason in page_of(folder / "jaxshap-report")
    assert reason in capsys.readouterr().err
