"""evaluate: batches, known worths, interrupts, failures and progress, in one loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import asymmetric_game, membership, random_table

import jaxshap
from jaxshap.engine import batches as engine_batches
from jaxshap.engine import dispatch, evaluation
from jaxshap.games import devices
from jaxshap.games.coalitions import all_coalitions

WORTHS = random_table(0, 6).astype(np.float32)
COALITIONS = np.asarray(all_coalitions(6))


def host_game(before=lambda call: None, outputs=WORTHS):
    """A host game that calls `before(k)` at its k-th batch, the two ends not counted, and lists its
    batches.
    """
    batches = []

    def value(coalitions):
        if len(batches) > 0:
            before(len(batches))
        batches.append(coalitions)
        return outputs[coalitions @ 2 ** np.arange(6)]

    return jaxshap.make_game(jaxshap.host(value), 6), batches


def raises_at(number, error):
    def before(call):
        if call == number:
            raise error

    return before


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000, "auto"])
def test_batches_do_not_change_worths(batch_size):
    game, batches = host_game()
    np.testing.assert_array_equal(jaxshap.evaluate(game, COALITIONS, batch_size=batch_size), WORTHS)
    sizes = [len(batch) for batch in batches[1:]]
    assert sum(sizes) == 64  # nothing is asked for twice, and a host model never sees padding
    assert max(sizes) == min(64, batch_size) if batch_size != "auto" else len(sizes) == 1


@pytest.mark.parametrize("batch_size", [7, 64, "auto"])
def test_traced_batches_agree_inside_and_outside_jit(batch_size):
    game = asymmetric_game(6)
    expected = jax.vmap(game)(jnp.asarray(COALITIONS))
    outside = jaxshap.evaluate(game, COALITIONS, batch_size=batch_size)
    inside = jax.jit(lambda game: jaxshap.evaluate(game, COALITIONS, batch_size=batch_size))(game)
    np.testing.assert_allclose(outside, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(inside, expected, rtol=1e-5, atol=1e-5)


def test_the_automatic_batch_keeps_within_the_byte_limit(monkeypatch):
    """A coalition of this game needs 4 MB and more, so a limit of 20 MB leaves room for a few at a
    time.
    """
    monkeypatch.setattr(engine_batches, "byte_limit", lambda: 20 * 2**20)
    sizes = []

    def value(coalition):
        return jnp.where(coalition[0], jnp.ones(10**6, jnp.float32), 0).cumsum()[-1]

    monkeypatch.setattr(
        engine_batches,
        "_worths",
        lambda *args, run=engine_batches._worths: sizes.append(args[1].shape[1]) or run(*args),
    )
    jaxshap.evaluate(jaxshap.make_game(value, 5), all_coalitions(5))
    assert 1 <= max(sizes) <= 5


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, [1] * 32), (1e9, [1, 4, 16, 11])])
def test_quick_batches_run_many_a_call_and_slow_ones_one_by_one(monkeypatch, seconds, expected):
    counts = []
    monkeypatch.setattr(evaluation, "POLL_INTERVAL_SECONDS", seconds)
    monkeypatch.setattr(
        engine_batches,
        "_worths",
        lambda *args, run=engine_batches._worths: counts.append(int(args[3])) or run(*args),
    )
    game = asymmetric_game(6)
    worths = jaxshap.evaluate(game, COALITIONS, batch_size=2)
    assert counts == expected, counts
    np.testing.assert_array_equal(worths, jaxshap.evaluate(game, COALITIONS, batch_size=64))


def test_a_device_has_the_next_batches_before_the_host_looks_at_these(monkeypatch):
    """Off the CPU: two looks are on their way, and a look copies many calls at once."""
    events = []

    def logged(module, name, event, run):
        monkeypatch.setattr(module, name, lambda *args: events.append(event) or run(*args))

    monkeypatch.setattr(devices, "platform", lambda: "gpu")
    monkeypatch.setattr(dispatch, "MAX_BATCHES", 2)
    monkeypatch.setattr(evaluation, "POLL_INTERVAL_SECONDS", 1e9)
    logged(dispatch, "start_on_device", "call", dispatch.start_on_device)
    logged(dispatch.Work, "finish", "look", dispatch.Work.finish)
    game = asymmetric_game(6)
    worths = jaxshap.evaluate(game, COALITIONS, batch_size=2)
    np.testing.assert_array_equal(worths, jaxshap.evaluate(game, COALITIONS, batch_size=64))
    asked = [1, 1, 2, 8, 5]  # calls of two batches for 1, 1, 4, 16 and 10 of them
    expected = ["call", *(event for count in asked[1:] for event in ["call"] * count + ["look"])]
    assert events[:-2] == [*expected, "look"]


def test_numpy_arrays_of_a_model_are_copied_to_the_device_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        engine_batches,
        "_worths",
        lambda *args, run=engine_batches._worths: calls.append(args[0]) or run(*args),
    )
    weights = np.arange(5, dtype=np.float32)
    model = jax.tree_util.Partial(lambda weights, rows: rows @ weights, weights)
    game = jaxshap.marginal(model, np.ones((1, 5), np.float32), np.zeros((1, 5), np.float32))
    jaxshap.evaluate(game, all_coalitions(5), batch_size=4)
    assert len(calls) > 1
    for leaves in zip(*map(jax.tree.leaves, calls), strict=True):
        assert all(isinstance(leaf, jax.Array) and leaf is leaves[0] for leaf in leaves)


def test_a_last_batch_that_is_not_full_compiles_nothing_new(compilations):
    game = asymmetric_game(6)
    jaxshap.evaluate(game, COALITIONS[:60], batch_size=16)
    with compilations() as names:
        for count in (64, 50, 33):
            jaxshap.evaluate(game, COALITIONS[:count], batch_size=16)
    assert names == []


@pytest.mark.parametrize("batch_size", [0, -3])
def test_a_batch_needs_a_coalition(batch_size):
    with pytest.raises(ValueError, match='positive whole number, or "auto"'):
        jaxshap.evaluate(asymmetric_game(3), all_coalitions(3), batch_size=batch_size)


def test_no_coalitions_have_no_worths():
    assert jaxshap.evaluate(asymmetric_game(3), np.zeros((0, 3), bool)).shape == (0,)


def test_known_worths_are_kept_and_not_asked_for():
    game, batches = host_game()
    known = -WORTHS[:40]
    worths = jaxshap.evaluate(game, COALITIONS, known=known, batch_size=10)
    np.testing.assert_array_equal(worths, np.concatenate([known, WORTHS[40:]]))
    np.testing.assert_array_equal(np.concatenate(batches[1:]), COALITIONS[40:])


def test_when_everything_is_known_nothing_is_asked():
    game, batches = host_game()
    np.testing.assert_array_equal(jaxshap.evaluate(game, COALITIONS, known=WORTHS), WORTHS)
    assert len(batches) == 1  # the two ends


@pytest.mark.parametrize("call", [1, 3])
def test_ctrl_c_hands_back_the_worths_so_far(call):
    game, _ = host_game(raises_at(call, KeyboardInterrupt()))
    with pytest.raises(
        jaxshap.Interrupted, match=f"after {10 * (call - 1)} of 64 coalitions"
    ) as stop:
        jaxshap.evaluate(game, COALITIONS, batch_size=10)
    np.testing.assert_array_equal(stop.value.worths, WORTHS[: 10 * (call - 1)])
    assert isinstance(stop.value, KeyboardInterrupt)  # so that a shell stops as it should


def test_an_interrupted_evaluation_can_be_resumed():
    game, batches = host_game(raises_at(3, KeyboardInterrupt()))
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.evaluate(game, COALITIONS, batch_size=10)
    again, batches = host_game()
    np.testing.assert_array_equal(
        jaxshap.evaluate(again, COALITIONS, known=stop.value.worths), WORTHS
    )
    np.testing.assert_array_equal(np.concatenate(batches[1:]), COALITIONS[20:])


def test_a_model_that_fails_part_of_the_way_hands_back_the_worths_so_far():
    game, _ = host_game(raises_at(4, OSError("the server went away")))
    with pytest.raises(
        jaxshap.EvaluationError,
        match=r"after 30 of 64 coalitions: OSError\('the server went away'\)",
    ) as stop:
        jaxshap.evaluate(game, COALITIONS, batch_size=10)
    np.testing.assert_array_equal(stop.value.worths, WORTHS[:30])
    assert isinstance(stop.value.__cause__, OSError)


def test_a_model_that_fails_at_once_shows_its_own_error():
    game, _ = host_game(raises_at(1, OSError("no such server")))
    with pytest.raises(OSError, match="no such server"):
        jaxshap.evaluate(game, COALITIONS, batch_size=10)


def test_a_host_game_that_changes_its_shape_is_refused():
    calls = []

    def value(coalitions):
        calls.append(coalitions)
        return np.zeros((len(coalitions), 2) if len(calls) > 1 else len(coalitions), np.float32)

    with pytest.raises(ValueError, match=r"shape \(64, 2\) for 64 coalitions, not \(64,\)"):
        jaxshap.evaluate(jaxshap.make_game(jaxshap.host(value), 6), COALITIONS)


def test_progress_shows_a_bar_only_when_asked_or_on_a_terminal(capsys):
    game, _ = host_game()
    jaxshap.evaluate(game, COALITIONS, batch_size=10, progress=True)
    assert "coalitions" in capsys.readouterr().err
    for silent in (False, None):  # None: a captured stream is no terminal
        jaxshap.evaluate(game, COALITIONS, batch_size=10, progress=silent)
        captured = capsys.readouterr()
        assert captured.err == captured.out == ""


def test_short_work_shows_no_bar_even_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    game, _ = host_game()
    jaxshap.evaluate(game, COALITIONS, batch_size=10)
    assert capsys.readouterr().err.strip() == ""


def test_worths_follow_the_order_asked_for():
    game, _ = host_game(outputs=random_table(1, 6, 3).astype(np.float32))
    order = np.random.default_rng(0).permutation(64)
    worths = jaxshap.evaluate(game, membership(6)[order], batch_size=9)
    np.testing.assert_array_equal(worths, random_table(1, 6, 3).astype(np.float32)[order])


def test_a_mesh_is_refused_where_it_could_not_be_used():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("a",))
    game = jaxshap.make_game(jaxshap.host(lambda s: s.sum(1).astype(np.float32)), 3)
    with pytest.raises(ValueError, match="omit it"):
        jaxshap.evaluate(game, np.ones((2, 3), bool), mesh=mesh)


@pytest.mark.parametrize("batch_size", [3, "auto"])
def test_a_repeated_coalition_is_asked_about_once(batch_size):
    game, batches = host_game()
    order = np.array([5, 9, 5, 5, 17, 9, 33, 17, 5, 60])
    worths = jaxshap.evaluate(game, COALITIONS[order], batch_size=batch_size)
    np.testing.assert_array_equal(worths, WORTHS[order])
    np.testing.assert_array_equal(np.concatenate(batches[1:]), COALITIONS[[5, 9, 17, 33, 60]])


def test_known_worths_answer_their_repetitions():
    game, batches = host_game()
    order = np.array([5, 9, 5, 17, 9])
    worths = jaxshap.evaluate(game, COALITIONS[order], known=WORTHS[[5, 9]])
    np.testing.assert_array_equal(worths, WORTHS[order])
    np.testing.assert_array_equal(np.concatenate(batches[1:]), COALITIONS[[17]])


def test_an_interrupt_among_repetitions_keeps_a_prefix():
    game, _ = host_game(raises_at(3, KeyboardInterrupt()))
    order = np.array([5, 9, 5, 9, 17, 9, 33, 17, 5, 60])
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.evaluate(game, COALITIONS[order], batch_size=2)
    np.testing.assert_array_equal(stop.value.worths, WORTHS[order[:9]])


def test_a_device_evaluates_repeated_coalitions_once(monkeypatch):
    game, counts, asked = asymmetric_game(6), [], dispatch.start_on_device

    def counted(game, coalitions, *how):
        counts.append(len(coalitions))
        return asked(game, coalitions, *how)

    monkeypatch.setattr(dispatch, "start_on_device", counted)
    order = np.tile(np.arange(1, 9), 5)
    worths = jaxshap.evaluate(game, COALITIONS[order])
    assert sum(counts) == 8
    np.testing.assert_allclose(worths, jax.vmap(game)(COALITIONS[order]), rtol=1e-6)


def test_strata_are_asked_about_repeated_coalitions_of_their_own():
    inputs = []

    def model(x):
        inputs.append(x.copy())
        return x[:, 0] * x[:, 1] + x[:, 2]

    rows, background = np.array([[1.0, 2.0, 4.0]]), np.array([[-1.0, 0.5, 3.0], [7.0, 8.0, 9.0]])
    game = jaxshap.marginal(jaxshap.host(model), rows, background)
    inputs.clear()
    first, second = np.eye(3, dtype=bool)[:2]
    coalitions = np.stack([[first, second], [second, second], [first, first]])
    worths = jaxshap.evaluate(game, coalitions)
    expected = [[1 * 0.5 + 3, 7 * 2 + 9], [-1 * 2 + 3, 7 * 2 + 9], [1 * 0.5 + 3, 1 * 8 + 9]]
    np.testing.assert_allclose(worths[..., 0], np.array(expected) / 2)
    assert sum(map(len, inputs)) == 4


def test_identical_inputs_of_a_host_model_are_asked_about_once():
    """Features 1 to 4 are those of the reference, so masked inputs differ by two features alone."""
    counts = []

    def model(x):
        counts.append(len(x))
        return x[:, 0] * x[:, 5] + x.sum(1)

    reference = np.arange(6.0)[None]
    rows = reference + np.array([1.0, 0, 0, 0, 0, 1.0])
    explained = jaxshap.explain(jaxshap.host(model), rows, reference)
    repeated = 2 + 2  # row and reference, to see whether the model repeats itself
    assert sum(counts) == 1 + 1 + repeated + 4  # row, reference, and the four mixtures of both
    np.testing.assert_allclose(explained.values, [[1 + 5.5 - 0.0, 0, 0, 0, 0, 1 + 0.5]])
