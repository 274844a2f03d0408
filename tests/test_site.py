"""What the site promises: its code runs, its links lead somewhere, its names exist, and every
public name is in its reference.
"""

import importlib.util
import inspect
import pathlib
import re
import types

import pytest
from matplotlib import pyplot as plt

import jaxshap
from jaxshap.cli import main

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
WRITTEN = sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.parts)
PAGES = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in WRITTEN}
HAVE_CODE = sorted(
    name
    for name, text in PAGES.items()
    if "```python" in text and name != "guides/command-line.md"  # which has a test of its own
)


def load_generator():
    spec = importlib.util.spec_from_file_location("pages", DOCS / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = load_generator()


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", HAVE_CODE)
def test_the_code_of_a_page_runs_from_top_to_bottom(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "__main__"}
    for number, block in enumerate(blocks(PAGES[name], "python")):
        exec(compile(block, f"{name}, block {number}", "exec"), space)
    plt.close("all")


class Tracker:
    """MLflow's three calls, which are all that the guide uses."""

    def __init__(self):
        self.params, self.metrics, self.artifacts = {}, {}, []

    def log_params(self, params):
        self.params |= params

    def log_metrics(self, metrics):
        self.metrics |= metrics

    def log_artifact(self, local_path):
        self.artifacts.append((local_path, pathlib.Path(local_path).stat().st_size))


def test_the_guide_logs_an_explanation_to_a_tracker(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in blocks(PAGES["guides/results.md"], "python") if "track" in block)
    space = {"jaxshap": jaxshap}
    exec(compile(block, "results.md", "exec"), space)
    tracker = Tracker()
    explained = jaxshap.explain(
        lambda rows: 2 * rows[:, 0] + rows[:, 1], [[1.0, 3.0]], [[0.0, 0.0]]
    )
    space["log_explanation"](tracker, explained)
    assert tracker.params["estimator"] == "Exact()"
    assert (tracker.metrics["x0.mean_abs"], tracker.metrics["x1.mean_abs"]) == (2.0, 3.0)
    assert [path for path, size in tracker.artifacts if size] == [
        "explanation.npz",
        "explanation.html",
    ]


def test_the_command_line_explains_the_model_that_its_guide_saves(tmp_path, monkeypatch):
    (saves,) = blocks(PAGES["guides/command-line.md"], "python")
    (command,) = blocks(PAGES["guides/command-line.md"], "sh")
    monkeypatch.chdir(tmp_path)
    exec(compile(saves, "command-line.md", "exec"), {})
    main(command.split()[3:])  # after python -m jaxshap
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


def test_no_block_of_code_escapes_the_test_above():
    languages = {word for text in PAGES.values() for word in re.findall(r"^```(\S+)", text, re.M)}
    assert languages <= {"python", "sh", "{toctree}"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_name_on_a_page_exists(name):
    """`jaxshap.trust.interval` in prose and in code: no page describes what is not there."""
    for dotted in set(re.findall(r"\bjaxshap((?:\.[A-Za-z_]\w*)+)", PAGES[name])):
        thing = jaxshap
        for part in dotted[1:].split("."):
            assert hasattr(thing, part), f"jaxshap{dotted} on {name}"
            thing = getattr(thing, part)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_lead_to_pages_and_pictures_that_exist(name):
    """Those to generated pages are known by name; building the site checks headings too."""
    rooms = [f"reference/{room}.md" for room in generator.rooms()]
    notebooks = [f"examples/{path.stem}.md" for path in generator.notebooks()]
    indices = ["reference/index.md", "examples/index.md", "benchmarks.md", "changelog.md"]
    generated = {f"generated/{page}" for page in rooms + notebooks + indices}
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", PAGES[name]):
        if not target.startswith("https://"):
            path = (DOCS / name).parent.joinpath(target).resolve()
            assert path.exists() or str(path.relative_to(DOCS)) in generated, f"{target} on {name}"


def test_every_page_is_in_a_table_of_contents():
    found = {"index.md"}
    for name, text in PAGES.items():
        for entry in "\n".join(blocks(text, r"\{toctree\}")).split("\n"):
            if entry and not entry.startswith(":"):
                found.add((pathlib.Path(name).parent / f"{entry}.md").as_posix())
    assert set(PAGES) <= found
    assert {"generated/reference/index.md", "generated/benchmarks.md"} <= found


def test_every_public_name_is_in_the_reference():
    listed = [thing for room in generator.rooms() for thing in generator.entries(room).values()]
    ids = [id(thing) for thing in listed]
    assert len(ids) == len(set(ids))
    everyday = [
        thing
        for name, thing in vars(jaxshap).items()
        if not name.startswith("_") and not isinstance(thing, types.ModuleType)
    ]
    assert {id(thing) for thing in everyday} <= set(ids)
    rooms = {path.parent.name for path in ROOT.glob("jaxshap/*/__init__.py")}
    assert rooms - {"cli"} <= set(generator.rooms())


def test_an_entry_of_the_reference_is_the_thing_itself():
    for room in generator.rooms():
        for dotted, thing in generator.entries(room).items():
            found = jaxshap
            for part in dotted.split(".")[1:]:
                found = getattr(found, part)
            assert found is thing
            assert inspect.getdoc(thing)
