"""Coalitions: all of them in order, and the weights of their sizes."""

import itertools
import math

import numpy as np
import pytest

from jaxshap.games.coalitions import all_coalitions, gain_weights, kernel_mass


@pytest.mark.parametrize("num_players", [1, 2, 5])
def test_all_coalitions_are_all_of_them_in_binary_order(num_players):
    expected = [bits[::-1] for bits in itertools.product([False, True], repeat=num_players)]
    np.testing.assert_array_equal(all_coalitions(num_players), expected)


@pytest.mark.parametrize("num_players", [1, 2, 7, 30, 300])
def test_gain_weights_sum_to_one_over_all_coalitions_without_a_player(num_players):
    counts = [math.comb(num_players - 1, size) for size in range(num_players)]
    exact = [1 / (num_players * count) for count in counts]
    np.testing.assert_allclose(gain_weights(num_players), exact, rtol=1e-9)
    assert math.isclose(math.fsum(w * c for w, c in zip(exact, counts, strict=True)), 1)


@pytest.mark.parametrize("num_players", [2, 3, 9, 300])
def test_kernel_mass_is_the_kernel_summed_over_each_size(num_players):
    n = num_players
    kernel = [(n - 1) / (math.comb(n, s) * s * (n - s)) for s in range(1, n)]
    np.testing.assert_allclose(
        kernel_mass(n), [math.comb(n, s) * w for s, w in enumerate(kernel, 1)], rtol=1e-12
    )


@pytest.mark.parametrize("num_players", range(2, 15))
def test_the_kernel_gives_the_known_spectrum_of_the_least_squares_problem(num_players):
    """X'WX = (a−c)I + cJ with a − c = 1 − 1/n, summed over all coalitions by size."""
    n, sizes = num_players, np.arange(1, num_players)
    a = (kernel_mass(n) * sizes / n).sum()
    c = (kernel_mass(n) * sizes * (sizes - 1) / (n * (n - 1))).sum()
    assert math.isclose(a - c, 1 - 1 / n)
