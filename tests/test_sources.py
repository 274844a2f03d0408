"""The table of the sources: its lines lead somewhere, and its scripts say which data they miss."""

import importlib
import pathlib
import re
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))
import report
import sources

FOLDER = sources.FOLDER
SCRIPTS = sorted({line.script for line in sources.LINES if isinstance(line, sources.Experiment)})
FILES = {
    "bayes_shap_compas": "compas.csv.gz",
    "compas_figure": "compas.csv.gz",
    "fooling": "compas.csv.gz",
    "fooling_ranks": "compas.csv.gz",
    "leverage_reference": "reference.json",
    "nhanes_residuals": "nhanes.npz",
    "owen_paper": "credit_default.npz",
    "owen_released": "credit_default.npz",
}
ALONE = {"projected_sgd_paper", "residual_players", "residual_sampling", "residual_stress"}


def test_every_line_leads_to_a_script_or_to_a_test():
    assert set(SCRIPTS) == FILES.keys() | ALONE
    assert not [name for name in SCRIPTS if not (FOLDER / f"{name}.py").exists()]
    theorems = [line.test for line in sources.LINES if isinstance(line, sources.Theorem)]
    assert len(theorems) > 30
    assert not [test for test in theorems if not sources.is_there(test)]


@pytest.mark.parametrize("name", FILES)
def test_without_its_data_a_script_names_the_file_and_where_it_comes_from(
    name, tmp_path, monkeypatch, capsys
):
    script = importlib.import_module(name)
    option = "--games" if name == "leverage_reference" else "--data"
    monkeypatch.setattr(sys, "argv", [f"{name}.py", option, str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        script.main()
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert FILES[name] in message
    assert f"{option} FOLDER" in message
    assert report.ORIGINS[FILES[name]] in message


@pytest.mark.parametrize("name", sorted(ALONE))
def test_other_scripts_read_no_files(name):
    script = (FOLDER / f"{name}.py").read_text()
    assert not re.search(r"add_data_option|np\.load|read_csv|--games", script)


def test_a_cell_is_a_mean_with_its_standard_error_and_reads_back():
    assert report.measured(0.12345, 0.0021) == "0.1235 ± 0.0021"
    assert report.measured(14.0, 0.0) == "14 ± 0"
    assert report.measured(20.0, 2e-15) == "20 ± 0"  # rounding
    for mean, error in ((0.25, 0.012), (14.0, 0.0), (3e-9, 2e-10)):
        assert report.read_measured(report.measured(mean, error)) == pytest.approx((mean, error))


def test_the_jackknife_of_a_mean_is_its_standard_error():
    sample = np.random.default_rng(0).normal(size=50)
    error = report.jackknife(lambda kept: kept.mean(), sample)
    assert error == pytest.approx(sample.std(ddof=1) / 50**0.5)


def decoy_rows(one, two):
    """Where race comes first, in two readings."""
    rows = [("one decoy", one), ("two decoys, exclusive or", two)]
    shown = [{"panel": panel, "feature": "race", "first, %": cell} for panel, cell in rows]
    readings = "as first read", "as released"
    return [row | {"reading": name, "spread of first": "3"} for name in readings for row in shown]


@pytest.mark.parametrize(
    ("one", "two", "agrees"),
    [
        ("10 ± 2", "30 ± 3", True),
        ("25 ± 3", "30 ± 3", False),  # not told apart
        ("30 ± 2", "10 ± 2", False),
        ("10 ± 2", "99 ± 1", False),  # nothing is hidden
    ],
)
def test_two_decoys_hide_less_only_where_two_standard_errors_say_so(one, two, agrees):
    assert sources.two_decoys_hide_less(decoy_rows(one, two))[1] is agrees


@pytest.mark.parametrize(("published", "agrees"), [(16, True), (30, False)])
def test_a_published_share_is_compared_with_the_spread_of_single_runs(published, agrees):
    read = sources.race_first("one decoy", published)
    assert read(decoy_rows("12 ± 1", "40 ± 3"))[1] is agrees
