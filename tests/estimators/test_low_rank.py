"""Quadratic forms of low rank in the even half of a game."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.estimators.odd.low_rank import low_rank
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.odd.sets import SetsOf
from jaxshap.estimators.odd.sparse import searched
from jaxshap.games import sets_of_size

PLAYERS, PAIRS = 16, 96  # fewer rows than the 120 products of two signs
rng = np.random.default_rng(5)
FIRST, SECOND = rng.normal(size=(2, PLAYERS)) / 4
SIGNS = np.concatenate([np.ones((1, PLAYERS)), rng.choice([-1.0, 1.0], (PAIRS - 1, PLAYERS))])
SETS = sets_of_size(PLAYERS, 2)
PRODUCTS = 2 * (FIRST[SETS].prod(1) - 0.5 * SECOND[SETS].prod(1))
LIVE = jnp.ones(PAIRS, bool)


def worths(signs):
    return (signs @ FIRST) ** 2 - 0.5 * (signs @ SECOND) ** 2


TARGET = worths(SIGNS) - worths(np.ones(PLAYERS))


def test_a_form_of_two_directions_is_found_from_fewer_rows_than_pairs():
    with jax.enable_x64(True):
        found = low_rank(jnp.asarray(SIGNS), LIVE, jnp.asarray(TARGET))
    missed = np.asarray(found.left_out)[1:]
    assert (missed**2).mean() < 0.05 * TARGET[1:].var()
    assert ((np.asarray(found.coefficients) - PRODUCTS) ** 2).sum() < 0.05 * (PRODUCTS**2).sum()


def test_rows_that_are_padding_change_nothing():
    with jax.enable_x64(True):
        found = low_rank(jnp.asarray(SIGNS), LIVE, jnp.asarray(TARGET))
        signs = jnp.pad(jnp.asarray(SIGNS), ((0, 9), (0, 0)), constant_values=1)
        live, target = jnp.pad(LIVE, (0, 9)), jnp.pad(jnp.asarray(TARGET), (0, 9))
        padded = low_rank(signs, live, target)
    np.testing.assert_allclose(padded.coefficients, found.coefficients, atol=1e-9)
    np.testing.assert_array_equal(padded.left_out[PAIRS:], 0)


def test_the_search_takes_it_where_all_pairs_interact_and_reads_out_the_index():
    """I_ij is four times the coefficient of z_i z_j, and k-SII takes half of it off each player."""
    with jax.enable_x64(True):
        rows = Rows(jnp.asarray(SIGNS), LIVE, jnp.asarray(TARGET)[:, None])
        found = searched(rows, SetsOf("k-SII", 2, PLAYERS, odd=False))
    assert found.is_form.all()
    pairs = np.asarray(found.values)[PLAYERS:, 0]
    assert ((pairs - 4 * PRODUCTS) ** 2).sum() < 0.05 * (16 * PRODUCTS**2).sum()
    singles, each = np.asarray(found.values)[:PLAYERS, 0], np.zeros(PLAYERS)
    for players, value in zip(SETS, pairs, strict=True):
        each[players] -= value / 2
    np.testing.assert_allclose(singles, each, atol=1e-9)


def test_a_few_strong_pairs_are_left_to_the_search_for_few():
    target = 3 * SIGNS[:, 0] * SIGNS[:, 5] - 2 * SIGNS[:, 2] * SIGNS[:, 9] + SIGNS[:, 1:3].prod(1)
    with jax.enable_x64(True):
        rows = Rows(jnp.asarray(SIGNS), LIVE, jnp.asarray(target - target[0])[:, None])
        found = searched(rows, SetsOf("SII", 2, PLAYERS, odd=False))
    np.testing.assert_allclose(found.left_out, 0, atol=1e-9)
    assert not found.is_form.any()


def test_gradients_are_those_of_a_linear_map():
    """For the directions found: v·∇ of a sum of values is that sum at v."""
    with jax.enable_x64(True):
        target = jnp.asarray(TARGET)
        found, change = jax.jvp(
            lambda target: low_rank(jnp.asarray(SIGNS), LIVE, target), (target,), (target,)
        )
    np.testing.assert_allclose(change.coefficients, found.coefficients, atol=1e-9)
    np.testing.assert_allclose(change.left_out, found.left_out, atol=1e-9)
