"""The files beside the code: workflows parse, versions agree, the map names files that exist."""

import functools
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

import jaxshap

ROOT = pathlib.Path(__file__).parent.parent
YAML_FILES = sorted(
    path
    for pattern in (".github/**/*.yml", ".pre-commit-config.yaml", "CITATION.cff")
    for path in ROOT.glob(pattern)
)
MANNERS = ["CONTRIBUTING.md", "CHANGELOG.md", *(str(path.relative_to(ROOT)) for path in YAML_FILES)]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@functools.cache
def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


def load_yaml(name):
    return pytest.importorskip("yaml").safe_load(read(name))


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.name)
def test_every_yaml_file_parses(path):
    assert isinstance(load_yaml(path.relative_to(ROOT)), dict)


def test_workflows_and_forms_are_there():
    names = {path.name for path in YAML_FILES}
    assert {"tests.yml", "docs.yml", "release.yml", "bug.yml", "feature.yml"} <= names
    assert (ROOT / ".github" / "pull_request_template.md").exists()


def test_the_citation_is_of_the_version_that_is_built():
    citation = load_yaml("CITATION.cff")
    assert citation["version"] == project()["version"]
    assert citation["license"] == project()["license"]


def test_the_workflow_and_its_script_test_the_oldest_jax_and_the_newest_on_every_python():
    classifiers = "\n".join(project()["classifiers"])
    pythons = re.findall(r"^Programming Language :: Python :: (\d\.\d+)$", classifiers, re.M)
    assert project()["requires-python"] == f">={pythons[0]}"
    tests = load_yaml(".github/workflows/tests.yml")["jobs"]["tests"]
    assert tests["strategy"]["matrix"] == {"python": pythons, "jax": ["oldest", "newest"]}
    assert tests["steps"][-1]["run"].split()[0] == "tests/matrix"
    assert f"pythons=({' '.join(pythons)})" in read("tests/matrix")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["3.99", "newest"], 3, "Python 3.99 is not here: skipped"),
        (["3.11", "other"], 2, "pass oldest or newest"),
        (["other"], 2, "tests/matrix 3.13 newest"),
    ],
)
def test_the_script_of_the_matrix_skips_what_is_not_here_and_never_passes_on_nothing(
    arguments, code, told
):
    run = subprocess.run([ROOT / "tests" / "matrix", *arguments], capture_output=True, text=True)
    assert run.returncode == code
    assert told in run.stdout + run.stderr


def test_hooks_run_what_the_workflow_runs():
    (local,) = load_yaml(".pre-commit-config.yaml")["repos"]
    steps = load_yaml(".github/workflows/tests.yml")["jobs"]["linters"]["steps"]
    commands = " ".join(step.get("run", "") for step in steps)
    assert [hook["id"] for hook in local["hooks"]] == ["ruff-check", "ruff-format", "basedpyright"]
    assert all(hook["entry"] in commands for hook in local["hooks"])


def test_the_map_names_files_that_exist():
    section = read("CONTRIBUTING.md").split("### The map")[1].split("\n## ")[0]
    paths = re.findall(r"\| `([\w/.]+)` \|$", section, re.M)
    assert len(paths) >= 15
    assert not [path for path in paths if not (ROOT / path).is_file()]


def test_every_path_in_the_guide_exists():
    paths = re.findall(
        r"`((?:jaxshap|tests|benchmarks|\.github)/[\w/.]*)`", read("CONTRIBUTING.md")
    )
    assert not [path for path in paths if not (ROOT / path).exists()]


def moved_names():
    """(old, new) for every name in the changelog's table of moves."""
    for names, target in re.findall(
        r"^\| (`.+`) \| `jaxshap\.([^|]+) \|$", read("CHANGELOG.md"), re.M
    ):
        olds = re.findall(r"`(\w+)`", names)
        room, *rest = target.split("`")[0].split(".")
        yield from ((old, room, rest[0] if rest else old) for old in olds)


def test_names_moved_to_where_the_changelog_says():
    moves = list(moved_names())
    assert len(moves) > 50
    for _, room, new in moves:
        assert new in getattr(jaxshap, room).__all__


@pytest.mark.parametrize("name", MANNERS)
def test_no_file_names_a_registry_or_a_machine(name):
    assert not re.search(r"pypi\.org|/(?:home|root|work|tmp)/|localhost", read(name))


def test_a_table_of_a_benchmark_names_its_command_and_its_commit(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(sys, "argv", ["claim.py", "--games", str(tmp_path)])
    import report

    def git(*arguments):
        settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(
            ["git", *settings, *arguments], cwd=tmp_path, check=True, capture_output=True
        )

    script = tmp_path / "benchmarks" / "claim.py"
    script.parent.mkdir()
    script.write_text("")
    ask = functools.partial(report.write_table, str(script), "A claim", ["n"], [[1.0]])
    assert "`python benchmarks/claim.py --games FOLDER` at an unknown commit." in ask()
    git("init")
    git("add", "benchmarks/claim.py")
    git("commit", "-m", "A claim")
    made_by = r"`python benchmarks/claim.py --games FOLDER` at commit [0-9a-f]{7,}\.$"
    assert re.search(made_by, ask(), re.M)
    script.write_text("1")
    assert ", with uncommitted changes." in ask()
    assert script.with_suffix(".md").read_text() == ask()
