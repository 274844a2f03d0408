"""Games: their endpoints, and what is refused in place of a game."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import asymmetric_parameters, asymmetric_value

import jaxshap
from jaxshap.errors import InputTypeError, ModelOutputError


def test_endpoints_are_the_worths_of_nobody_and_everybody():
    game = jaxshap.make_game(lambda s: jnp.where(s, jnp.asarray([1.0, 2.0, 4.0]), 0).sum() + 3, 3)
    assert (float(game.empty), float(game.full)) == (3, 10)


def test_endpoints_are_evaluated_once_each():
    asked = []
    host = jaxshap.host(lambda s: asked.append(s) or s.astype(np.float32).sum(1))
    game = jaxshap.make_game(host, 3)
    jaxshap.estimate(0, game, jaxshap.Exact(), 8)
    listed = np.concatenate(asked)
    assert len(listed) == 8
    assert len(np.unique(listed, axis=0)) == 8


def test_a_game_needs_a_player():
    with pytest.raises(ValueError, match="num_players=0: pass a whole number from 1"):
        jaxshap.make_game(lambda s: jnp.float32(0), 0)


def test_worths_that_are_not_floating_point_are_refused_with_the_remedy():
    with pytest.raises(TypeError, match="cast them in the value function"):
        jaxshap.make_game(lambda s: s.sum(), 3)


@pytest.mark.parametrize("on_host", [False, True])
@pytest.mark.parametrize(
    ("worth", "message"),
    [
        (1, "not int32: cast them"),
        (True, "not bool: cast them"),
        (1j, "not complex64: return real numbers, such as the real part"),
        ("high", "returned .*: return floating-point numbers"),
        (None, "returned .*: return floating-point numbers"),
    ],
)
def test_worths_that_are_no_real_numbers_are_refused_with_the_remedy(on_host, worth, message):
    value = jaxshap.host(lambda s: [worth] * len(s)) if on_host else lambda s: worth
    with pytest.raises(ModelOutputError, match=message):
        jaxshap.make_game(value, 3)


def test_worths_of_changing_shape_are_refused():
    with pytest.raises(ModelOutputError, match=r"v\(∅\) has shape \(\) and v\(N\) has \(2,\)"):
        jaxshap.make_game(lambda s: jnp.zeros((2,) if s.all() else ()), 3)


@pytest.mark.parametrize("shape", [(), (1,), (3, 2)])
def test_a_host_function_must_return_one_worth_per_coalition(shape):
    with pytest.raises(ModelOutputError, match="for 2 coalitions: a host function takes"):
        jaxshap.make_game(jaxshap.host(lambda s: np.zeros(shape)), 3)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_the_number_of_players_may_be_any_kind_of_integer(kind):
    game = jaxshap.make_game(lambda s: jnp.where(s, jnp.arange(3.0), 0).sum(), kind(3))
    assert type(game.num_players) is int
    np.testing.assert_allclose(jaxshap.shapley_values(game), np.arange(3), atol=1e-6)


@pytest.mark.parametrize("number", [True, np.True_, 3.0, np.float32(3), "3", None])
def test_a_number_of_players_that_is_no_whole_number_is_refused(number):
    with pytest.raises(InputTypeError, match="pass a whole number from 1"):
        jaxshap.make_game(lambda s: jnp.float32(0), number)


@pytest.mark.parametrize("value", [3.0, None, np.zeros(8)])
def test_a_value_that_is_no_function_is_refused(value):
    with pytest.raises(InputTypeError, match="is not a function: pass one that takes a coalition"):
        jaxshap.make_game(value, 3)


def test_a_game_is_a_pytree_whose_data_jit_does_not_bake_in():
    traces = []

    @jax.jit
    def full(game):
        traces.append(game)
        return game(jnp.ones(4, bool))

    games = [
        jaxshap.make_game(
            jax.tree_util.Partial(asymmetric_value, (scale * asymmetric_parameters(4)[0], 2.0)), 4
        )
        for scale in (1.0, 0.5)
    ]
    results = [float(full(game)) for game in games]
    assert len(traces) == 1
    np.testing.assert_allclose(results, [float(game.full) for game in games], rtol=1e-6)
    assert results[0] != results[1]


def test_a_host_game_cannot_be_called_one_coalition_at_a_time_or_traced():
    host = jaxshap.make_game(jaxshap.host(lambda s: s.astype(np.float32).sum(1)), 3)
    with pytest.raises(TypeError, match=r"jaxshap.evaluate\(game, coalitions\)"):
        host(jnp.ones(3, bool))
    with pytest.raises(TypeError, match="cannot run under jit"):
        jax.jit(lambda key: jaxshap.estimate(key, host, jaxshap.Exact(), 8).values)(
            jax.random.key(0)
        )


@pytest.mark.usefixtures("unchecked")
def test_host_needs_a_function():
    with pytest.raises(TypeError, match=r"model\.predict"):
        jaxshap.host(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: jaxshap.estimate(0, f),
        lambda f: jaxshap.estimate_interactions(0, f),
        jaxshap.shapley_values,
        jaxshap.interactions.exact_interactions,
        jaxshap.interactions.decompose,
        jaxshap.residuals.norms,
        jaxshap.residuals.shares,
        jaxshap.residuals.flows,
        lambda f: jaxshap.residuals.estimate_norms(0, f, 100),
        lambda f: jaxshap.residuals.estimate_shares(0, f, 100),
        lambda f: jaxshap.residuals.edge_norms(0, f, 100),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_model_in_place_of_a_game_is_told_how_to_become_one(call):
    def model(rows):
        return rows.sum(1)

    with pytest.raises(TypeError, match="model is not a game: pass"):
        call(model)
