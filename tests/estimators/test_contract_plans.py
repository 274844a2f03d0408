"""What every estimator of test_contract.py promises about its plans and their cost."""

import jax
import numpy as np
import pytest
from known_games import asymmetric_game, random_table
from test_contract import every_estimator, game_of

import jaxshap
from jaxshap.engine.memory import bucket
from jaxshap.engine.plans import make_plan
from jaxshap.errors import BudgetError

planned = jax.jit(
    lambda key, estimator, *sizes: estimator.plan(key, *sizes), static_argnums=(1, 2, 3)
)


def coalitions_of(promise, num_players, budget):
    return np.asarray(planned(jax.random.key(2), promise.estimator, num_players, budget).coalitions)


@every_estimator
@pytest.mark.parametrize(("num_players", "extra"), [(3, 0), (3, 1), (12, 33)])
def test_plans_leave_out_both_ends_and_keep_within_the_budget(promise, num_players, extra):
    budget = promise.budget_for(num_players, 2 * num_players + 2) + extra
    coalitions = coalitions_of(promise, num_players, budget)
    assert coalitions.shape[1] == num_players
    assert 0 < len(coalitions) <= budget - 2
    assert coalitions.any(1).all()
    assert not coalitions.all(1).any()


@every_estimator
def test_a_larger_budget_keeps_every_coalition_and_evaluates_only_the_new_ones(promise):
    worths, asked = np.float32(random_table(5, 9)), []

    def value(coalitions):
        asked.extend(coalitions @ 2 ** np.arange(9))
        return worths[coalitions @ 2 ** np.arange(9)]

    least = promise.budget_for(9, 37)
    small, large = (coalitions_of(promise, 9, budget) for budget in (least, 2 * least + 97))
    assert len(large) >= len(small)
    np.testing.assert_array_equal(large[: len(small)], small)
    game = jaxshap.make_game(jaxshap.host(value), 9)
    first = jaxshap.evaluate(game, small)
    asked.clear()
    resumed = jaxshap.evaluate(game, large, known=np.asarray(first), batch_size=50)
    codes = (large @ 2 ** np.arange(9)).tolist()
    new = [code for code in dict.fromkeys(codes) if code not in codes[: len(small)]]
    assert asked == new  # in order, and those that a plan repeats once
    np.testing.assert_array_equal(resumed, worths[codes])


@every_estimator
def test_nearby_budgets_new_keys_and_new_games_share_every_compiled_program(promise, compilations):
    """A process that explains with many budgets must not compile a program for each of them."""
    budget = bucket(promise.budget_for(9, 160) + 14)
    games = [game_of(random_table(seed, 9)) for seed in (1, 2)]
    keys = [jax.random.key(seed) for seed in (3, 4)]
    jaxshap.estimate(keys[0], games[0], promise.estimator, budget)
    with compilations() as names:
        jaxshap.estimate(keys[1], games[1], promise.estimator, budget)
        for fewer in (1, 9, 13):
            assert bucket(budget - fewer) == budget
            jaxshap.estimate(keys[0], games[0], promise.estimator, budget - fewer)
    assert names == []


@every_estimator
@pytest.mark.parametrize("num_players", [2, 7])
def test_a_budget_too_small_is_refused_with_the_number_that_works(promise, num_players):
    game = asymmetric_game(num_players)
    with pytest.raises(BudgetError, match=r"pass budget=\d+ or more") as refusal:
        jaxshap.estimate(0, game, promise.estimator, 2)
    needed = refusal.value.needed
    with pytest.raises(BudgetError, match=f"pass budget={needed} or more"):
        jaxshap.estimate(0, game, promise.estimator, needed - 1)
    estimate = jaxshap.estimate(0, game, promise.estimator, needed)
    assert np.isfinite(estimate.values).all()
    if num_players > 2 and not promise.exact:
        std_error = np.asarray(estimate.std_error)
        assert (np.isnan(std_error) | (std_error > 0)).all()  # never 0 for "unknown"


@every_estimator
def test_estimators_are_hashable_values_that_name_themselves(promise):
    """Equal estimators share a jit cache, and the repr says what ran."""
    again = eval(repr(promise.estimator), dict(vars(jaxshap.estimators)))
    assert again == promise.estimator
    assert hash(again) == hash(promise.estimator)


def test_without_an_estimator_it_is_exact_when_all_coalitions_fit_the_budget():
    game = asymmetric_game(6)
    exact = jaxshap.estimate(0, game, budget=64)
    np.testing.assert_array_equal(exact.std_error, 0)
    np.testing.assert_allclose(exact.values, jaxshap.shapley_values(game), rtol=1e-5, atol=1e-6)
    sampled = jaxshap.estimate(0, game, budget=40)
    assert (np.asarray(sampled.std_error) > 0).all()


def test_a_budget_below_both_ends_is_refused():
    with pytest.raises(ValueError, match="cost 2 evaluations"):
        jaxshap.estimate(0, asymmetric_game(3), budget=1)


def test_keys_may_be_numbers():
    game = asymmetric_game(6)
    by_number, by_key = (jaxshap.estimate(key, game, budget=40) for key in (7, jax.random.key(7)))
    np.testing.assert_array_equal(by_number.values, by_key.values)
    other = jaxshap.estimate(8, game, budget=40)
    assert np.abs(np.asarray(other.values) - np.asarray(by_key.values)).max() > 1e-4


def test_estimate_runs_inside_jit_with_nothing_traced_but_its_surroundings():
    game, key = asymmetric_game(5), jax.random.key(0)
    scaled = jax.jit(lambda scale: scale * jaxshap.estimate(key, game, budget=32).values)(2.0)
    np.testing.assert_allclose(scaled, 2 * jaxshap.shapley_values(game), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "estimator", [jaxshap.OddGP(), jaxshap.Leverage(), jaxshap.Kernel(), jaxshap.Permutation()]
)
def test_thousands_of_players_can_be_planned_for(estimator):
    plan, coalitions = make_plan(jax.random.key(0), 4096, estimator, 2 * 4096 + 400)
    assert len(np.unique(np.packbits(coalitions, axis=1), axis=0)) == len(coalitions) >= 2 * 4095
    assert plan.coalitions.dtype == bool
    assert 0 < coalitions.sum(1).min() < coalitions.sum(1).max() < 4096
