"""Examples run as a user would start them, and show what they say."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def printed(name, folder):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=folder, capture_output=True, text=True, check=True
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
    first, second = map(float, re.search(r"prediction (-?[\d.]+) at the row, (-?[\d.]+) at", text).groups())
    before, after = map(float, re.search(r"([\d.]+) before, ([\d.]+) after", text).groups())
    assert abs(first - second) < 0.05
    assert after < 0.5 * before


@pytest.mark.slow
def test_the_picture_of_the_readme_is_drawn_and_small(tmp_path):
    subprocess.run([sys.executable, str(EXAMPLES / "readme_picture.py"), "drawn.png"], cwd=tmp_path, check=True)
    for picture in (tmp_path / "drawn.png", EXAMPLES / "readme.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size <= 150_000
