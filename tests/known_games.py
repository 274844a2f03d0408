"""Games for the tests, none with a symmetry that could hide an index error, and the Shapley value
by its definition.
"""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np

import jaxshap

DUMMY, TWINS = 3, (2, 6)  # players of `many_sided_game`
OUTPUTS = ("asymmetric", "dummy", "symmetric", "additive", "pairwise")


def brute_force_shapley(worths):
    """The mean gain on joining over all orders, in float64, straight from the definition; n ≤ 8."""
    worths = np.asarray(worths, np.float64)
    num_players = len(worths).bit_length() - 1
    values = np.zeros((num_players, *worths.shape[1:]))
    for player, others in (
        (i, [j for j in range(num_players) if j != i]) for i in range(num_players)
    ):
        for size in range(num_players):
            weight = 1 / (num_players * math.comb(num_players - 1, size))
            for coalition in itertools.combinations(others, size):
                index = sum(2**member for member in coalition)
                values[player] += weight * (worths[index + 2**player] - worths[index])
    return values


def asymmetric_value(parameters, coalition):
    """Interactions of every order; smooth in its parameters."""
    slopes, scale = parameters
    score = jnp.where(coalition, slopes, jnp.zeros_like(slopes)).sum()
    return scale * jnp.exp(score) * jnp.cos(2 * score) + score


def asymmetric_parameters(num_players, dtype=np.float32):
    return jnp.asarray(
        np.linspace(-0.5, 0.8, num_players) + 0.1 * np.cos(np.arange(num_players)), dtype
    ), jnp.asarray(2, dtype)


def asymmetric_game(num_players, dtype=np.float32):
    parameters = asymmetric_parameters(num_players, dtype)
    return jaxshap.make_game(jax.tree_util.Partial(asymmetric_value, parameters), num_players)


def membership(num_players):
    """Who is in each of the 2**n coalitions; S stands at index Σ_{i∈S} 2**i."""
    return (np.arange(2**num_players)[:, None] >> np.arange(num_players)) & 1 == 1


def random_table(seed, num_players, *outputs):
    return np.random.default_rng(seed).normal(size=(2**num_players, *outputs))


def many_sided_worths():
    """Eight players and five outputs, one a promise, so that one run of an estimator tests them
    all.
    """
    players = membership(8)
    rng = np.random.default_rng(0)
    asymmetric = 3 * np.tanh(players @ rng.normal(size=8)) + random_table(1, 8) / 2 + 10
    without_dummy = players.copy()
    without_dummy[:, DUMMY] = False
    dummy = asymmetric[without_dummy @ 2 ** np.arange(8)]
    swapped = players.copy()
    swapped[:, TWINS] = swapped[:, TWINS[::-1]]
    symmetric = asymmetric + asymmetric[swapped @ 2 ** np.arange(8)]
    additive = players @ rng.normal(size=8) + 2
    pairwise = np.einsum("si,ij,sj->s", players, rng.normal(size=(8, 8)), players) - 1
    return np.stack([asymmetric, dummy, symmetric, additive, pairwise], axis=1)
