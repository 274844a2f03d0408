"""Intervals, and the posterior of BayesSHAP."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership, random_table
from scipy import stats

import jaxshap
from jaxshap.games import draw_independent, kernel_mass
from jaxshap.trust.bayesian import posterior
from jaxshap.trust.efficient_bayes import efficient_posterior

ESTIMATE = jaxshap.Estimate(jnp.asarray([1.0, -2.0]), jnp.asarray([0.5, 0.1]))


def test_intervals_are_quantiles_of_the_normal_and_of_students_distribution():
    for degrees, quantile in ((None, stats.norm.ppf(0.95)), (4, stats.t.ppf(0.95, 4))):
        lower, upper = jaxshap.trust.interval(ESTIMATE, 0.9, degrees)
        np.testing.assert_allclose(
            upper - ESTIMATE.values, quantile * ESTIMATE.std_error, rtol=1e-5
        )
        np.testing.assert_allclose(
            ESTIMATE.values - lower, quantile * ESTIMATE.std_error, rtol=1e-5
        )
    with pytest.raises(ValueError, match="pass a number above 0 and below 1"):
        jaxshap.trust.interval(ESTIMATE, 95.0)


def test_students_intervals_cover_as_they_say_with_few_draws():
    """Four orderings leave 3 degrees of freedom: t covers 95 %, the normal far less; 800 keys."""
    worths = random_table(2, 6)
    game = jaxshap.table(jnp.asarray(worths, jnp.float32))
    truth = jaxshap.shapley_values(jaxshap.table(worths))
    run = jax.jit(jax.vmap(lambda key: jaxshap.estimate(key, game, jaxshap.Permutation(False), 22)))
    estimates = run(jax.random.split(jax.random.key(0), 800))
    covered = {}
    for degrees in (3, None, np.inf):
        lower, upper = jaxshap.trust.interval(estimates, 0.95, degrees)
        covered[degrees] = float(((lower <= truth) & (truth <= upper)).mean())
    assert 0.93 < covered[3] < 0.985
    assert covered[None] == covered[3]  # the estimate says so itself
    assert covered[np.inf] < 0.91


def test_the_posterior_is_the_formula():
    rng = np.random.default_rng(0)
    members, gains, weights = membership(4)[1:-1], rng.normal(size=(14, 3)), rng.uniform(0.5, 2, 14)
    with jax.enable_x64(True):
        found = posterior(jnp.asarray(members), jnp.asarray(gains), jnp.asarray(weights))
        covariance = np.linalg.inv(members.T @ (weights[:, None] * members) + np.eye(4))
        values = covariance @ members.T @ (weights[:, None] * gains)
        rest = gains - members @ values
        scale = ((weights[:, None] * rest**2).sum(0) + (values**2).sum(0)) / 14
        np.testing.assert_allclose(found.covariance, covariance, rtol=1e-10)
        np.testing.assert_allclose(found.values, values, rtol=1e-10)
        np.testing.assert_allclose(found.scale, scale, rtol=1e-10)
        np.testing.assert_allclose(
            found.std_error(), np.sqrt(np.diag(covariance)[:, None] * scale), rtol=1e-10
        )
        density = [stats.t.pdf(0, 14, scale=math.sqrt(s)) for s in scale]
        np.testing.assert_allclose(found.error_density(), density, rtol=1e-8)


def test_draws_from_the_posterior_fill_its_intervals():
    """20,000 draws: the share within a 90 % interval has an error of 0.002."""
    game = jaxshap.table(jnp.asarray(random_table(3, 5, 2), jnp.float32))
    found = jaxshap.trust.bayes_shap(0, game, 60)
    draws = found.draw(jax.random.key(1), 20_000)
    lower, upper = found.interval(0.9)
    share = np.asarray(((lower <= draws) & (draws <= upper)).mean(0))
    np.testing.assert_allclose(share, 0.9, atol=0.01)


def test_more_evaluations_reach_the_width_asked_for():
    game = jaxshap.table(jnp.asarray(random_table(3, 6), jnp.float32))
    first = jaxshap.trust.bayes_shap(0, game, 200)
    lower, upper = first.interval()
    width = float((upper - lower).max()) / 3
    more = first.more_evaluations(width)
    assert 7 * 198 < more < 9 * 198
    lower, upper = jaxshap.trust.bayes_shap(0, game, 200 + more).interval()
    assert 0.85 * width < float((upper - lower).max()) < 1.15 * width
    assert jaxshap.trust.bayes_shap(0, game, 200 + more).more_evaluations(2 * width) == 0


def test_a_better_fit_has_a_higher_density_of_no_error():
    players = membership(5)
    additive = jaxshap.table(
        jnp.asarray(players @ np.arange(5.0) + 0.1 * random_table(1, 5), jnp.float32)
    )
    rough = jaxshap.table(jnp.asarray(players @ np.arange(5.0) + random_table(1, 5), jnp.float32))
    close, far = (jaxshap.trust.bayes_shap(0, game, 200) for game in (additive, rough))
    assert close.error_density() > 2 * far.error_density()


def test_a_budget_that_buys_no_coalition_names_what_is_needed():
    with pytest.raises(jaxshap.BudgetError, match="budget=3 or more") as refused:
        jaxshap.trust.bayes_shap(0, jaxshap.table([0.0, 1.0, 2.0, 4.0]), 2)
    assert refused.value.needed == 3


def bayes_games():
    """Noise, votes, two who only gain together, and a product: in none is the scatter even."""
    players = membership(6)
    weights = np.arange(1.0, 7.0)
    worths = [
        random_table(3, 6),
        (2 * players @ weights > weights.sum()).astype(float),
        players @ weights + 8 * players[:, 0] * players[:, 1],
        np.prod(0.5 + players[:, :4], axis=1),
    ]
    return np.stack(worths, axis=1)


def test_efficient_intervals_cover_the_shapley_values_and_unconstrained_ones_do_not():
    """95 % intervals of 6 values of 4 games, 400 keys each: a share has an error of 0.011, so that
    one in 24 outside 0.905 to 0.995 is a false alarm in 1,000 (few coalitions make it wider).
    Unconstrained ones cover less with every coalition, since their limit is another vector.
    """
    worths = bayes_games()
    truth, total = brute_force_shapley(worths), jnp.asarray(worths[-1] - worths[0], jnp.float32)
    table = jnp.asarray(worths - worths[0], jnp.float32)
    codes = 2 ** jnp.arange(6)

    def covered(key, count, is_efficient):
        drawn = draw_independent(key, 6, count, kernel_mass(6))
        gains = table[drawn.astype(jnp.int32) @ codes]
        found = (
            efficient_posterior(drawn, gains, total) if is_efficient else posterior(drawn, gains)
        )
        lower, upper = found.interval()
        return (lower <= truth) & (truth <= upper)

    keys = jax.random.split(jax.random.key(5), 400)
    for count in (50, 400):
        shares = np.asarray(jax.vmap(lambda key, m=count: covered(key, m, True))(keys)).mean(0)
        assert ((shares > 0.905) & (shares < 0.995)).all(), shares
        assert 0.935 < shares.mean() < 0.975
    few, many = (
        np.asarray(jax.vmap(lambda key, m=count: covered(key, m, False))(keys)).mean()
        for count in (50, 1000)
    )
    assert many < 0.8 < few


def test_the_efficient_posterior_is_exact_for_additive_games_and_sums_to_the_gain():
    worths = bayes_games()
    game = jaxshap.table(jnp.asarray(worths, jnp.float32))
    found = jaxshap.trust.efficient_bayes_shap(3, game, 80)
    gain = np.asarray(game.full - game.empty)
    np.testing.assert_allclose(found.values.sum(0), gain, rtol=1e-5)
    draws = found.draw(jax.random.key(1), 20_000)
    np.testing.assert_allclose(draws.sum(1), np.broadcast_to(gain, (20_000, 4)), atol=1e-2)
    lower, upper = found.interval(0.9)
    share = np.asarray(((lower <= draws) & (draws <= upper)).mean(0))
    np.testing.assert_allclose(share, 0.9, atol=0.01)
    assert found.more_evaluations(1e9) == 0 < found.more_evaluations(1e-3)

    additive = jaxshap.table(jnp.asarray(membership(6) @ np.arange(1.0, 7.0), jnp.float32))
    found = jaxshap.trust.efficient_bayes_shap(3, additive, 80)
    np.testing.assert_allclose(found.values, np.arange(1.0, 7.0), rtol=1e-5)
    assert (found.std_error() > 0).all()  # 0 would mean exact
    assert (found.std_error() < 1e-4).all()


def test_the_sandwich_is_the_spread_of_the_efficient_values_over_keys():
    """Within 15 % for 300 coalitions and 400 keys, four times the error of a spread."""
    worths = bayes_games()
    game = jaxshap.table(jnp.asarray(worths, jnp.float32))
    run = jax.vmap(lambda key: jaxshap.trust.efficient_bayes_shap(key, game, 302))
    found = run(jax.random.split(jax.random.key(6), 400))
    variance = jnp.moveaxis(jnp.diagonal(found.covariance, axis1=1, axis2=2), -1, 1).mean(0)
    np.testing.assert_allclose(jnp.sqrt(variance), found.values.std(0, ddof=1), rtol=0.15)


def test_a_regression_that_cannot_tell_players_apart_is_nan_and_too_small_a_budget_refused():
    members = jnp.asarray([[True, False, False]] * 4)
    found = efficient_posterior(members, jnp.ones(4), jnp.asarray(1.0))
    assert jnp.isnan(found.values).all()
    assert jnp.isnan(found.std_error()).all()
    game = jaxshap.table([0.0, 1.0, 2.0, 4.0])
    with pytest.raises(jaxshap.BudgetError, match="pass budget=4 or more") as refused:
        jaxshap.trust.efficient_bayes_shap(0, game, 3)
    assert refused.value.needed == 4
    with pytest.raises(jaxshap.InputError, match="two or more"):
        jaxshap.trust.efficient_bayes_shap(0, jaxshap.table([0.0, 1.0]), 10)
