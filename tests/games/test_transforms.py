"""Transforms of tables, against sums over all pairs of coalitions, and their identities."""

import jax
import numpy as np
import pytest
from known_games import brute_force_shapley, membership, random_table

from jaxshap.games.transforms import inverse_walsh, moebius, shapley, walsh, zeta

every_size = pytest.mark.parametrize("num_players", [1, 2, 3, 6])


def subset_matrix(num_players):
    """Whether T (column) is a subset of S (row)."""
    index = np.arange(2**num_players)
    return index[:, None] & index == index


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


@every_size
def test_zeta_sums_over_subsets(num_players):
    worths = random_table(0, num_players, 2)
    np.testing.assert_allclose(zeta(worths), subset_matrix(num_players) @ worths, atol=1e-12)


@every_size
def test_moebius_sums_over_subsets_with_alternating_signs(num_players):
    worths, sizes = random_table(1, num_players, 2), membership(num_players).sum(1)
    signs = (-1.0) ** (sizes[:, None] - sizes)
    np.testing.assert_allclose(
        moebius(worths), (subset_matrix(num_players) * signs) @ worths, atol=1e-12
    )


@every_size
def test_walsh_coefficients_build_the_worths_from_characters(num_players):
    worths, players = random_table(2, num_players, 2), membership(num_players).astype(int)
    characters = (-1.0) ** (players @ players.T)
    np.testing.assert_allclose(characters @ np.asarray(walsh(worths)), worths, atol=1e-12)
    np.testing.assert_allclose(inverse_walsh(worths), characters @ worths, atol=1e-12)


@every_size
def test_transforms_undo_each_other(num_players):
    worths = random_table(3, num_players, 3, 2)
    for first, second in ((moebius, zeta), (walsh, inverse_walsh)):
        np.testing.assert_allclose(second(first(worths)), worths, atol=1e-12)
        np.testing.assert_allclose(first(second(worths)), worths, atol=1e-12)


@every_size
def test_shapley_is_the_definition(num_players):
    worths = random_table(4, num_players, 2)
    np.testing.assert_allclose(shapley(worths), brute_force_shapley(worths), atol=1e-12)


@every_size
def test_shapley_shares_out_each_dividend_equally(num_players):
    """φ_i = Σ_{T∋i} m(T)/|T|."""
    worths, players = random_table(5, num_players), membership(num_players)
    shares = np.asarray(moebius(worths)) / np.maximum(players.sum(1), 1)
    np.testing.assert_allclose(shapley(worths), players.T @ shares, atol=1e-12)


@every_size
def test_shapley_sees_only_odd_walsh_coefficients(num_players):
    """φ_i = −2 Σ_{T∋i, |T| odd} c_T/|T|, and the even part of v under complement is ignored."""
    worths, players = random_table(6, num_players), membership(num_players)
    sizes = players.sum(1)
    terms = np.where(sizes % 2 == 1, np.asarray(walsh(worths)) / np.maximum(sizes, 1), 0)
    np.testing.assert_allclose(shapley(worths), -2 * players.T @ terms, atol=1e-12)
    np.testing.assert_allclose(shapley((worths - worths[::-1]) / 2), shapley(worths), atol=1e-12)


def test_a_dummy_player_gets_exactly_zero():
    worths = random_table(7, 5)
    without = np.arange(32) & ~4  # player 2 adds nothing
    assert shapley(worths[without])[2] == 0


def test_float32_stays_float32():
    worths = np.float32(random_table(8, 6))
    for transform in (moebius, zeta, walsh, inverse_walsh, shapley):
        assert transform(jax.numpy.asarray(worths)).dtype == np.float32
    np.testing.assert_allclose(
        shapley(jax.numpy.asarray(worths)), brute_force_shapley(worths), atol=1e-5
    )


def test_twenty_players_take_one_transform():
    """A Python loop over coalitions would take minutes; v(S) = |S|² has equal shares."""
    players = np.bitwise_count(np.arange(2**20, dtype=np.uint32))
    np.testing.assert_allclose(
        jax.jit(shapley)(players.astype(np.float64) ** 2), np.full(20, 20.0), rtol=1e-9
    )
