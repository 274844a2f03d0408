"""Checkpoints: what was evaluated survives an interrupt, a kill -9 and a half-written record, and
is never redone.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (
    RNG.normal(size=(2, 14)).astype(np.float32),
    RNG.normal(size=(3, 14)).astype(np.float32),
)


class Counted:
    """A host model that counts its rows and may stop after some calls."""

    def __init__(self, stop_at=None):
        self.rows, self.calls, self.stop_at = 0, 0, stop_at

    def __call__(self, x):
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        self.calls, self.rows = self.calls + 1, self.rows + len(x)
        return np.tanh(x[:, :4].sum(1)) * x[:, 5] + x @ np.linspace(-1, 1, x.shape[1])


def explain(model, path, **settings):
    settings = {
        "estimator": jaxshap.Leverage(),
        "budget": 200,
        "batch_size": 16,
        "progress": False,
    } | settings
    return jaxshap.explain(jaxshap.host(model), ROWS, BACKGROUND, checkpoint=path, **settings)


def test_an_interrupted_explanation_goes_on_where_it_ended(tmp_path):
    once, first, second = Counted(), Counted(stop_at=9), Counted()
    whole = explain(once, None)
    with pytest.raises(jaxshap.Interrupted):
        explain(first, tmp_path / "worths")
    resumed = explain(second, tmp_path / "worths")
    np.testing.assert_array_equal(resumed.values, whole.values)
    np.testing.assert_array_equal(resumed.std_error, whole.std_error)
    ends = Counted()
    explain(ends, tmp_path / "worths")  # nothing but the two ends is asked again
    interrupted = first.rows + 4  # who was not asked about two rows and references in the end
    assert interrupted + second.rows == once.rows + ends.rows
    assert ends.rows < once.rows / 10


def test_a_larger_budget_starts_from_the_same_file(tmp_path):
    explain(Counted(), tmp_path / "worths", budget=100)
    more, fresh = Counted(), Counted()
    np.testing.assert_array_equal(
        explain(more, tmp_path / "worths").values, explain(fresh, None).values
    )
    assert more.rows < 0.6 * fresh.rows


def test_a_half_written_record_is_dropped(tmp_path):
    path = tmp_path / "worths"
    whole = explain(Counted(), path)
    os.truncate(path, path.stat().st_size - 5)
    again = Counted()
    np.testing.assert_array_equal(explain(again, path).values, whole.values)
    again = Counted()
    explain(again, path)
    assert again.calls <= 5  # ends, a check of the model and a probe: the record was made good


@pytest.mark.parametrize(
    "settings",
    [{"key": 1}, {"estimator": jaxshap.Permutation()}, {"groups": {"a": ["x0", "x1"]}}],
    ids=str,
)
def test_a_file_of_another_run_is_refused(tmp_path, settings):
    explain(Counted(), tmp_path / "worths")
    with pytest.raises(ValueError, match="pass another path, or delete it"):
        explain(Counted(), tmp_path / "worths", **settings)


def test_a_file_of_another_model_or_of_something_else_is_refused(tmp_path):
    explain(Counted(), tmp_path / "worths")
    with pytest.raises(ValueError, match="another model"):
        explain(lambda x: 2 * Counted()(x), tmp_path / "worths")
    (tmp_path / "notes").write_text("not worths")
    with pytest.raises(ValueError, match="not a checkpoint"):
        explain(Counted(), tmp_path / "notes")


SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
import test_checkpoint as t
class Slow(t.Counted):
    def __call__(self, x):
        if self.calls > 3:
            time.sleep(0.3)
        return super().__call__(x)
t.explain(Slow(), sys.argv[2])
"""


def test_a_killed_process_leaves_every_finished_batch(tmp_path):
    path = tmp_path / "worths"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(pathlib.Path(__file__).parent), str(path)]
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not path.exists() or path.stat().st_size < 1500):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept, rest, fresh = path.stat().st_size, Counted(), Counted()
    assert kept >= 1500
    np.testing.assert_array_equal(explain(rest, path).values, explain(fresh, None).values)
    assert rest.rows < 0.8 * fresh.rows
