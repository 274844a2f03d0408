"""Sampled interactions: read-outs by definition, exactness, honest errors, wrong arguments."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import (
    asymmetric_game,
    asymmetric_parameters,
    asymmetric_value,
    membership,
    random_table,
)

import jaxshap
from jaxshap.estimators import OddInteractions
from jaxshap.estimators.odd import interactions as odd_interactions
from jaxshap.estimators.odd import nodes
from jaxshap.estimators.odd import sets as odd_sets
from jaxshap.estimators.odd.mixture import SignMixture
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.odd.sparse import searched
from jaxshap.games import WEIGHTS, sets_of_size, sets_up_to
from jaxshap.interactions import estimate_interactions, exact_interactions

N = 5
INDICES = ["Moebius", "SII", "k-SII", "STII", "FSII", "BII"]
EFFICIENT = ["k-SII", "STII", "FSII"]
CASES = [("SII", 3), ("k-SII", 2), ("FSII", 2)]


def game_of(worths):
    return jaxshap.table(jnp.asarray(worths, jnp.float32))


def mixture(odd):
    numbers = {"log_nu": 0.03, "log_w": 0.2, "log_size": 0.2, "low_odds": 0.7}
    logs = {name: jnp.log(jnp.asarray(number)) for name, number in numbers.items()}
    theta = jnp.log(jnp.asarray([0.3, 0.05, 0.9, 0.4, 0.2]))
    return SignMixture(log_theta=theta, odd=odd, **logs)


def operator(index, order):
    """The index as a matrix (sets, coalitions)."""
    return np.asarray(exact_interactions(jaxshap.table(jnp.eye(2**N)), index, order).values)


@pytest.mark.parametrize("odd", [True, False], ids=["odd", "even"])
def test_read_outs_are_those_of_the_index_on_the_covariance_of_all_worths(odd):
    with jax.enable_x64(True):
        signs = np.where(membership(N), 1.0, -1.0)
        lift = np.zeros((32, 16))  # from the pairs, by their side with the last player, to worths
        lift[np.arange(16, 32), np.arange(16)] = 1
        lift[15 - np.arange(16), np.arange(16)] = -1 if odd else 1
        covariance = lift @ np.array(mixture(odd).covariance(jnp.asarray(signs[16:]))) @ lift.T
        for index, order in CASES:
            matrix, sizes = operator(index, order), sets_up_to(N, order)[1:].sum(1)
            asked = odd_sets.SetsOf(index, order, N, odd)
            read = jax.jit(asked.read_out)
            for size in range(1, order + 1):
                own = matrix[sizes == size]
                if size not in asked.sizes:
                    np.testing.assert_allclose(own @ lift, 0, atol=1e-12)
                    continue
                cross, variance = read(mixture(odd), signs, sets_of_size(N, size))
                np.testing.assert_allclose(cross.T, own @ covariance, atol=1e-12)
                expected = np.einsum("sa,ab,sb->s", own, covariance, own)
                np.testing.assert_allclose(
                    np.broadcast_to(variance, len(own)), expected, atol=1e-12
                )


@pytest.mark.parametrize("index", WEIGHTS)
def test_nodes_have_the_moments_of_the_index(index):
    num_players = 30
    for odd, size in itertools.product((True, False), (1,) if index[1] == "V" else (1, 2, 3)):
        positions, cross, variance = nodes.node_weights(index, size, size, num_players, odd)
        extra = np.arange(num_players - size + 1)
        g = np.array([float(nodes.sign_weight(index, size, size, d)) for d in extra.tolist()])
        g *= (size + extra) % 2 == odd
        powers = positions ** extra[:, None]
        np.testing.assert_allclose(powers @ cross, g, atol=1e-10 * max(abs(g).max(), 1))
        np.testing.assert_allclose(powers @ variance, g**2, atol=1e-10 * max((g**2).max(), 1))


@pytest.mark.parametrize("index", INDICES)
def test_they_are_exact_where_all_worths_are_affordable(index):
    game = game_of(random_table(3, N, 2))
    found, expected = (
        estimate_interactions(0, game, index, 3, 32),
        exact_interactions(game, index, 3),
    )
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.std_error, 0)


def test_the_estimator_itself_is_exact_when_all_pairs_are_there():
    game = game_of(random_table(3, N, 2))
    for index in ("SII", "FSII"):
        found = jaxshap.estimate(0, game, OddInteractions(index=index, order=3), 32)
        expected = exact_interactions(game, index, 3)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-5)
        np.testing.assert_array_equal(found.std_error, 0)


def test_moebius_coefficients_are_exact_where_small_coalitions_are_affordable():
    asked = []

    def value(coalitions):
        asked.extend(coalitions.sum(1).tolist())
        return coalitions @ np.arange(1.0, 31)

    game = jaxshap.make_game(jaxshap.host(value), 30)
    asked.clear()
    found = estimate_interactions(0, game, "Moebius", 2, 500)
    assert max(asked) == 2
    np.testing.assert_array_equal(found.std_error, 0)


@functools.cache
def twelve_players():
    """Three outputs: interactions of all orders, alone and with noise that no smooth surface
    explains, and a few interactions of two and three players.
    """
    rng, players = np.random.default_rng(5), membership(12)
    smooth = np.tanh(players @ rng.normal(size=(12, 6))) @ rng.normal(size=6)
    pairs = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.3)
    rough = np.einsum("si,ij,sj->s", players, pairs, players) + 0.3 * rng.normal(size=2**12)
    sparse = players @ rng.normal(size=12) + 2 * players[:, [1, 4]].all(1)
    sparse = sparse - 3 * players[:, [0, 7, 9]].all(1) + 0.1 * smooth
    return np.stack([smooth, rough, sparse], axis=1).astype(np.float32)


@pytest.mark.parametrize(("index", "order"), [("SII", 3), ("k-SII", 2), ("FSII", 2)])
def test_errors_are_honest(index, order):
    """24 keys × three games × all sets from 240 of 4,096 worths. Keys are independent, sets of one
    key are not: coverage of honest 95 % intervals falls below 95 % by three of its own standard
    errors over keys once in 700 seeds.
    """
    game = game_of(twelve_players())
    truth = exact_interactions(game, index, order)
    runs = [estimate_interactions(key, game, index, order, 240) for key in range(24)]
    error = np.array([run.values - truth.values for run in runs])
    stated = np.array([run.std_error for run in runs])
    assert (stated > 0).all()
    sizes = truth.members.sum(1)
    for size in range(1, order + 1):
        covered = (np.abs(error) < 1.96 * stated)[:, sizes == size].mean(1)
        short = 0.95 - covered.mean(0)
        assert (short < 3 * covered.std(0, ddof=1) / np.sqrt(24) + 1e-3).all(), size
        ratios = (error / stated)[:, sizes == size].std((0, 1))
        assert (ratios > 0.15).all(), size
        assert (ratios < 1.2).all(), size
        squares = (error**2)[:, sizes == size].mean((0, 1))
        assert (squares < 0.6 * (np.asarray(truth.values)[sizes == size] ** 2).mean(0)).all(), size
    if index in EFFICIENT:
        totals = np.array([run.values.sum(0) for run in runs])
        np.testing.assert_allclose(totals, [game.full - game.empty] * 24, atol=1e-4)


def test_a_matrix_of_estimates_is_symmetric_and_knows_its_errors():
    game = asymmetric_game(7)
    found = estimate_interactions(0, game, budget=60)
    assert (found.index, found.order, len(found.sets)) == ("SII", 2, 28)
    np.testing.assert_array_equal(found.matrix(), found.matrix().T)
    np.testing.assert_array_equal(found[5, 2], found.matrix()[2, 5])
    values = jaxshap.estimate(0, game, jaxshap.OddGP(), 60)
    np.testing.assert_allclose(found.values[:7], values.values, atol=1e-5)
    np.testing.assert_allclose(found.std_error[:7], values.std_error, rtol=1e-4)


def test_jit_vmap_and_gradients_go_through():
    parameters = asymmetric_parameters(7)

    def pairs(parameters, key):
        game = jaxshap.make_game(jax.tree_util.Partial(asymmetric_value, parameters), 7)
        return estimate_interactions(key, game, "k-SII", 2, 60)

    keys = jax.random.split(jax.random.key(0), 2)
    both = jax.jit(jax.vmap(lambda key: pairs(parameters, key).values))(keys)
    alone = pairs(parameters, keys[1])
    np.testing.assert_allclose(both[1], alone.values, atol=2e-3)
    slope = jax.grad(lambda scale: pairs((parameters[0], scale), keys[1])[1, 4])(parameters[1])
    ends = [pairs((parameters[0], parameters[1] + step), keys[1])[1, 4] for step in (0.1, -0.1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 0.2, rtol=0.2, atol=5e-3)


def test_it_asks_about_no_more_pairs_than_it_uses(monkeypatch):
    monkeypatch.setattr(odd_interactions, "MAX_PROCESS_ROWS", 20)
    estimator = OddInteractions()
    assert len(estimator.plan(jax.random.key(0), 8, 100).coalitions) == 38
    assert len(estimator.plan(jax.random.key(0), 8, 256).coalitions) == 254


def test_blocks_of_sets_change_nothing(monkeypatch):
    game = asymmetric_game(8)
    whole = jaxshap.estimate(0, game, OddInteractions(order=3), 60)
    monkeypatch.setattr(odd_sets, "MAX_BLOCK_SETS", 5)
    parts = jaxshap.estimate(0, game, OddInteractions(order=3, fit_each=True), 60)
    np.testing.assert_allclose(parts.values, whole.values, atol=1e-5)
    np.testing.assert_allclose(parts.std_error, whole.std_error, rtol=1e-3, atol=1e-6)


def few_interactions(num_players, seed):
    """Terms of one to four players, and the Shapley interaction of every pair."""
    rng, pairs = np.random.default_rng(seed), sets_of_size(num_players, 2)
    terms = [rng.choice(num_players, size, replace=False) for size in (1, 2, 2, 3, 4, 2, 1, 3)]
    needed = np.stack([np.isin(np.arange(num_players), term) for term in terms])
    weights = rng.normal(size=len(terms)) + 2
    sizes = needed.sum(1)

    def worth(coalition):
        whole = (jnp.asarray(~needed) | coalition).all(1)
        return whole.astype(jnp.float32) @ jnp.asarray(weights, jnp.float32)

    truth = (needed[:, pairs].all(2) * (weights / np.maximum(sizes - 1, 1))[:, None]).sum(0)
    return jaxshap.make_game(worth, num_players), truth


def test_a_few_interactions_among_many_players_are_found():
    """Of 276 pairs and 10,626 sets of four from 479 worths, which determine no dense game."""
    game, truth = few_interactions(24, seed=3)
    for key in range(3):
        found = estimate_interactions(key, game, budget=480)
        error = np.abs(np.asarray(found.values)[24:] - truth)
        assert error.max() < 1e-3 * truth.max()
        stated = np.asarray(found.std_error)[24:]
        assert (stated > 0).all()
        assert (error < 1.96 * stated + 1e-5 * truth.max()).mean() > 0.9


@pytest.mark.parametrize("odd", [True, False], ids=["odd", "even"])
def test_a_search_reads_out_the_game_that_it_found(odd):
    """Products of few signs, found among all: the index is that of the table of their worths."""
    with jax.enable_x64(True):
        signs = np.where(membership(6), 1.0, -1.0)
        few = ([0], [3], [1, 2, 4]) if odd else ([0, 3], [1, 4], [0, 1, 3, 4])
        worths = sum(
            k * signs[:, one].prod(1) for k, one in zip((1.0, -2.0, 0.7), few, strict=True)
        )
        rows = signs[32:][::-1]
        base = 0 if odd else worths[-1]  # the even part is measured from {∅, N}
        targets = jnp.asarray((worths[32:][::-1] - base)[:, None])
        asked = odd_sets.SetsOf("SII", 3, 6, odd)
        found = searched(Rows(jnp.asarray(rows), jnp.ones(32, bool), targets), asked)
        exact = exact_interactions(jaxshap.table(jnp.asarray(worths)), "SII", 3)
        own = np.isin(exact.members.sum(1), asked.sizes)
        np.testing.assert_allclose(found.values[own, 0], exact.values[own], atol=1e-9)
        np.testing.assert_allclose(found.left_out, 0, atol=1e-9)


@pytest.mark.parametrize("index", ["SII", "k-SII"])
def test_no_error_of_zero_where_an_interaction_may_be_unseen(index):
    """Additive games, alone, with one coalition of 512 worth more, and with a pair beside it: 90
    coalitions show no more than the pair, and the others' errors hold what they do not show.

    8 keys: pairs are within their 95 % intervals in all games and keys together nine times in ten,
    and errors are no rounding; where a pair is seen it vouches in part.
    """
    players = membership(9)
    additive = players @ np.linspace(-1, 2, 9)
    needle = (players == (np.arange(9) % 2 == 0)).all(1)
    pair = 3.0 * players[:, [0, 5]].all(1)
    game = game_of(np.stack([additive, additive + needle, additive + pair + needle], axis=1))
    truth = exact_interactions(game, index, 2)
    runs = [estimate_interactions(key, game, index, 2, 90) for key in range(8)]
    error = np.abs([run.values - truth.values for run in runs])
    stated = np.array([run.std_error for run in runs])
    assert (stated > 1e-5 * np.ptp(additive)).all()
    assert ((error < 1.96 * stated).mean((0, 1)) > 0.9).all()
    of_pairs = np.median(stated[:, 9:], axis=(0, 1))
    assert of_pairs[2] < of_pairs[0] / 2
    assert (of_pairs < 0.03 * np.ptp(additive)).all()


def test_a_constant_game_has_unknown_errors():
    found = estimate_interactions(0, game_of(np.ones(2**9)), budget=90)
    np.testing.assert_allclose(found.values, 0, atol=1e-6)
    assert np.isnan(found.std_error).all()


def test_the_result_says_what_was_searched():
    few = estimate_interactions(0, asymmetric_game(7), budget=60)
    assert few.searched is None
    game, _ = few_interactions(24, seed=3)
    found = estimate_interactions(0, game, budget=480)
    assert found.searched == (276, 1024, 990)
    assert "sets of five or more" in found.searched.could_have_missed
    assert "Search(pairs=276" in repr(found)
    assert jax.jit(lambda: estimate_interactions(0, game, budget=480))().searched == found.searched


@pytest.mark.parametrize("outputs", [(), (2, 3)])
@pytest.mark.parametrize("wrap", [lambda value: value, jax.jit])
def test_two_players_have_their_interaction_exactly(outputs, wrap):
    worths = random_table(11, 2, *outputs).astype(np.float32)
    found = wrap(lambda game: estimate_interactions(0, game, budget=4))(game_of(worths))
    np.testing.assert_allclose(
        found[0, 1], worths[3] - worths[2] - worths[1] + worths[0], atol=1e-6
    )
    np.testing.assert_array_equal(found.std_error, np.zeros((3, *outputs)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate_interactions(0, game_of(random_table(1, 2)), budget=3), "budget=4 or"),
        (lambda: estimate_interactions(0, asymmetric_game(12), budget=20), "budget=26 or"),
        (lambda: estimate_interactions(0, asymmetric_game(6), "sii"), "pass one of Moebius, SV"),
        (lambda: estimate_interactions(0, asymmetric_game(6), "BV"), 'order=1, or index="BII"'),
        (lambda: estimate_interactions(0, game_of([0.0, 1.0])), "between 1 and 1"),
        (lambda: estimate_interactions(0, asymmetric_game(300), order=4), "pass a lower order"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
