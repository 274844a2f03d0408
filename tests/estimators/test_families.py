"""What is special to single families of estimators; what all of them promise is in
test_contract.py.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership, random_table

import jaxshap
from jaxshap.engine.runner import make_plan

GAME = jaxshap.table(jnp.asarray(random_table(8, 6), jnp.float32))
TRUTH = brute_force_shapley(random_table(8, 6))
KEYS = jax.random.split(jax.random.key(4), 300)
estimate = jax.jit(jaxshap.estimate, static_argnums=(2, 3))
over_keys = jax.jit(
    jax.vmap(jaxshap.estimate, in_axes=(0, None, None, None)), static_argnums=(2, 3)
)


def mean_squared_error(estimator, budget):
    return float(
        ((np.asarray(over_keys(KEYS, GAME, estimator, budget).values) - TRUTH) ** 2).mean()
    )


def test_optimised_monte_carlo_is_algorithm_one_with_the_recursion_put_right():
    """One pass over the orderings: mean += (gain − mean)/t, sum of squares += (gain − old
    mean)(gain − new mean).
    """
    estimator = jaxshap.Permutation(antithetic=False)
    plan = estimator.plan(jax.random.key(0), 6, 82)
    worths = np.asarray(jaxshap.evaluate(GAME, plan.coalitions), np.float64).reshape(-1, 5)
    mean, squares = np.zeros(6), np.zeros(6)
    for count, (walk, position) in enumerate(
        zip(worths, np.asarray(plan.detail)[:, 0], strict=True), start=1
    ):
        gains = np.diff([float(GAME.empty), *walk, float(GAME.full)])[position]
        old = mean
        mean = mean + (gains - mean) / count
        squares = squares + (gains - old) * (gains - mean)
    values, error = estimator.solve(
        plan, jnp.asarray(worths.reshape(-1), jnp.float32), GAME.empty, GAME.full
    )
    np.testing.assert_allclose(values, mean, atol=1e-5)
    np.testing.assert_allclose(error, np.sqrt(squares / (count - 1) / count), rtol=1e-4)


def test_castro_pays_two_evaluations_a_gain_and_permutation_one():
    """Draws of all players for the same budget: (budget − 2)/(2n) against (budget − 2)/(n − 1)."""
    castro, walk = (
        len(jaxshap_plan(one, 6, 122).coalitions)
        for one in (jaxshap.Castro(), jaxshap.Permutation(False))
    )
    assert (castro, walk) == (10 * 12, 24 * 5)
    assert mean_squared_error(jaxshap.Permutation(False), 122) < mean_squared_error(
        jaxshap.Castro(), 122
    )


def jaxshap_plan(estimator, num_players, budget):
    return jax.eval_shape(lambda key: estimator.plan(key, num_players, budget), KEYS[0])


@pytest.mark.parametrize("halved", [False, True])
def test_owen_converges_to_the_values_for_any_number_of_levels(halved):
    """4.5 own errors of a mean over 8 keys: one alarm in 10,000 for each of 12 numbers."""
    for levels in (2, 6):
        run = over_keys(KEYS[:8], GAME, jaxshap.Owen(levels, halved=halved), 6_002)
        errors = np.abs(np.asarray(run.values).mean(0) - TRUTH) / np.sqrt(
            (run.std_error**2).sum(0) / 64
        )
        assert errors.max() < 4.5
        assert np.asarray(run.std_error).max() < 0.08


def test_owen_takes_the_samples_it_is_told_to():
    plan = jaxshap_plan(jaxshap.Owen(4, samples_per_level=3), 6, 10_000)
    assert len(plan.coalitions) == 4 * 3 * 7
    with pytest.raises(ValueError, match="pass budget=86 or more"):
        jaxshap_plan(jaxshap.Owen(4, samples_per_level=3), 6, 85)
    with pytest.raises(ValueError, match="num_levels=0: pass a positive number"):
        jaxshap.Owen(0)
    with pytest.raises(ValueError, match="num_levels=3: pass an even number"):
        jaxshap.Owen(3, halved=True)


def test_halved_owen_takes_every_mask_with_its_complement():
    _, coalitions = make_plan(jax.random.key(0), 6, jaxshap.Owen(4, halved=True), 102)
    masks = np.asarray(jaxshap.Owen(4, halved=True).plan(jax.random.key(0), 6, 102).detail).reshape(
        -1, 4, 7, 6
    )[:, :, 0]
    np.testing.assert_array_equal(masks[:, :2], ~masks[:, 2:])
    assert len(coalitions) == 3 * 4 * 7


def test_without_replacement_is_exact_once_nothing_is_left():
    result = estimate(jax.random.key(0), GAME, jaxshap.WithoutReplacement(), 400)
    np.testing.assert_allclose(result.values, TRUTH, atol=1e-5)
    np.testing.assert_array_equal(result.std_error, 0)
    assert len(jaxshap_plan(jaxshap.WithoutReplacement(), 6, 10_000).coalitions) == 12 + 6 * 2 * 30


def test_no_player_joins_the_same_coalition_twice_without_replacement():
    _, coalitions = make_plan(jax.random.key(0), 6, jaxshap.WithoutReplacement(), 300)
    joined = coalitions[12:].reshape(-1, 6, 2, 6)[:, :, 0]
    for player in range(6):
        assert len(np.unique(joined[:, player], axis=0)) == len(joined)
        assert not joined[:, player, player].any()


def test_neyman_allocation_sends_draws_where_gains_spread_and_lowers_the_error():
    """Noise at size 3 and 4 only: joining coalitions of 2, 3 and 4 is uncertain, joining one player
    is not.
    """
    players = membership(6)
    noise = np.where(np.isin(players.sum(1), (3, 4)), 4 * random_table(9, 6), 0)
    game = jaxshap.table(jnp.asarray(players @ np.arange(6.0) + noise, jnp.float32))
    allocation = jaxshap.engine.neyman_allocation(jax.random.key(0), game, 700)
    assert allocation[0] < 0.05 * max(allocation)
    truth = brute_force_shapley(players @ np.arange(6.0) + noise)
    errors = [
        float(((np.asarray(over_keys(KEYS, game, one, 600).values) - truth) ** 2).mean())
        for one in (jaxshap.Stratified(allocation), jaxshap.Stratified())
    ]
    assert (
        errors[0] < 0.9 * errors[1]
    )  # a third of the draws were of no use; 300 keys know the ratio to 5 %


def test_an_allocation_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="pass 4 positive numbers"):
        jaxshap_plan(jaxshap.Stratified((1.0, 2.0)), 6, 400)


@pytest.mark.parametrize("paired", [True, False])
def test_msr_does_not_feel_a_shift(paired):
    """Pairs cancel it, single coalitions have the midpoint taken off; float32 keeps worths near 100
    to 1e-5.
    """
    shifted = jaxshap.table(jnp.asarray(random_table(8, 6) + 100, jnp.float32))
    plain, moved = (
        over_keys(KEYS, game, jaxshap.MSR(paired), 102).values for game in (GAME, shifted)
    )
    np.testing.assert_allclose(plain, moved, atol=1e-3)


@pytest.mark.parametrize(
    "surrogate",
    [
        jaxshap.estimators.LinearSurrogate(),
        jaxshap.estimators.PairwiseSurrogate(),
        jaxshap.estimators.BoostedTrees(num_trees=30),
    ],
    ids=str,
)
def test_the_values_of_a_surrogate_are_those_of_the_game_it_fitted(surrogate):
    worths = jnp.asarray(random_table(8, 6, 2), jnp.float32)
    used = jnp.arange(64) % 3 > 0
    fitted = jax.jit(surrogate.fit)(jnp.asarray(membership(6)), worths, used)
    np.testing.assert_allclose(fitted.values, brute_force_shapley(fitted.worths), atol=1e-5)
    rest = np.asarray(worths - fitted.worths)[np.asarray(used)]
    assert (rest.std(0) < 0.97 * np.asarray(worths)[np.asarray(used)].std(0)).all()


def test_boosted_trees_fit_what_a_line_cannot_and_adjust_better():
    players = membership(6)
    worths = (
        5.0 * (players[:, 0] & players[:, 1] & players[:, 2])
        + players[:, 3]
        + 0.1 * random_table(8, 6)
    )
    game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)
    errors = [
        float(((np.asarray(over_keys(KEYS[:100], game, one, 402).values) - truth) ** 2).mean())
        for one in (
            jaxshap.RegressionAdjusted(jaxshap.estimators.BoostedTrees(num_trees=30)),
            jaxshap.RegressionAdjusted(),
        )
    ]
    assert errors[0] < 0.5 * errors[1]


def test_leverage_takes_all_sizes_alike_and_kernel_favours_the_ends():
    leverage, kernel = (
        np.bincount(make_plan(jax.random.key(0), 41, one, 802)[1].sum(1), minlength=41)[1:]
        for one in (jaxshap.Leverage(), jaxshap.Kernel())
    )
    assert np.ptp(leverage) <= 1  # 800 coalitions over 40 sizes
    assert leverage.sum() == kernel.sum() == 800
    assert kernel[0] == 41
    assert kernel[1] > kernel[10] > kernel[19] > 0


def test_odd_linear_is_exact_for_three_players():
    """Single players and their complements are all there is, so nothing is left to fit."""
    game = jaxshap.table(jnp.asarray([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 9.0]))
    found = jaxshap.estimate(0, game, jaxshap.OddLinear(), budget=8)
    np.testing.assert_allclose(found.values, jaxshap.shapley_values(game), atol=1e-5)
    assert not np.asarray(found.std_error).any()
