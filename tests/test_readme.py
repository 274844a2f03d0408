"""What the README promises: its commands and its code."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_code_runs_from_top_to_bottom(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)


def test_the_first_command_prints_a_table_and_saves_pictures(tmp_path):
    command = re.search(r"-m jaxshap (.*)$", blocks("sh")[0], flags=re.MULTILINE).group(1).split()
    arguments = [sys.executable, "-m", "jaxshap", *command, "--rows", "20"]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "±" in run.stdout
    assert not run.stderr
    assert {path.name for path in (tmp_path / "jaxshap-demo").iterdir()} == {
        "first_row.png",
        "beeswarm.png",
    }


def test_both_commands_start_from_python_and_pip_alone():
    for command in blocks("sh")[:2]:
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_the_example_runs_and_its_error_bars_hold(tmp_path):
    arguments = [sys.executable, str(ROOT / "examples" / "quickstart.py")]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    share = re.search(r"(\d+)% within 1.96 standard errors", run.stdout)
    assert int(share[1]) >= 85


def test_it_is_read_in_a_few_minutes():
    assert len(README.split()) < 900


def test_its_links_lead_to_files_that_exist():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 15
    assert not [link for link in links if not (ROOT / link).exists()]


CLAIMS = re.findall(r"^\| (.+) \| (.+) \| (.+) \| \[.+\]\((benchmarks/.+\.md)\) \|$", README, re.M)


def test_there_are_claims_and_some_are_won_by_others():
    assert len(CLAIMS) >= 8
    assert any("**" in others for _, _, others, _ in CLAIMS)


@pytest.mark.parametrize(("claim", "ours", "others", "table"), CLAIMS)
def test_every_figure_stands_in_the_stored_table_that_the_claim_names(claim, ours, others, table):
    stored = (ROOT / table).read_text(encoding="utf-8")
    figures = re.findall(r"\d+\.\d+(?: s)?", f"{ours} {others}")
    assert figures
    assert not [figure for figure in figures if not re.search(rf"\b{figure}\b", stored)]
