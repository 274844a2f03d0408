"""Whatever happens to an evaluation, its file or its model: no wrong number, and nothing lost."""

import itertools
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import jaxshap
from jaxshap.errors import CheckpointError

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(2, 9)), RNG.normal(size=(3, 9))
COALITIONS = RNG.permutation(2**9)[:160, None] >> np.arange(9) & 1 == 1  # none of them twice
BATCH = 8
RECORD_BYTES = 2 + 2 * 8 + 4  # nine players, two rows in float64, a checksum


def predict(rows):
    return np.tanh(rows[:, :4].sum(1)) * rows[:, 5] + rows @ np.linspace(-1, 1, 9)


def evaluated(path=None, model=predict, rows=ROWS, background=BACKGROUND, coalitions=COALITIONS):
    game = jaxshap.marginal(jaxshap.host(model), rows, background)
    settings = {"checkpoint": path, "batch_size": BATCH, "progress": False}
    return jaxshap.evaluate(game, coalitions, **settings)


TRUTH = evaluated()


@pytest.fixture
def full(tmp_path):
    """A file of the first half of the worths."""
    path = tmp_path / "worths"
    evaluated(path, coalitions=COALITIONS[:80])
    return path


def calls_of(path):
    """How often the model is asked for all worths, with the file at this path."""
    calls = []

    def model(rows):
        calls.append(len(rows))
        return predict(rows)

    np.testing.assert_array_equal(evaluated(path, model), TRUTH)
    return len(calls)


def _start(path):
    """Where the records begin: after two lines."""
    return sum(map(len, path.read_bytes().splitlines(keepends=True)[:2]))


SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
import jaxshap, test_faults as faults
def slow(rows):
    time.sleep(0.1)  # so that a busy machine sends its signal in time
    return faults.predict(rows)
try:
    faults.evaluated(sys.argv[2], slow)
except jaxshap.Interrupted as stop:
    assert (stop.worths == faults.TRUTH[:len(stop.worths)]).all()
    sys.exit(77)
"""


def test_signals_at_random_points_lose_no_finished_batch(tmp_path):
    """Those of a user, of a batch system, and kill -9, each at two points, all at once."""
    rng = np.random.default_rng(7)
    signals = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM] * 2
    runs = []
    for number, which in enumerate(signals):
        path = tmp_path / str(number)
        here = str(pathlib.Path(__file__).parent)
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, here, str(path)])
        runs.append([process, which, path, int(rng.integers(600, 3600)), False])
    deadline = time.monotonic() + 120
    while any(process.poll() is None for process, *_ in runs) and time.monotonic() < deadline:
        for run in runs:
            process, which, path, size, sent = run
            if not sent and path.exists() and path.stat().st_size >= size:
                time.sleep(float(rng.random()) * 0.01)
                process.send_signal(which)
                run[-1] = True
        time.sleep(0.002)
    for process, which, path, size, _ in runs:
        ended = process.wait(30)
        assert ended == (77 if which == signal.SIGINT else -which)
        assert path.stat().st_size >= size
        records = (path.stat().st_size - _start(path)) // RECORD_BYTES
        assert calls_of(path) <= 4 + -(-(len(TRUTH) - records) // BATCH)


def test_any_flipped_bit_is_refused(full):
    content = full.read_bytes()
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.integers(0, 400, 60), rng.integers(0, len(content), 140)])
    for place, bit in zip(places, rng.integers(0, 8, 200), strict=True):
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        full.write_bytes(damaged)
        try:
            worths = evaluated(full)
        except CheckpointError:
            continue
        np.testing.assert_array_equal(worths, TRUTH)  # a digit of a sum beyond rounding
        assert place < 400


def test_a_file_cut_off_anywhere_goes_on_from_what_is_whole(full):
    content, whole = full.read_bytes(), calls_of(full)
    lengths = np.random.default_rng(2).integers(0, len(content), 40)
    for length in (0, 1, len(content) - 1, *lengths):
        full.write_bytes(content[:length])
        assert calls_of(full) >= whole


@pytest.fixture
def disk_of():
    """`disk_of(bytes)`: files can grow to this length and no further."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda room: resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [700, 1001, 2345])
