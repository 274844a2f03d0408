"""Plans are made once for each key, and hold what a fresh plan holds."""

import jax
import numpy as np
import pytest

import jaxshap
from jaxshap.engine import plans


@pytest.fixture
def made(monkeypatch):
    """Which plans were made, none being kept from before."""
    monkeypatch.setattr(plans, "_kept", {})
    budgets, run = [], plans._made_on_host
    monkeypatch.setattr(plans, "_made_on_host", lambda *args: budgets.append(args[2]) or run(*args))
    return budgets


def plan_of(key, budget=60, estimator=None, num_players=7):
    estimator = jaxshap.Leverage() if estimator is None else estimator
    return plans.make_plan(jax.random.key(key), num_players, estimator, budget)[1]


def test_a_plan_is_made_once_for_each_estimator_bucket_and_key(made):
    first = plan_of(0)
    np.testing.assert_array_equal(plan_of(0), first)
    assert len(made) == 1
    plan_of(0, budget=59)  # in the same bucket
    assert len(made) == 1
    others = [plan_of(1), plan_of(0, 90), plan_of(0, estimator=jaxshap.Kernel())]
    assert len(made) == 4
    assert all(other.shape != first.shape or (other != first).any() for other in others)


def test_a_key_of_another_kind_or_with_other_data_has_a_plan_of_its_own(made):
    for key in (jax.random.key(0), jax.random.key(0, impl="rbg"), jax.random.key(1)):
        plans.make_plan(key, 7, jaxshap.Leverage(), 60)
    assert len(made) == 3


def test_a_kept_plan_cannot_be_changed(made):
    with pytest.raises(ValueError, match="read-only"):
        plan_of(0)[0, 0] = True


def test_few_and_only_small_plans_are_kept(made, monkeypatch):
    monkeypatch.setattr(plans, "MAX_KEPT_PLANS", 2)
    for key in (0, 1, 2, 1, 0):
        plan_of(key)
    assert len(made) == 4  # the plan of key 1 was still there, that of key 0 was not
    assert len(plans._kept) == 2
    monkeypatch.setattr(plans, "MAX_KEPT_BYTES", 10)
    plan_of(5)
    plan_of(5)
    assert len(made) == 6
