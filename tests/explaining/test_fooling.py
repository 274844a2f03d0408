"""The attack of Slack et al. (2020) fools the marginal game, and is found."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import jaxshap

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import fooling_shap as fooling  # noqa: E402


@pytest.fixture(scope="module")
def people():
    return fooling.make_people(0)


@pytest.mark.slow
def test_the_marginal_game_says_noise_and_the_others_say_race(people):
    model, right = fooling.attacked(people, 0)
    assert right > 0.8
    new = people.rows[-fooling.NUM_KEPT :]
    assert (np.asarray(model(new)) == new[:, people.race]).mean() > 0.9  # what it really does
    credit = {
        name: fooling.shares(part) for name, part in fooling.explanations(model, people).items()
    }
    assert credit["marginal"]["noise"] > 2 * credit["marginal"]["race"]
    for game in ("manifold", "conditional"):
        assert max(credit[game], key=credit[game].get) == "race"
        assert credit[game]["race"] > 2 * credit[game]["noise"]
    outside = jaxshap.trust.off_manifold_share(
        new[:12], fooling.centres(people), data=people.rows[: -fooling.NUM_KEPT]
    )
    assert outside.overall > 5 * outside.expected


@pytest.mark.slow
def test_attacked_and_honest_models_do_not_overlap_over_two_seeds(tmp_path):
    """In a process of its own, since tests compile without most optimisations; `fooling.py` among
    the benchmarks has ten seeds.
    """
    arguments = [sys.executable, str(EXAMPLES / "fooling_shap.py"), "--seeds", "2"]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "do not overlap" in run.stdout


def test_a_table_that_is_not_there_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fooling_shap.py", "--compas", str(tmp_path / "compas.csv")])
    assert fooling.main() == 2
    assert "there is no" in capsys.readouterr().err
