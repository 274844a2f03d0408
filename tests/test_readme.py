"""What the README promises: its commands and its code."""

import pathlib
import re
import subprocess
import sys

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


def test_the_command_line_explains_the_model_that_the_readme_saves(tmp_path, monkeypatch):
    (saves,) = (block for block in blocks("python") if "joblib.dump" in block)
    (command,) = (block for block in blocks("sh") if "jaxshap explain" in block)
    monkeypatch.chdir(tmp_path)
    exec(compile(saves, "README.md", "exec"), {})
    subprocess.run(
        [sys.executable, *command.split()[1:]], cwd=tmp_path, capture_output=True, check=True
    )
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000
