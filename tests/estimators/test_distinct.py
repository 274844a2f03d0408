"""Gains drawn by Shapley weight without replacement: none twice, unbiased, within the bound."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, random_table

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.estimators import DistinctGains
from jaxshap.games import draw_of_sizes

WORTHS = random_table(9, 5)
TRUTH = brute_force_shapley(WORTHS)
GAME = jaxshap.table(jnp.asarray(WORTHS, jnp.float32))


def weighted_squares():
    """Σ_S p_S gain² and the variance of a draw with replacement, of every player."""
    members = (np.arange(32)[:, None] >> np.arange(5)) & 1 == 1
    squares, variances = [], []
    for player in range(5):
        without = np.flatnonzero(~members[:, player])
        gains = WORTHS[without + 2**player] - WORTHS[without]
        weights = [1 / (5 * math.comb(4, size)) for size in members[without].sum(1)]
        squares.append(np.sum(weights * gains**2))
        variances.append(np.sum(weights * gains**2) - np.sum(weights * gains) ** 2)
    return np.array(squares), np.array(variances)


@pytest.mark.parametrize("num_players", [3, 40])
def test_no_player_joins_the_same_coalition_twice(num_players):
    """All 4 coalitions of 3 players; of 40 players, also sizes that are not drawn by rank."""
    draws = min(12, 2 ** (num_players - 1))
    plan = DistinctGains().plan(jax.random.key(0), num_players, 2 + 2 * num_players * 12)
    joining = np.asarray(plan.detail).reshape(-1, num_players, 2, num_players)
    assert len(joining) == draws
    for player in range(num_players):
        before, after = joining[:, player, 0], joining[:, player, 1]
        assert len(np.unique(before, axis=0)) == draws
        assert not before[:, player].any()
        np.testing.assert_array_equal(after, before | (np.arange(num_players) == player))


def test_a_larger_budget_keeps_every_coalition():
    few, many = (make_plan(jax.random.key(3), 6, DistinctGains(), size)[1] for size in (38, 110))
    np.testing.assert_array_equal(few, many[: len(few)])


def test_first_draws_come_by_their_shapley_weight_and_later_ones_by_what_is_left():
    """3 players, 3,000 keys: player 0 joins ∅, {1}, {2}, {1, 2} with weights 1/3, 1/6, 1/6, 1/3.
    Each of 8 shares is within four standard errors, a false alarm in 2,000.
    """
    keys = jax.random.split(jax.random.key(1), 3000)
    plan = jax.vmap(lambda key: DistinctGains().plan(key, 3, 14).detail)(keys)
    joined = np.asarray(plan).reshape(3000, 2, 3, 2, 3)[:, :, 0, 0] @ [0, 1, 2]
    weights = np.array([1 / 3, 1 / 6, 1 / 6, 1 / 3])
    second = [
        sum(
            weights[first] * weights[code] / (1 - weights[first])
            for first in range(4)
            if first != code
        )
        for code in range(4)
    ]
    for draw, chances in ((joined[:, 0], weights), (joined[:, 1], second)):
        for code, chance in enumerate(chances):
            error = math.sqrt(chance * (1 - chance) / 3000)
            assert abs((draw == code).mean() - chance) < 4 * error


def test_values_are_unbiased_and_vary_less_than_with_replacement_as_the_bound_says():
    """From one gain of each player on; 3,000 keys, |z| < 4. With 12 of 16 gains drawn, the squared
    error is below that with replacement by more than a third; errors say what the spread is.
    """
    keys = jax.random.split(jax.random.key(2), 3000)
    squares, variances = weighted_squares()
    for draws in (1, 4, 12):
        run = jax.jit(
            jax.vmap(lambda key, m=draws: jaxshap.estimate(key, GAME, DistinctGains(), 2 + 10 * m))
        )
        found = run(keys)
        values = np.asarray(found.values, np.float64)
        noise = values.std(0, ddof=1) / math.sqrt(3000)
        assert (np.abs(values.mean(0) - TRUTH) < 4 * noise).all()
        error = ((values - TRUTH) ** 2).mean(0)
        slack = 1 + 4 * math.sqrt(2 / 3000)
        assert (error <= squares / draws).all()
        assert (error <= variances / draws * slack).all()
        if draws == 1:
            assert np.isnan(found.std_error).all()
        else:
            stated = np.sqrt((np.asarray(found.std_error) ** 2).mean(0))
            np.testing.assert_allclose(stated, np.sqrt(error), rtol=0.1)
        assert draws < 12 or (error < variances / draws / 1.5).all()


def test_values_are_exact_once_every_gain_is_drawn_and_no_more_is_spent():
    for budget in (162, 10_000):
        assert len(make_plan(jax.random.key(0), 5, DistinctGains(), budget)[1]) == 160
        found = jaxshap.estimate(0, GAME, DistinctGains(), budget)
        np.testing.assert_allclose(found.values, TRUTH, atol=1e-5)
        assert found.exact.all()
        np.testing.assert_array_equal(found.std_error, 0)


def test_one_gain_of_each_player_is_enough_for_large_games():
    game = jaxshap.make_game(lambda members: members.astype(jnp.float32) @ jnp.arange(300.0), 300)
    found = jaxshap.estimate(0, game, DistinctGains(), 602)
    np.testing.assert_allclose(found.values, np.arange(300.0), atol=0.1)
    with pytest.raises(jaxshap.BudgetError, match="pass budget=602 or more") as refused:
        jaxshap.estimate(0, game, DistinctGains(), 601)
    assert refused.value.needed == 602


@pytest.mark.parametrize("num_players", [1, 5, 50])
def test_turns_of_one_size_are_different_coalitions_of_that_size(num_players):
    sizes = np.repeat(np.arange(num_players + 1), 10)
    turns = np.tile(np.arange(10), num_players + 1)
    number = np.array([math.comb(num_players, size) for size in sizes])
    sizes, turns = sizes[turns < number], turns[turns < number]
    drawn = np.asarray(
        draw_of_sizes(jax.random.key(0), num_players, jnp.asarray(sizes), jnp.asarray(turns))
    )
    np.testing.assert_array_equal(drawn.sum(1), sizes)
    assert len(np.unique(drawn, axis=0)) == len(sizes)
