"""explain with seconds=: time is spent, not evaluations, by a clock that the model itself moves."""

import time
import types
import warnings

import numpy as np
import pytest

import jaxshap
from jaxshap.explaining import limits, pace, rounds

CHECKED = 4  # inputs: row and reference twice, to see whether the model repeats itself


def wide(x):
    return x[:, 0] * x[:, 1] * x[:, 2] + np.tanh(x[:, 3:].sum(1)) * x[:, 4] + x[:, -1] * x[:, 5]


def tables(num_columns, num_references=1):
    rng = np.random.default_rng(num_columns)
    return tuple(rng.normal(size=(count, num_columns)) for count in (1, num_references))


class SlowModel:
    """A host model that takes some seconds per row, of a clock that nothing else moves."""

    def __init__(self, monkeypatch, seconds_per_row, stop_at=None):
        self.now, self.seconds_per_row, self.inputs = 0.0, seconds_per_row, []
        self.stop_at = stop_at
        for module in (limits, pace, rounds):
            clock = types.SimpleNamespace(monotonic=lambda: self.now)
            monkeypatch.setattr(module, "time", clock)

    def __call__(self, x):
        if self.stop_at is not None and self.now >= self.stop_at:
            raise KeyboardInterrupt
        self.now += self.seconds_per_row * len(x)
        self.inputs.append(x.copy())
        return wide(x)