def test_a_full_disk_leaves_what_was_evaluated_usable(tmp_path, room, disk_of):
    """A write stops short and the next one fails; the batch that did not fit is in the error."""
    path = tmp_path / "worths"
    disk_of(room)
    with pytest.raises(jaxshap.EvaluationError, match="could not be written") as stop:
        evaluated(path)
    disk_of(resource.RLIM_INFINITY)
    done = len(stop.value.worths)
    np.testing.assert_array_equal(stop.value.worths, TRUTH[:done])
    assert done >= BATCH
    assert path.stat().st_size == room
    assert calls_of(path) <= 4 + (len(TRUTH) - done + BATCH) // BATCH


def test_a_disk_that_is_full_from_the_start_is_told_before_anything_is_evaluated(tmp_path, disk_of):
    disk_of(10)
    with pytest.raises(CheckpointError, match="cannot be written"):
        evaluated(tmp_path / "worths")
    disk_of(resource.RLIM_INFINITY)
    np.testing.assert_array_equal(evaluated(tmp_path / "worths"), TRUTH)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    places = [tmp_path, tmp_path / "no such folder" / "worths", os.devnull]
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    if not os.access(locked, os.W_OK):  # as for the superuser
        places.append(locked / "worths")
    for place in places:
        with pytest.raises(CheckpointError, match="cannot be opened"):
            evaluated(place)


def test_of_two_writers_the_second_is_refused_and_the_first_goes_on(tmp_path):
    path, refused = tmp_path / "worths", []

    def model(rows):
        if len(rows) > 40 and not refused:
            with pytest.raises(CheckpointError, match="in use by another process") as error:
                evaluated(path)
            refused.append(error)
        return predict(rows)

    np.testing.assert_array_equal(evaluated(path, model), TRUTH)
    assert len(refused) == 1
    assert calls_of(path) <= 4


@pytest.mark.parametrize("failure", [ValueError("no"), ConnectionError("gone"), MemoryError()])
def test_a_model_that_raises_loses_nothing_and_is_resumed(tmp_path, failure):
    path, turn = tmp_path / "worths", itertools.count()

    def model(rows):
        if next(turn) == 9:
            raise failure
        return predict(rows)

    with pytest.raises(jaxshap.EvaluationError, match="the model failed after 56 of 160") as stop:
        evaluated(path, model)
    assert stop.value.__cause__ is failure
    carried = pickle.loads(pickle.dumps(stop.value))  # as from a worker
    np.testing.assert_array_equal(carried.worths, TRUTH[:56])
    assert calls_of(path) <= 4 + (len(TRUTH) - 56) // BATCH


def test_a_model_that_hangs_is_interrupted_with_what_was_there(tmp_path):
    path, turn = tmp_path / "worths", itertools.count()

    def model(rows):
        if next(turn) == 7:
            time.sleep(60)
        return predict(rows)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    begin = time.monotonic()
    try:
        with pytest.raises(jaxshap.Interrupted) as stop:
            evaluated(path, model)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begin < 20
    np.testing.assert_array_equal(stop.value.worths, TRUTH[:40])
    assert calls_of(path) <= 4 + (len(TRUTH) - 40) // BATCH


OTHERS = {
    "another model with the same ends": {
        "model": lambda rows: predict(rows) + 0.1 * _is_mixed(rows),
    },
    "a little more of everything": {"model": lambda rows: 1.0001 * predict(rows)},
    "one row that answers a little differently": {
        "model": lambda rows: predict(rows) + 3e-4 * (rows == ROWS[1]).all(1)
    },
    "another row with nearly the same output": {"rows": ROWS + 1e-9},
    "another background": {"background": BACKGROUND[[1, 0, 2]]},
    "other coalitions": {"coalitions": COALITIONS[::-1]},
}


def _is_mixed(rows):
    return ~(rows[:, None] == np.concatenate([ROWS, BACKGROUND])).all(2).any(1)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("other", OTHERS)
def test_a_file_of_something_else_is_refused(tmp_path, other, offset):
    """Also where all worths are large beside what they tell apart."""
    asked = OTHERS[other]
    model = asked.get("model", predict)
    evaluated(tmp_path / "worths", lambda rows: offset + predict(rows))
    with pytest.raises(CheckpointError, match="another path"):
        evaluated(tmp_path / "worths", **asked | {"model": lambda rows: offset + model(rows)})


def test_a_file_of_another_version_is_refused(full):
    content = full.read_bytes()
    assert content.startswith(b'{"jaxshap": 3, ')
    full.write_bytes(content.replace(b'"jaxshap": 3', b'"jaxshap": 2', 1))
    with pytest.raises(CheckpointError, match="version"):
        evaluated(full)
