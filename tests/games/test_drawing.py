"""Drawing coalitions: complete, distinct, uniform, and the same whatever the count."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxshap.games.coalitions import kernel_mass
from jaxshap.games.drawing import draw_chances, draw_coalitions, draw_pairs, num_pairs, schedule

KEY = jax.random.key(11)
pairs = jax.jit(draw_pairs, static_argnums=(1, 2, 3))


def pair_names(side):
    """One name per pair {S, N∖S}: the packed mask of the side without player 0."""
    side = np.asarray(side)
    side = np.where(side[:, :1], ~side, side)
    return [row.tobytes() for row in np.packbits(side, axis=1)]


def flat_rates(num_players):
    return (1.0,) * (num_players // 2)


@pytest.mark.parametrize("num_players", [2, 3, 6, 9])
def test_asking_for_every_pair_enumerates_them(num_players):
    count = 2 ** (num_players - 1) - 1
    assert sum(num_pairs(num_players)) == count
    for asked in (count, count + 10):  # there are no more than that
        side = pairs(KEY, num_players, asked, flat_rates(num_players))
        assert len(side) == count
        assert len(set(pair_names(side))) == count


@pytest.mark.parametrize("num_players", [10, 31, 40, 300, 784])
def test_pairs_are_distinct_have_the_scheduled_sizes_and_leave_out_the_ends(num_players):
    """Sizes of 2**31 coalitions and more are drawn with replacement: a collision in 4,000 runs."""
    count = min(1000, 2 ** (num_players - 1) - 1)
    rates = (np.inf, *kernel_mass(num_players)[1 : num_players // 2])
    side = np.asarray(pairs(KEY, num_players, count, rates))
    sizes = schedule(num_pairs(num_players), count, rates)[0] + 1
    np.testing.assert_array_equal(np.minimum(side.sum(1), num_players - side.sum(1)), sizes)
    assert len(set(pair_names(side))) == count
    assert (side.sum(1) > 0).all()
    singles = side[sizes == 1]
    assert len(singles) == min(count, num_players)  # an infinite rate: all of them first
    assert (sizes[: len(singles)] == 1).all()


@pytest.mark.parametrize("num_players", [8, 40])
def test_a_larger_count_starts_with_the_same_pairs(num_players):
    rates = flat_rates(num_players)
    drawn = [np.asarray(pairs(KEY, num_players, count, rates)) for count in (20, 33, 90)]
    for small, large in itertools.pairwise(drawn):
        np.testing.assert_array_equal(large[: len(small)], small)


def test_shares_of_sizes_follow_the_rates_at_every_count():
    """To within a pair and a half of each size, while none has run out."""
    rates = (4.0, 3.0, 2.0, 1.0, 1.0)
    classes, turns = schedule(num_pairs(40), 400, (*rates, *[0.5] * 15))
    shares = np.array((*rates, *[0.5] * 15)) / (sum(rates) + 7.5)
    supply = np.asarray(num_pairs(40))
    for count in (50, 100, 150):
        drawn = np.bincount(classes[:count], minlength=20)
        assert (np.abs(drawn - count * shares) <= 1.5).all()
        assert (drawn <= supply).all()
    for drawn in (turns[classes == number] for number in range(20)):
        np.testing.assert_array_equal(drawn, np.arange(len(drawn)))


def test_pairs_of_a_size_are_uniform():
    """Chi-square over the 35 pairs of 3 of 7 players: p > 1e-4 for the first and the third draw."""
    keys = jax.random.split(KEY, 7000)
    rates = (1e-9, 1e-9, 1.0)
    sides = jax.jit(jax.vmap(lambda key: draw_pairs(key, 7, 3, rates)))(keys)
    for draw in (0, 2):
        _, counts = np.unique(np.asarray(sides[:, draw]), axis=0, return_counts=True)
        assert len(counts) == 35
        assert stats.chisquare(counts).pvalue > 1e-4


def test_two_draws_of_a_size_are_uniform_over_ordered_pairs_of_pairs():
    """15 pairs of 2 of 6 players, two of them without replacement: 210 outcomes, p > 1e-4."""
    keys = jax.random.split(jax.random.key(12), 21000)
    sides = jax.jit(jax.vmap(lambda key: draw_pairs(key, 6, 2, (1e-9, 1.0, 1e-9))))(keys)
    _, counts = np.unique(np.asarray(sides).reshape(len(keys), -1), axis=0, return_counts=True)
    assert len(counts) == 210
    assert stats.chisquare(counts).pvalue > 1e-4


def test_players_are_in_equally_often_in_sizes_too_large_to_rank():
    """150 of 300 players, 400 draws: all 300 z-scores below 5, a false alarm in 6,000 keys."""
    rates = (*[1e-9] * 149, 1.0)
    side = np.asarray(pairs(KEY, 300, 400, rates))
    assert (side.sum(1) == 150).all()
    assert np.abs((side.mean(0) - 0.5) * 2 * np.sqrt(400)).max() < 5


def test_drawn_coalitions_are_uniform_within_their_size():
    """Chi-square over the 20 coalitions of 3 of 6 players: p > 1e-4."""
    drawn = np.asarray(draw_coalitions(draw_chances(KEY, jnp.arange(8000), 6), jnp.full(8000, 3)))
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 20
    assert stats.chisquare(counts).pvalue > 1e-4


def test_drawn_coalitions_have_exactly_the_sizes_asked_for():
    sizes = np.arange(0, 301)
    drawn = draw_coalitions(draw_chances(KEY, jnp.arange(301), 300), jnp.asarray(sizes))
    np.testing.assert_array_equal(np.asarray(drawn).sum(1), sizes)
