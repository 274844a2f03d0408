"""Balanced: its pairs, its read-out and what it promises about errors averaged over many games."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import asymmetric_game, brute_force_shapley, membership, random_table

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.errors import BudgetError
from jaxshap.estimators import Balanced, Leverage, Permutation, Plan, Scattered, balanced_readout
from jaxshap.estimators.balanced_design import PairSequence, pair_sequence
from jaxshap.estimators.balanced_kernel import (
    covariance,
    covariance_between,
    exact_variance,
    own_variance,
)
from jaxshap.estimators.balanced_readout import read_out

NUM_KEYS = 200
COUNTS = [
    (num_players, count)
    for num_players in (2, 3, 4, 5, 7, 12, 15, 30, 65)
    for count in sorted({num_players - 1, num_players, 3 * num_players // 2, 4 * num_players})
    if count < 2 ** (num_players - 1)
] + [(5, 14), (5, 15), (8, 126), (8, 127)]


def sizes_of(sides):
    return np.minimum(sides.sum(1), (~sides).sum(1))


def wanted(num_players):
    """Σ over pairs of each size of linear · signs, if values are Shapley's."""
    return np.where(2 * np.arange(1, num_players // 2 + 1) == num_players, 1.0, 2.0)


def expected_error(sides):
    linear = read_out(sides).linear
    whole = (linear * (covariance(sides) @ linear)).sum()
    return whole - exact_variance(sides.shape[1])


def all_pairs(num_players):
    sides = membership(num_players)[1 : 2 ** (num_players - 1)]  # without the last player
    return np.where(sides.sum(1, keepdims=True) * 2 <= num_players, sides, ~sides)


@pytest.mark.parametrize(("num_players", "count"), COUNTS)
def test_read_outs_are_exact_for_additive_games_and_unbiased_for_every_game(num_players, count):
    """Σ_p linear_p centred_pᵀ is the identity on vectors of sum 0, and each size has its share."""
    sides = pair_sequence(num_players).first(count)
    linear, centred = read_out(sides)[:2]
    identity = np.eye(num_players) - 1 / num_players
    np.testing.assert_allclose(centred.T @ linear, identity, atol=1e-11)
    np.testing.assert_allclose(linear.sum(1), 0, atol=1e-11)
    each = np.bincount(sizes_of(sides), (linear * centred).sum(1), num_players // 2 + 1)[1:]
    np.testing.assert_allclose(each, wanted(num_players), atol=1e-11)


@pytest.mark.parametrize("count", range(3, 8))
def test_the_mean_over_all_relabellings_is_the_shapley_value(count):
    """Of four players, all 24: exactly, for a game without any structure."""
    worths = random_table(1, 4, 2)
    sides, powers = pair_sequence(4).first(count), 2 ** np.arange(4)
    orders = np.array(list(itertools.permutations(range(4))))

    def of_order(parts):
        coalitions = np.stack([sides, ~sides], 1).reshape(-1, 4)[:, parts]
        plan = Plan(jnp.asarray(coalitions), 2 * count, jnp.asarray(parts))
        asked = jnp.asarray(worths[coalitions @ powers])
        return Balanced().solve(plan, asked, jnp.asarray(worths[0]), jnp.asarray(worths[-1]))

    with jax.enable_x64(True):
        values = np.array([of_order(parts).values for parts in orders])
    np.testing.assert_allclose(values.mean(0), brute_force_shapley(worths), atol=1e-12)
    if count < 7:
        assert values.std(0).min() > 1e-3


@pytest.mark.parametrize("budget", [14, 15, 21, 70])
def test_additive_and_pairwise_games_are_exact_for_every_key(budget):
    rng, players = np.random.default_rng(2), membership(7).astype(float)
    pairwise = np.einsum("si,ij,sj->s", players, rng.normal(size=(7, 7)), players)
    worths = np.stack([players @ rng.normal(size=7), pairwise], 1).astype(np.float32)
    game, truth = jaxshap.table(worths), brute_force_shapley(worths)
    for key in range(3):
        values, std_error = jaxshap.estimate(key, game, Balanced(), budget)[:2]
        np.testing.assert_allclose(values, truth, atol=3e-5)
        if budget > 15:
            np.testing.assert_allclose(std_error, 0, atol=3e-5)


@pytest.mark.parametrize("num_players", [3, 4, 5, 8])
@pytest.mark.parametrize("extra", [0, 5])
def test_all_pairs_are_exact_and_say_so(num_players, extra):
    worths = random_table(3, num_players).astype(np.float32)
    game = jaxshap.table(worths)
    estimate = jaxshap.estimate(1, game, Balanced(), 2**num_players + extra)
    values, std_error = estimate.values, estimate.std_error
    assert estimate.exact.all()
    np.testing.assert_allclose(values, brute_force_shapley(worths), atol=1e-5)
    np.testing.assert_array_equal(std_error, 0)


def test_errors_vanish_as_the_last_pairs_come_in():
    sides = all_pairs(8)
    errors = [expected_error(pair_sequence(8).first(count)) for count in (60, 100, 120, 126)]
    assert all(late < early / 2 for early, late in itertools.pairwise(errors))
    exact = read_out(pair_sequence(8).first(len(sides)))
    assert expected_error(pair_sequence(8).first(len(sides))) == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(exact.variance, 0)


@pytest.mark.parametrize("num_players", [4, 9, 20])
def test_more_pairs_never_have_a_larger_expected_error(num_players):
    most = min(2 ** (num_players - 1) - 1, 6 * num_players)
    counts = range(num_players - 1, most + 1)
    errors = [expected_error(pair_sequence(num_players).first(count)) for count in counts]
    assert (np.diff(errors) <= 1e-12).all()


def test_where_regression_joins_in_nothing_is_lost_and_no_bias_comes_in(monkeypatch):
    monkeypatch.setattr(balanced_readout, "MAX_KRIGED_PAIRS", 200)
    errors = []
    for count in (200, 201, 400):
        sides = pair_sequence(11).first(count)
        linear, centred, precision, variance, _ = read_out(sides, dense=count <= 200)
        np.testing.assert_allclose(centred.T @ linear, np.eye(11) - 1 / 11, atol=1e-10)
        each = np.bincount(sizes_of(sides), (linear * centred).sum(1))[1:]
        np.testing.assert_allclose(each, 2, atol=1e-10)
        assert precision.shape == (count, count if count <= 200 else 1)
        assert (variance > 0).all()
        errors.append(expected_error(sides))
    assert errors[1] <= errors[0] * (1 + 1e-6)
    assert errors[2] < 0.7 * errors[1]


def test_the_random_game_has_the_covariance_of_its_orders():
    """By its definition: products of j signs have energies κ_j, and φ of the product of T is 1/|T|
    for each of T.
    """
    sides = all_pairs(7)
    exact, own = read_out(sides).linear, covariance(sides)
    assert (exact * (own @ exact)).sum() == pytest.approx(exact_variance(7), rel=1e-12)
    np.testing.assert_allclose(np.diag(own), own_variance(sides), rtol=1e-12)
    np.testing.assert_allclose(
        own[:5, 5:], covariance_between(sides[:5], sides[5:]), rtol=1e-9, atol=1e-12
    )
    assert np.linalg.eigvalsh(own).min() > 0.009


@pytest.mark.parametrize("num_players", [12, 30])
def test_the_first_round_has_less_error_than_an_ordering(num_players):
    ordering = np.tril(np.ones((num_players - 1, num_players), bool))
    first = pair_sequence(num_players).first(num_players - 1)
    np.testing.assert_array_equal(np.bincount(sizes_of(first))[1:], wanted(num_players))
    assert expected_error(first) < 0.85 * expected_error(ordering)


@pytest.mark.parametrize("num_players", [2, 3, 4, 8, 17, 40, 130])
def test_pairs_are_distinct_and_sizes_come_in_alike(num_players):
    count = min(2 ** (num_players - 1) - 1, 6 * num_players)
    sides = PairSequence(num_players).first(count)
    assert len(sides) == count
    codes = {(side if side[0] else ~side).tobytes() for side in sides}
    assert len(codes) == count
    number = np.bincount(sizes_of(sides), minlength=num_players // 2 + 1)[1:]
    supply = np.array([math.comb(num_players, s) for s in range(1, num_players // 2 + 1)])
    shares = np.where(
        number == supply // (3 - wanted(num_players)), 0, number / wanted(num_players)
    )
    assert np.ptp(shares[shares > 0], axis=0) <= 1 if (shares > 0).any() else True


def test_a_sequence_does_not_depend_on_how_it_is_asked_for():
    at_once, bit_by_bit = PairSequence(10), PairSequence(10)
    whole = at_once.first(200)
    for count in (9, 10, 77, 200, 30):
        np.testing.assert_array_equal(bit_by_bit.first(count), whole[:count])


def test_an_exhausted_sequence_has_every_pair_once():
    sides = PairSequence(11).first(5000)
    assert len({(side if side[0] else ~side).tobytes() for side in sides}) == len(sides) == 1023


def test_keys_relabel_the_players_of_one_plan():
    first, second = (
        np.asarray(Balanced().plan(jax.random.key(key), 9, 60).coalitions) for key in (0, 1)
    )
    assert not (first == second).all()
    signs = [np.where(part, 1, -1) for part in (first, second)]
    np.testing.assert_array_equal(signs[0] @ signs[0].T, signs[1] @ signs[1].T)


def many_games(num_games, num_players):
    """Smooth games with interactions of every order, as different as background rows make them."""
    rng, players = np.random.default_rng(5), membership(num_players)
    inside, outside = rng.normal(size=(2, num_games, num_players))
    points = np.where(players[:, None], inside, outside)  # (2**n, games, n)
    first, second = rng.normal(size=(num_players, 16)), rng.normal(size=16)
    return np.tanh(points @ first / 2) @ second


def averaged(num_keys, worths, budget):
    """Estimates of the mean of many games, each with draws of its own, in float64."""
    num_games, num_players = worths.shape[1], worths.shape[0].bit_length() - 1
    powers, games = 2 ** np.arange(num_players), np.arange(num_games)

    @jax.jit
    @jax.vmap
    def run(key):
        shares = jnp.asarray(worths) / num_games
        plan = Scattered().plan(key, num_players, budget, num_games)
        asked = shares[(plan.coalitions * powers).sum(2), games]
        return Scattered().solve(plan, asked, shares[0], shares[-1])[:2]

    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        return (np.asarray(part) for part in run(jax.random.split(jax.random.key(11), num_keys)))


@pytest.mark.parametrize("budget", [16, 24, 40, 80])
def test_the_mean_over_keys_is_the_shapley_value_for_every_player(budget):
    """|z| < 4 for 8 players: a false alarm in 2,000 for a new key."""
    worths = many_games(3, 8)
    values, _ = averaged(NUM_KEYS, worths, budget)
    spread = values.std(0, ddof=1) / np.sqrt(NUM_KEYS)
    truth = brute_force_shapley(worths.mean(1))
    assert np.abs((values.mean(0) - truth) / spread).max() < 4


@pytest.mark.parametrize("noise", [0, 1], ids=["smooth", "noisy"])
@pytest.mark.parametrize("budget", [24, 40, 80])
def test_standard_errors_of_many_games_are_calibrated(budget, noise):
    """40 games, smooth or mostly noise: the stated size within a tenth of the true one, and 19 of
    20 within 1.96 of it; 800 numbers, so that a tenth is four times the noise of the size.
    """
    worths = many_games(40, 8)
    worths = worths + noise * worths.std() * np.random.default_rng(6).normal(size=worths.shape)
    values, std_error = averaged(100, worths, budget)
    scores = (values - brute_force_shapley(worths.mean(1))) / std_error
    assert 0.9 < np.sqrt((scores**2).mean()) < 1.1
    assert 0.925 < (np.abs(scores) < 1.96).mean() < 0.98


def test_with_as_many_pairs_as_unknowns_no_error_can_be_known():
    game = asymmetric_game(9)
    assert np.isnan(jaxshap.estimate(0, game, Balanced(), 18).std_error).all()
    assert (np.asarray(jaxshap.estimate(0, game, Balanced(), 20).std_error) > 0).all()


def test_a_count_known_only_at_run_time_gives_the_same():
    """As in a plan with padding, whose compiled program serves all nearby budgets."""
    worths = random_table(4, 8, 2).astype(np.float32)
    game, key = jaxshap.table(worths), jax.random.key(2)
    inside = jax.jit(lambda key: jaxshap.estimate(key, game, Balanced(), 70))(key)
    outside = jaxshap.estimate(key, game, Balanced(), 70)
    plan, coalitions = make_plan(key, 8, Balanced(), 70)
    assert len(plan.coalitions) > len(coalitions) == 68
    np.testing.assert_allclose(outside.values, inside.values, atol=1e-5)
    np.testing.assert_allclose(outside.std_error, inside.std_error, rtol=1e-4)


def test_solve_is_linear_so_that_gradients_are_exact():
    plan = Balanced().plan(jax.random.key(0), 6, 30)
    first, second = (jnp.asarray(random_table(seed, 5).astype(np.float32)[:28]) for seed in (6, 7))
    nothing = jnp.zeros((), jnp.float32)

    def values(worths):
        return Balanced().solve(plan, worths, nothing, nothing).values

    moved = jax.jvp(values, (first,), (second,))[1]
    np.testing.assert_allclose(moved, values(second), atol=1e-6)


def test_scattered_over_a_background_it_beats_one_plan_for_all():
    rng = np.random.default_rng(8)
    weights, background = rng.normal(size=(8, 16)).astype(np.float32), rng.normal(size=(40, 8))
    rows = jnp.asarray(rng.normal(size=(2, 8)), jnp.float32)

    def model(points):
        return jnp.tanh(points @ weights).sum(1)

    game = jaxshap.marginal(model, rows, jnp.asarray(background, jnp.float32))
    truth = np.asarray(jaxshap.shapley_values(game))

    def squares(estimator):
        runs = (jaxshap.estimate(key, game, estimator, 40).values for key in range(6))
        return np.mean([(np.asarray(values) - truth) ** 2 for values in runs])

    assert squares(Scattered(Balanced())) < 0.15 * squares(Leverage())


def test_too_small_a_budget_is_refused_and_names_two_per_player():
    with pytest.raises(BudgetError, match="pass budget=20 or more") as refusal:
        Balanced().plan(jax.random.key(0), 10, 19)
    assert refusal.value.needed == 20
    assert len(Balanced().plan(jax.random.key(0), 10, 20).coalitions) == 18


def test_thousands_of_players_walk_orderings():
    budget = 2 * 2000 + 400
    plans = (kind.plan(jax.random.key(0), 2000, budget) for kind in (Balanced(), Permutation()))
    np.testing.assert_array_equal(*(plan.coalitions for plan in plans))
    assert Balanced().plan(jax.random.key(0), 300, 700).coalitions.shape == (698, 300)


def test_short_of_all_pairs_it_asks_about_no_more_than_it_can_use():
    shape = jax.eval_shape(
        lambda key: Balanced().plan(key, 15, 30_000).coalitions, jax.random.key(0)
    )
    assert shape.shape == (2 * 8192, 15)


@pytest.mark.parametrize("budget", [14, 18, 60, 2**7])
@pytest.mark.parametrize("estimator", [Balanced(), Scattered()], ids=repr)
def test_outside_of_jit_numpy_solves_and_says_the_same_as_a_compiled_program(
    estimator, budget, compilations
):
    rng = np.random.default_rng(2)
    rows, background = (rng.normal(size=(size, 7)).astype(np.float32) for size in (3, 6))
    model = jax.tree_util.Partial(lambda w, x: jnp.tanh(x @ w), rng.normal(size=(7, 2)))
    game = jaxshap.marginal(model, rows, background)
    under_jit = jax.jit(lambda game: jaxshap.estimate(5, game, estimator, budget))(game)
    with compilations() as names:
        outside = jaxshap.estimate(5, game, estimator, budget)
    assert not any("_solved" in name for name in names)
    scale = np.abs(outside.values).max()
    np.testing.assert_allclose(under_jit.values, outside.values, atol=1e-5 * scale)
    np.testing.assert_allclose(under_jit.std_error, outside.std_error, rtol=1e-3, atol=1e-6 * scale)
    np.testing.assert_array_equal(under_jit.exact, outside.exact)
    np.testing.assert_allclose(under_jit.degrees, outside.degrees, rtol=1e-3)