def explained(model, tables, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return jaxshap.explain(jaxshap.host(model), *tables, **how)


def test_time_is_spent_and_not_exceeded_and_nothing_is_asked_twice(monkeypatch):
    model = SlowModel(monkeypatch, 0.25)
    ex = explained(model, tables(14), seconds=60, batch_size=16)
    assert 50 < model.now <= 60
    inputs = np.concatenate(model.inputs)
    assert len(np.unique(inputs, axis=0)) == len(inputs) - CHECKED == ex.num_evaluations
    assert 0 < ex.std_error.max() < np.inf


def test_the_values_depend_on_the_number_of_evaluations_alone(monkeypatch):
    slow, slower = SlowModel(monkeypatch, 0.25), None
    first = explained(slow, tables(14), seconds=60)
    slower = SlowModel(monkeypatch, 0.5)
    second = explained(slower, tables(14), seconds=120)
    same = explained(wide, tables(14), budget=first.num_evaluations, estimator=jaxshap.OddGP())
    assert first.num_evaluations == second.num_evaluations == same.num_evaluations
    for other in (second, same):
        np.testing.assert_allclose(first.values, other.values, atol=1e-6)
        np.testing.assert_allclose(first.std_error, other.std_error, rtol=1e-3)


@pytest.mark.parametrize("num_references", [1, 3, 32])
def test_all_coalitions_are_exact_where_they_fit(monkeypatch, num_references):
    model = SlowModel(monkeypatch, 0.1)
    inputs = tables(7, num_references)
    ex = explained(model, inputs, seconds=20 * num_references)
    assert (ex.estimator, ex.num_evaluations) == ("Exact()", 128)
    assert not ex.std_error.any()
    exact = explained(wide, inputs, estimator=jaxshap.Exact())
    np.testing.assert_allclose(ex.values, exact.values, atol=1e-6)


def test_all_coalitions_that_cost_next_to_nothing_are_exact_even_where_the_time_is_over(
    monkeypatch,
):
    model = SlowModel(monkeypatch, 1e-4)

    def starting(x):
        model.now += 30.0 * (not model.inputs)  # such as a compilation
        return model(x)

    with pytest.warns(jaxshap.TimeWarning, match="exceeded"):
        ex = jaxshap.explain(jaxshap.host(starting), *tables(7), seconds=10)
    assert (ex.estimator, ex.num_evaluations) == ("Exact()", 128)


def test_a_first_round_that_takes_too_long_is_returned_and_said(monkeypatch):
    model = SlowModel(monkeypatch, 5.0)
    with pytest.warns(jaxshap.TimeWarning, match=r"seconds=10 .* 26 evaluations, took 140\.0"):
        ex = jaxshap.explain(jaxshap.host(model), *tables(12), seconds=10)
    assert ex.num_evaluations == 26  # each player alone, and all others


def test_all_coalitions_that_take_longer_than_predicted_are_no_smallest_round(monkeypatch):
    model = SlowModel(monkeypatch, 0.1)

    def slower_and_slower(x):
        model.seconds_per_row = 0.1 if len(model.inputs) < 8 else 0.4
        return model(x)

    how = {"seconds": 20, "batch_size": 8}
    with pytest.warns(jaxshap.TimeWarning, match=r"seconds=20 were exceeded: 128 evaluations") as w:
        ex = jaxshap.explain(jaxshap.host(slower_and_slower), *tables(7), **how)
    assert ex.estimator == "Exact()"
    assert len(w) == 1


def test_texts_share_the_time(monkeypatch):
    model = SlowModel(monkeypatch, 0.25)

    def strings(texts):
        return model(np.array([[one.count(letter) for letter in "abcdefgh"] for one in texts]))

    given = ["a b c d e f g h i j", "k l a b c d e f g h"]
    first, second = jaxshap.texts.explain_texts(strings, given, seconds=60)
    assert 40 < model.now <= 60
    assert first.num_evaluations > 60 < second.num_evaluations


def test_seconds_of_a_real_clock_are_kept_and_bring_no_warning():
    def slow(x):
        time.sleep(0.0005 * len(x))
        return wide(x)

    begin = time.monotonic()
    ex = explained(slow, tables(9), seconds=60)
    assert time.monotonic() - begin < 60  # a second or two on an idle machine
    assert ex.estimator == "Exact()"


def test_a_tolerance_ends_it_sooner(monkeypatch):
    model = SlowModel(monkeypatch, 0.01)
    ex = explained(model, tables(14), seconds=1000, tol=0.02)
    assert model.now < 100
    worths = wide(np.concatenate(model.inputs))
    assert ex.std_error.max() <= 0.02 * np.ptp(worths) * 1.001


def test_a_tolerance_that_the_time_does_not_meet_warns(monkeypatch):
    model = SlowModel(monkeypatch, 0.25)
    with pytest.warns(jaxshap.ToleranceWarning, match=r"with seconds=20: .* Pass more seconds"):
        jaxshap.explain(jaxshap.host(model), *tables(14), seconds=20, tol=1e-5)


def test_an_interrupt_carries_the_explanation_so_far(monkeypatch):
    model = SlowModel(monkeypatch, 0.25, stop_at=40)
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.explain(jaxshap.host(model), *tables(14), seconds=60, batch_size=8)
    spent = sum(map(len, model.inputs)) - CHECKED // 2  # the second look comes at the end
    assert stop.value.explanation.num_evaluations in (spent - 1, spent)  # whole pairs


def test_a_checkpoint_goes_on_where_the_time_was_over(monkeypatch, tmp_path):
    how = {"checkpoint": tmp_path / "worths", "batch_size": 8}
    model = SlowModel(monkeypatch, 0.25)
    first = explained(model, tables(14), seconds=30, **how)
    again = SlowModel(monkeypatch, 0.25)
    second = explained(again, tables(14), seconds=30, **how)
    assert second.num_evaluations > 1.5 * first.num_evaluations
    assert again.now <= 30
    before, asked = np.concatenate(model.inputs), np.concatenate(again.inputs)
    repeated = (asked[:, None] == before).all(2).any(1).sum()
    same_model = 3  # inputs that tell whether the model is still the one of the file
    assert repeated == 2 + CHECKED + same_model  # and the two ends


def test_background_rows_with_coalitions_of_their_own_are_timed_too(monkeypatch):
    model = SlowModel(monkeypatch, 0.01)
    ex = explained(model, tables(14, 32), seconds=60)
    assert "Scattered" in ex.estimator
    assert 40 < model.now <= 60
    assert ex.num_evaluations < 60 / 0.01 / 32


def test_the_bar_shows_the_largest_error_and_the_time_left(monkeypatch, capsys):
    model = SlowModel(monkeypatch, 0.25)
    explained(model, tables(14), seconds=60, progress=True, batch_size=8)
    shown = capsys.readouterr().err
    assert "59 s left" in shown  # the two ends and the first look took 1
    assert "% of the spread, 52 s left" in shown


@pytest.mark.parametrize("seconds", [0, -1, np.nan, True])
def test_seconds_are_a_positive_number(seconds):
    with pytest.raises(jaxshap.InputError, match="positive number of seconds"):
        jaxshap.explain(wide, *tables(8), seconds=seconds)


@pytest.mark.parametrize("how", [{"separate_draws": True}, {"model_rows": 1000}])
def test_what_seconds_does_not_go_with_is_named(how):
    with pytest.raises(jaxshap.InputError, match="seconds="):
        jaxshap.explain(wide, *tables(8, 40), seconds=10, **how)
