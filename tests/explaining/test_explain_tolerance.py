"""explain with a tolerance, an interrupt or a failing model: nothing is evaluated twice and nothing
is lost.
"""

import warnings

import numpy as np
import pytest

import jaxshap
from jaxshap.explaining import outlook
from jaxshap.explaining.limits import Limits
from jaxshap.explaining.pace import Timing


def wide(x):
    return (
        x[:, 0] * x[:, 1] * x[:, 2]
        + np.tanh(x[:, 3:].sum(1)) * x[:, 4]
        + x[:, -1] * x[:, 5] * x[:, 6]
    )


def tables(num_rows, num_references, num_columns):
    rng = np.random.default_rng(num_columns)
    return tuple(
        rng.normal(size=(count, num_columns)).astype(np.float32)
        for count in (num_rows, num_references)
    )


class Counted:
    """A host model that keeps the inputs of every call, and may stop at one of them."""

    def __init__(self, stop_at=None, error=None):
        self.inputs, self.stop_at, self.error = [], stop_at, error

    def __call__(self, x):
        if len(self.inputs) == self.stop_at:
            raise self.error
        self.inputs.append(x.copy())
        return wide(x)


def test_a_tolerance_is_met_and_nothing_is_evaluated_twice():
    """One row and one reference, so that every input of the model names its coalition."""
    model, (row, reference) = Counted(), tables(1, 1, 20)
    ex = jaxshap.explain(jaxshap.host(model), row, reference, tol=0.002, budget=100_000)
    inputs = np.concatenate(model.inputs)
    repeated = 4  # row and reference twice, to see whether the model repeats itself
    assert len(np.unique(inputs, axis=0)) == len(inputs) - repeated == ex.num_evaluations
    worths = wide(inputs)
    assert ex.std_error.max() <= 0.002 * (worths.max() - worths.min()) * 1.001
    assert 300 < ex.num_evaluations < 50_000  # it took several rounds, and stopped when it was met


def test_a_tighter_tolerance_costs_more_and_starts_the_same():
    loose, tight = Counted(), Counted()
    how = {"estimator": jaxshap.Leverage()}  # the default meets both in its first round
    costs = [
        jaxshap.explain(jaxshap.host(model), *tables(1, 1, 20), tol=tol, **how).num_evaluations
        for model, tol in ((loose, 0.05), (tight, 0.002))
    ]
    assert costs[0] < costs[1]
    shared = np.concatenate(loose.inputs[:-1])  # the last call looks whether the model changed
    np.testing.assert_array_equal(np.concatenate(tight.inputs)[: len(shared)], shared)


def test_rounds_give_what_one_call_with_their_last_budget_gives():
    row, reference = tables(1, 3, 20)
    how = {"estimator": jaxshap.OddGP()}  # the default goes by the largest budget
    ex = jaxshap.explain(jaxshap.host(wide), row, reference, tol=0.01, **how)
    once = jaxshap.explain(jaxshap.host(wide), row, reference, budget=ex.num_evaluations, **how)
    np.testing.assert_allclose(ex.values, once.values, atol=1e-5)
    np.testing.assert_allclose(ex.std_error, once.std_error, rtol=1e-3)


def test_a_tolerance_that_the_budget_does_not_meet_warns_with_what_it_reached():
    with pytest.warns(
        UserWarning,
        match=r"tol=1e-06 is not met with budget=600: the largest .* Pass a larger budget",
    ):
        ex = jaxshap.explain(jaxshap.host(wide), *tables(2, 3, 20), tol=1e-6, budget=600)
    assert 550 < ex.num_evaluations <= 600


@pytest.mark.parametrize("num_features", [7, 10])
def test_a_tolerance_is_no_obstacle_when_all_coalitions_fit_the_budget(num_features):
    model = Counted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ex = jaxshap.explain(jaxshap.host(model), *tables(1, 1, num_features), tol=0.01)
    worths = wide(np.concatenate(model.inputs))
    assert ex.std_error.max() <= 0.01 * (worths.max() - worths.min()) * 1.001


def test_a_flat_output_meets_every_tolerance():
    model = jaxshap.host(lambda x: np.stack([wide(x), np.full(len(x), 3.0)], axis=1))
    ex = jaxshap.explain(model, *tables(2, 3, 20), tol=0.05)
    np.testing.assert_allclose(ex.values[..., 1], 0, atol=1e-5)


def test_ctrl_c_carries_the_explanation_so_far():
    row, reference = tables(2, 3, 12)
    model = Counted(stop_at=12, error=KeyboardInterrupt())
    how = {"estimator": jaxshap.OddGP()}  # one plan for all background rows
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.explain(jaxshap.host(model), row, reference, budget=400, batch_size=20, **how)
    partial = stop.value.explanation
    before = 3  # calls: the two ends, and one to see whether the model repeats itself
    assert len(stop.value.worths) == 20 * (len(model.inputs) - before)
    complete = jaxshap.explain(
        jaxshap.host(wide), row, reference, budget=len(stop.value.worths) + 2, **how
    )
    assert partial.num_evaluations == complete.num_evaluations
    np.testing.assert_allclose(partial.values, complete.values, atol=1e-5)
    np.testing.assert_allclose(partial.std_error, complete.std_error, rtol=1e-3)


