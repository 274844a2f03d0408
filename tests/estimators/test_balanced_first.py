"""BalancedFirst: which solver it takes, and that this is the better choice."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxshap
from jaxshap.estimators import Balanced, BalancedFirst

PLAYERS, BUDGET = 120, 600


def game_of(scale):
    """A network whose players weigh as `scale` says."""
    first = np.random.default_rng(0).normal(size=(PLAYERS, 16)) * scale[:, None]
    first = jnp.asarray(first / np.linalg.norm(first, axis=0), jnp.float32)
    return jaxshap.make_game(lambda s: jnp.tanh(jnp.where(s, 1.0, -1.0) @ first).sum(), PLAYERS)


FEW = game_of(np.where(np.arange(PLAYERS) < 10, 1.0, 0.01))
EVEN = game_of(np.ones(PLAYERS))


def test_players_who_matter_alike_have_the_linear_read_out():
    first, both = (jaxshap.estimate(3, EVEN, one, BUDGET) for one in (Balanced(), BalancedFirst()))
    np.testing.assert_array_equal(first.values, both.values)
    np.testing.assert_array_equal(first.std_error, both.std_error)


def test_few_players_who_matter_are_learned_from_the_same_coalitions():
    truth = np.mean(
        [jaxshap.estimate(k, FEW, jaxshap.Leverage(), 8_000).values for k in range(3)], 0
    )
    squares = {}
    for estimator in (Balanced(), BalancedFirst()):
        draws = [jaxshap.estimate(key, FEW, estimator, BUDGET) for key in range(2)]
        squares[estimator] = np.mean([(draw.values - truth) ** 2 for draw in draws])
    assert squares[BalancedFirst()] < squares[Balanced()] / 4
    plans = [one.plan(jax.random.key(5), PLAYERS, BUDGET) for one in (Balanced(), BalancedFirst())]
    np.testing.assert_array_equal(*(plan.coalitions for plan in plans))


def test_jit_takes_the_same_road():
    estimate = jax.jit(lambda key, game: jaxshap.estimate(key, game, BalancedFirst(), BUDGET))
    for game in (FEW, EVEN):
        inside = estimate(jax.random.key(2), game)
        outside = jaxshap.estimate(jax.random.key(2), game, BalancedFirst(), BUDGET)
        np.testing.assert_allclose(inside.values, outside.values, atol=2e-3)


def test_where_nothing_happens_nothing_is_known():
    nothing = jaxshap.make_game(lambda s: 0.0 * s.sum().astype(jnp.float32), PLAYERS)
    assert np.isnan(jaxshap.estimate(0, nothing, BalancedFirst(), BUDGET).std_error).all()
