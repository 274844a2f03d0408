"""Shapley residuals against least squares on the hypercube; the samplers against their errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from known_games import brute_force_shapley, membership, random_table

import jaxshap
from jaxshap import residuals


def by_least_squares(worths, players):
    """The best potential of the players' gains along all edges, the residual flow, the edges."""
    number = len(worths).bit_length() - 1
    edges = [(s, s | 1 << j, j) for j in range(number) for s in range(2**number) if not s >> j & 1]
    gradient = np.zeros((len(edges), 2**number))
    for row, (start, end, _) in enumerate(edges):
        gradient[row, start], gradient[row, end] = -1, 1
    flow = np.array([worths[end] - worths[start] if j in players else 0 for start, end, j in edges])
    potential = np.linalg.lstsq(gradient, flow, rcond=None)[0]
    return potential - potential[0], flow - gradient @ potential, edges


def game_of(worths):
    return jaxshap.table(jnp.asarray(worths))


@pytest.mark.parametrize("number", [2, 4, 6])
def test_norms_are_those_of_least_squares(number):
    with jax.enable_x64(True):
        worths = random_table(number, number)
        found = residuals.norms(game_of(worths))
        expected = [(by_least_squares(worths, {i})[1] ** 2).sum() for i in range(number)]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        sets = [[0, 1], list(range(number)), [number - 1]]
        found = residuals.norms(game_of(worths), sets)
        expected = [(by_least_squares(worths, set(players))[1] ** 2).sum() for players in sets]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_potentials_end_at_the_shapley_values_and_flows_are_what_is_left():
    with jax.enable_x64(True):
        worths = random_table(0, 4)
        potentials, flows = residuals.flows(game_of(worths))
        np.testing.assert_allclose(
            potentials[:, -1] - potentials[:, 0], brute_force_shapley(worths), atol=1e-12
        )
        np.testing.assert_allclose(
            (flows**2).sum((1, 2)), residuals.norms(game_of(worths)), atol=1e-10
        )
        for player in range(4):
            potential, flow, edges = by_least_squares(worths, {player})
            np.testing.assert_allclose(
                potentials[player] - potentials[player, 0], potential, atol=1e-10
            )
            found = [flows[player, j, start] for start, _, j in edges]
            np.testing.assert_allclose(found, flow, atol=1e-10)


def test_additive_games_leave_nothing_and_a_product_leaves_its_known_residue():
    players = membership(3)
    additive = players @ np.array([1.0, -2, 3])
    np.testing.assert_allclose(residuals.norms(game_of(additive.astype(np.float32))), 0, atol=1e-10)
    product = players[:, 0] + 2.0 * players[:, 1] * players[:, 2]
    np.testing.assert_allclose(
        residuals.norms(game_of(product.astype(np.float32))), [0, 2, 2], atol=1e-6
    )
    np.testing.assert_allclose(
        residuals.shares(game_of(product.astype(np.float32))), [0, 0.25, 0.25], atol=1e-6
    )


def test_outputs_are_taken_one_by_one_and_shares_lie_between_0_and_1():
    worths = random_table(1, 5, 2, 3).astype(np.float32)
    norms, shares = residuals.norms(game_of(worths)), residuals.shares(game_of(worths))
    assert norms.shape == shares.shape == (5, 2, 3)
    np.testing.assert_allclose(norms[:, 1, 2], residuals.norms(game_of(worths[:, 1, 2])), rtol=1e-5)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert residuals.flows(game_of(worths)).flows.shape == (5, 5, 32, 2, 3)


def ten_players():
    players = membership(10)
    rng = np.random.default_rng(2)
    return (np.tanh(players @ rng.normal(size=(10, 4))) @ rng.normal(size=4)).astype(np.float32)


@pytest.mark.parametrize("estimate", [residuals.estimate_norms, residuals.estimate_shares])
def test_the_sampler_is_unbiased_and_its_standard_errors_hold(estimate):
    """100 keys, 10 players: the mean z of a player has spread 0.1, the spread of z 0.04."""
    game = game_of(ten_players())
    truth = (residuals.norms if estimate is residuals.estimate_norms else residuals.shares)(game)
    runs = [estimate(key, game, 22 * 150) for key in range(100)]
    z = np.array([(run.values - truth) / run.std_error for run in runs])
    assert np.abs(z.mean(0)).max() < 0.45
    assert abs(z.mean()) < 0.15
    assert 0.85 < z.std() < 1.15