def test_ctrl_c_too_early_for_an_explanation_says_none():
    model = Counted(stop_at=4, error=KeyboardInterrupt())  # two ends, one look, and a batch
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.explain(jaxshap.host(model), *tables(2, 3, 12), budget=400, batch_size=5)
    assert stop.value.explanation is None
    assert len(stop.value.worths) == 5


def test_a_model_that_fails_carries_the_explanation_so_far():
    model = Counted(stop_at=12, error=OSError("the server went away"))
    with pytest.raises(jaxshap.EvaluationError, match="the server went away") as stop:
        jaxshap.explain(jaxshap.host(model), *tables(2, 3, 12), budget=400, batch_size=20)
    assert stop.value.explanation.values.shape == (2, 12)
    assert np.isfinite(stop.value.explanation.values).all()


def test_an_interrupt_in_a_later_round_keeps_the_earlier_ones():
    row, reference = tables(1, 1, 20)
    model = Counted(stop_at=22, error=KeyboardInterrupt())
    with pytest.raises(jaxshap.Interrupted) as stop:
        jaxshap.explain(jaxshap.host(model), row, reference, tol=1e-6, budget=1100, batch_size=32)
    ends, checked = 2, 2
    assert len(stop.value.worths) == sum(map(len, model.inputs)) - ends - checked
    assert stop.value.explanation.num_evaluations == len(stop.value.worths) + 2


def test_rounds_too_small_for_the_estimator_are_skipped():
    """14 players by size ask for 366 evaluations, 702 with errors; rounds of 300 and 600 would come
    first.
    """
    rows, background = tables(1, 2, 14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ex = jaxshap.explain(
            jaxshap.host(wide),
            rows,
            background,
            tol=1e-6,
            budget=1200,
            estimator=jaxshap.Stratified(),
        )
    assert 600 < ex.num_evaluations <= 1200


def test_an_estimator_without_errors_is_named_before_the_budget_is_gone():
    rows, background = tables(1, 2, 14)
    with pytest.warns(
        UserWarning, match=r"ProjectedSGD\(.*\) gives no standard errors\. Pass another estimator"
    ):
        ex = jaxshap.explain(
            jaxshap.host(wide),
            rows,
            background,
            tol=0.01,
            budget=100_000,
            estimator=jaxshap.ProjectedSGD(),
        )
    assert ex.num_evaluations < 2000
    assert np.isnan(ex.std_error).all()


class TestOutlook:
    def test_errors_that_fall_with_the_root_of_the_cost_say_what_a_tolerance_costs(self):
        assert outlook.expected_size([0.04, 0.02], [100, 400], 0.01) == pytest.approx(1600)
        fast = outlook.expected_size([0.04, 0.01], [100, 200], 0.001)
        assert fast == pytest.approx(200 * 10 ** (1 / 2))
        assert np.isnan(outlook.expected_size([np.nan], [100], 0.01))

    def test_a_tolerance_that_cannot_be_met_ends_early_and_says_what_it_would_cost(self):
        """Errors of random orderings fall with the root: 1e-6 would take 1e8 evaluations."""
        model = Counted()
        how = {"estimator": jaxshap.Permutation(antithetic=False), "budget": 40_000}
        with pytest.warns(jaxshap.ToleranceWarning, match="are expected to meet it"):
            ex = jaxshap.explain(jaxshap.host(model), *tables(1, 1, 20), tol=1e-6, **how)
        assert ex.num_evaluations < 10_000

    def test_a_tolerance_that_the_budget_may_meet_is_not_given_up(self):
        limits = Limits((100, 200, 400, 800), tol=0.01)
        assert not outlook.is_hopeless(limits, [0.04, 0.03], [100, 200])  # too few rounds
        assert not outlook.is_hopeless(limits, [0.04, 0.03, 0.02], [100, 200, 400])
        assert outlook.is_hopeless(limits, [0.4, 0.3, 0.2], [100, 200, 400])

    def test_a_long_wait_is_announced_once(self):
        limits = Limits((100, 10_000), tol=0.01)
        slow = [Timing(100, 0.5, 0.0)]
        with pytest.warns(jaxshap.TimeWarning, match="about 1,600 evaluations, 12 minutes"):
            outlook.announce(limits, [0.04], [100], slow)
        with warnings.catch_warnings(action="error"):
            outlook.announce(limits, [0.04], [100], [Timing(100, 0.001, 0.0)])
            outlook.announce(limits, [0.04, 0.02], [100, 200], slow * 2)

    def test_the_bar_says_what_it_costs(self):
        limits = Limits((100, 10_000), tol=0.01)
        assert outlook.cost_words(limits, [], []) == "at most 10,000 evaluations"
        assert outlook.cost_words(limits, [0.04], [100]) == "about 1,600 evaluations for tol=0.01"
        assert outlook.cost_words(Limits((100,)), [], []) == ""
