"""What single families of estimators promise beyond test_contract.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership, random_table

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.errors import InputError
from jaxshap.estimators import BoostedTrees, LinearSurrogate, PairwiseSurrogate

GAME = jaxshap.table(jnp.asarray(random_table(8, 6), jnp.float32))
TRUTH = brute_force_shapley(random_table(8, 6))
KEYS = jax.random.split(jax.random.key(4), 300)
estimate = jax.jit(jaxshap.estimate, static_argnums=(2, 3))
over_keys = jax.jit(
    jax.vmap(jaxshap.estimate, in_axes=(0, None, None, None)), static_argnums=(2, 3)
)


def mean_squared_error(estimator, budget, game=GAME, truth=TRUTH, keys=KEYS):
    values = np.asarray(over_keys(keys, game, estimator, budget).values)
    return float(((values - truth) ** 2).mean())


def planned(estimator, num_players, budget):
    """The shapes of a plan."""
    return jax.eval_shape(lambda key: estimator.plan(key, num_players, budget), KEYS[0])


def test_optimised_monte_carlo_is_algorithm_one_with_the_recursion_put_right():
    """One pass: mean += (gain − mean)/t, sum of squares += (gain − old mean)(gain − new mean)."""
    estimator = jaxshap.Permutation(antithetic=False)
    plan = estimator.plan(jax.random.key(0), 6, 82)
    worths = np.asarray(jaxshap.evaluate(GAME, plan.coalitions), np.float64).reshape(-1, 5)
    mean, squares = np.zeros(6), np.zeros(6)
    walks = zip(worths, np.asarray(plan.detail)[:, 0], strict=True)
    for count, (walk, position) in enumerate(walks, start=1):
        gains = np.diff([float(GAME.empty), *walk, float(GAME.full)])[position]
        old = mean
        mean = mean + (gains - mean) / count
        squares = squares + (gains - old) * (gains - mean)
    flat_worths = jnp.asarray(worths.reshape(-1), jnp.float32)
    values, error = estimator.solve(plan, flat_worths, GAME.empty, GAME.full)[:2]
    np.testing.assert_allclose(values, mean, atol=1e-5)
    np.testing.assert_allclose(error, np.sqrt(squares / (count - 1) / count), rtol=1e-4)


def test_castro_pays_two_evaluations_per_gain_and_permutation_one():
    """Draws of all players per budget: (budget − 2)/(2n) against (budget − 2)/(n − 1)."""
    castro, permutation = jaxshap.Castro(), jaxshap.Permutation(antithetic=False)
    assert len(planned(castro, 6, 122).coalitions) == 10 * 12
    assert len(planned(permutation, 6, 122).coalitions) == 24 * 5
    assert mean_squared_error(permutation, 122) < mean_squared_error(castro, 122)


@pytest.mark.parametrize("halved", [False, True])
def test_owen_converges_to_the_values_for_any_number_of_levels(halved):
    """4.5 own errors of a mean over 8 keys: one alarm in 10,000 for each of 12 numbers."""
    for levels in (2, 6):
        run = over_keys(KEYS[:8], GAME, jaxshap.Owen(levels, halved=halved), 6_002)
        error_of_mean = np.sqrt((run.std_error**2).sum(0) / 64)
        assert (np.abs(np.asarray(run.values).mean(0) - TRUTH) / error_of_mean).max() < 4.5
        assert np.asarray(run.std_error).max() < 0.08


def test_owen_takes_the_samples_it_is_told_to():
    plan = planned(jaxshap.Owen(4, samples_per_level=3), 6, 10_000)
    assert len(plan.coalitions) == 4 * 3 * 7
    with pytest.raises(ValueError, match="pass budget=86 or more"):
        planned(jaxshap.Owen(4, samples_per_level=3), 6, 85)
    with pytest.raises(ValueError, match="num_levels=0: pass a whole number from 1"):
        jaxshap.Owen(0)
    with pytest.raises(ValueError, match="num_levels=3: pass an even number"):
        jaxshap.Owen(3, halved=True)
    for samples in (0, -3):
        with pytest.raises(InputError, match=f"samples_per_level={samples}: pass a whole number"):
            jaxshap.Owen(4, samples_per_level=samples)


def test_halved_owen_takes_every_mask_with_its_complement():
    estimator = jaxshap.Owen(4, halved=True)
    _, coalitions = make_plan(jax.random.key(0), 6, estimator, 102)
    detail = np.asarray(estimator.plan(jax.random.key(0), 6, 102).detail)
    masks = detail.reshape(-1, 4, 7, 6)[:, :, 0]
    np.testing.assert_array_equal(masks[:, :2], ~masks[:, 2:])
    assert len(coalitions) == 3 * 4 * 7


def test_without_replacement_is_exact_once_nothing_is_left():
    exact = estimate(jax.random.key(0), GAME, jaxshap.WithoutReplacement(), 400)
    np.testing.assert_allclose(exact.values, TRUTH, atol=1e-5)
    np.testing.assert_array_equal(exact.std_error, 0)
    assert len(planned(jaxshap.WithoutReplacement(), 6, 10_000).coalitions) == 12 + 6 * 2 * 30


def test_no_player_joins_the_same_coalition_twice_without_replacement():
    _, coalitions = make_plan(jax.random.key(0), 6, jaxshap.WithoutReplacement(), 300)
    joined = coalitions[12:].reshape(-1, 6, 2, 6)[:, :, 0]
    for player in range(6):
        assert len(np.unique(joined[:, player], axis=0)) == len(joined)
        assert not joined[:, player, player].any()


def test_neyman_allocation_sends_draws_where_gains_spread_and_lowers_the_error():
    """Noise at sizes 3 and 4 only: joining 2, 3 or 4 players is uncertain, joining 1 is not."""
    players = membership(6)
    noise = np.where(np.isin(players.sum(1), (3, 4)), 4 * random_table(9, 6), 0)
    game = jaxshap.table(jnp.asarray(players @ np.arange(6.0) + noise, jnp.float32))
    allocation = jaxshap.engine.neyman_allocation(jax.random.key(0), game, 700)
    assert allocation[0] < 0.05 * max(allocation)
    truth = brute_force_shapley(players @ np.arange(6.0) + noise)
    allocated, equal = (
        mean_squared_error(jaxshap.Stratified(shares), 600, game, truth)
        for shares in (allocation, None)
    )
    assert allocated < 0.9 * equal  # a third of the equal draws is wasted; 300 keys know it to 5 %


def test_an_allocation_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="pass 4 positive numbers"):
        planned(jaxshap.Stratified((1.0, 2.0)), 6, 400)


@pytest.mark.parametrize("paired", [True, False])
def test_msr_does_not_feel_a_shift(paired):
    """Pairs cancel it, single coalitions lose the midpoint; float32 keeps 100 to 1e-5."""
    moved = jaxshap.table(jnp.asarray(random_table(8, 6) + 100, jnp.float32))
    values, shifted = (over_keys(KEYS, game, jaxshap.MSR(paired), 102)[0] for game in (GAME, moved))
    np.testing.assert_allclose(values, shifted, atol=1e-3)


@pytest.mark.parametrize(
    "surrogate",
    [LinearSurrogate(), PairwiseSurrogate(), BoostedTrees(num_trees=30)],
    ids=str,
)
def test_the_values_of_a_surrogate_are_those_of_the_game_it_fitted(surrogate):
    worths = jnp.asarray(random_table(8, 6, 2), jnp.float32)
    used = jnp.arange(64) % 3 > 0
    fitted = jax.jit(surrogate.fit)(jnp.asarray(membership(6)), worths, used)
    np.testing.assert_allclose(fitted.values, brute_force_shapley(fitted.worths), atol=1e-5)
    residuals, worths = np.asarray(worths - fitted.worths)[used], np.asarray(worths)[used]
    assert (residuals.std(0) < 0.97 * worths.std(0)).all()


def test_a_single_fold_is_refused():
    with pytest.raises(InputError, match="num_folds=1: pass a whole number from 2"):
        jaxshap.RegressionAdjusted(num_folds=1)


def test_boosted_trees_fit_what_a_line_cannot_and_adjust_better():
    players = membership(6)
    worths = 5.0 * players[:, :3].all(1) + players[:, 3] + 0.1 * random_table(8, 6)
    game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)
    boosted, linear = (
        mean_squared_error(jaxshap.RegressionAdjusted(surrogate), 402, game, truth, KEYS[:100])
        for surrogate in (BoostedTrees(num_trees=30), LinearSurrogate())
    )
    assert boosted < 0.5 * linear


def test_leverage_takes_all_sizes_alike_and_kernel_favours_the_ends():
    plans = (
        make_plan(jax.random.key(0), 41, estimator, 802)[1]
        for estimator in (jaxshap.Leverage(), jaxshap.Kernel())
    )
    leverage, kernel = (np.bincount(plan.sum(1), minlength=41)[1:] for plan in plans)
    assert np.ptp(leverage) <= 1  # 800 coalitions over 40 sizes
    assert leverage.sum() == kernel.sum() == 800
    assert kernel[0] == 41
    assert kernel[1] > kernel[10] > kernel[19] > 0


def test_odd_linear_is_exact_for_three_players():
    """Single players and their complements are all there is, so nothing is left to fit."""
    game = jaxshap.table(jnp.asarray([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 9.0]))
    exact = jaxshap.estimate(0, game, jaxshap.OddLinear(), budget=8)
    np.testing.assert_allclose(exact.values, jaxshap.shapley_values(game), atol=1e-5)
    assert not np.asarray(exact.std_error).any()