def test_errors_fall_with_the_budget_and_rows_are_batched():
    worths = random_table(3, 6, 4).astype(np.float32)
    small, large = (
        residuals.estimate_norms(0, game_of(worths), budget) for budget in (14 * 50, 14 * 800)
    )
    assert small.values.shape == (6, 4)
    ratio = np.median(small.std_error / large.std_error)
    assert 3 < ratio < 5.3


def count_of(number):
    return jaxshap.make_game(lambda players: players.sum().astype(jnp.float32), number)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: residuals.estimate_norms(0, game_of(random_table(0, 3)), 15), "pass 16 or more"),
        (lambda: residuals.norms(game_of(random_table(0, 3)), [[0, 3]]), "not a set of players"),
        (lambda: residuals.norms(count_of(30)), "at most 22 players"),
        (lambda: residuals.estimate_norms(0, count_of(200), 900), "residuals.estimate_shares"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "estimate", [residuals.estimate_norms, residuals.estimate_shares, residuals.edge_norms]
)
def test_too_small_a_budget_says_how_much_is_needed_and_that_is_enough(estimate):
    game = game_of(random_table(0, 3).astype(np.float32))
    with pytest.raises(jaxshap.BudgetError) as caught:
        estimate(0, game, 15)
    assert np.isfinite(estimate(0, game, caught.value.needed).std_error).all()
    with pytest.raises(jaxshap.BudgetError):
        estimate(0, game, caught.value.needed - 1)


class TestEdges:
    def test_many_draws_per_entry_come_near_the_exact_norms_within_their_errors(self):
        """Four standard errors, and 2 % for the bias that 256 draws per entry leave."""
        game = game_of(np.asarray(random_table(5, 4), np.float32))
        found = residuals.edge_norms(0, game, 600_000, draws_per_entry=256)
        exact = residuals.norms(game)
        assert (np.abs(found.values - exact) < 4 * found.std_error + 0.02 * exact).all()

    def test_few_draws_per_entry_are_biased_upwards_where_the_noise_stability_estimate_is_not(self):
        game = game_of(np.asarray(random_table(6, 4), np.float32))
        exact = np.asarray(residuals.norms(game))
        edges = residuals.edge_norms(1, game, 100_000, draws_per_entry=1)
        stable = residuals.estimate_norms(1, game, 100_000)
        assert ((edges.values - exact) > 4 * edges.std_error).all()
        assert (np.abs(stable.values - exact) < 4 * stable.std_error).all()

    def test_too_small_a_budget_is_named(self):
        with pytest.raises(ValueError, match="buys 1 edges of 82"):
            residuals.edge_norms(0, game_of(np.zeros(16, np.float32)), 100)

    def test_an_entry_takes_a_draw_or_more(self):
        with pytest.raises(jaxshap.InputError, match="draws_per_entry=0: pass a whole number"):
            residuals.edge_norms(0, game_of(np.zeros(16, np.float32)), 100, draws_per_entry=0)


@pytest.mark.parametrize("draws", [25, 100])
def test_intervals_of_shares_hold_with_few_draws(draws):
    """Gains of few coalitions: of 30 keys and 7 players nine tenths; the draws of one key serve all
    players, so that no more than that is asked of 95 %.
    """
    players = membership(7)
    few = players[:, :3].all(1) - 2.0 * players[:, 2:6].all(1) + 0.1 * players @ np.arange(7)
    few += 3 * players[:, [0, 1, 4, 5, 6]].all(1)
    game = game_of(few.astype(np.float32))
    truth = residuals.shares(game)
    held = []
    for key in range(30):
        found = residuals.estimate_shares(key, game, 16 * draws)
        quantile = scipy.stats.t.ppf(0.975, np.asarray(found.degrees))
        held.append(np.abs(found.values - truth) <= quantile * found.std_error)
    assert np.mean(held) > 0.9


def test_the_share_of_a_player_who_was_never_seen_to_add_is_unknown():
    """Player 5 adds only where all others are: 1 of 32 coalitions, which two draws seldom meet."""
    game = game_of(membership(6).all(1).astype(np.float32))
    found = residuals.estimate_shares(0, game, 28)
    unseen = np.asarray(found.values) == 0
    assert unseen.any()
    assert (np.asarray(found.std_error)[unseen] >= 0.3).all()
