"""Games and games from games."""

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
from jaxshap.games.coalitions import all_coalitions


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


def test_a_table_stands_in_the_order_of_all_coalitions():
    worths = random_table(0, 4, 2).astype(np.float32)
    game = jaxshap.table(worths)
    np.testing.assert_array_equal(jax.vmap(game)(all_coalitions(4)), worths)
    np.testing.assert_array_equal(all_coalitions(4), membership(4))


@pytest.mark.parametrize("length", [0, 1, 3, 12])
def test_a_table_of_the_wrong_length_is_refused(length):
    with pytest.raises(ValueError, match=r"2\*\*n rows"):
        jaxshap.table(np.zeros(length, np.float32))


def test_a_game_needs_a_player():
    with pytest.raises(ValueError, match="at least one player"):
        jaxshap.make_game(lambda s: jnp.float32(0), 0)


def test_worths_that_are_not_floating_point_are_refused_with_the_remedy():
    with pytest.raises(TypeError, match="cast them in the value function"):
        jaxshap.make_game(lambda s: s.sum(), 3)


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


def test_groups_are_in_when_all_their_players_are():
    worths = random_table(1, 4).astype(np.float32)
    game = jaxshap.grouped(jaxshap.table(worths), [[2], [3, 0], [1]])
    expected = [worths[a * 4 + b * (8 + 1) + c * 2] for a, b, c in membership(3).astype(int)]
    np.testing.assert_array_equal(jax.vmap(game)(all_coalitions(3)), np.asarray(expected))
    assert game.num_players == 3


def test_groups_of_a_host_game_are_those_of_the_traced_game():
    worths, groups = random_table(2, 4).astype(np.float32), [[1, 3], [0], [2]]
    host = jaxshap.make_game(jaxshap.host(lambda s: worths[s @ 2 ** np.arange(4)]), 4)
    values = [
        jaxshap.shapley_values(jaxshap.grouped(game, groups))
        for game in (host, jaxshap.table(worths))
    ]
    np.testing.assert_allclose(*values, rtol=1e-6)


@pytest.mark.parametrize("groups", [[[0, 1], [1, 2]], [[0, 1]], [[0, 1], [2, 3]], [[0, 1, 2], []]])
def test_groups_that_do_not_partition_the_players_are_refused(groups):
    with pytest.raises(ValueError, match=r"each of the players 0\.\.2 once"):
        jaxshap.grouped(asymmetric_game(3), groups)


def test_the_difference_of_games_has_the_difference_of_their_values():
    first, second = (jaxshap.table(random_table(seed, 4).astype(np.float32)) for seed in (3, 4))
    difference = jaxshap.shapley_values(jaxshap.minus(first, second))
    expected = jaxshap.shapley_values(first) - jaxshap.shapley_values(second)
    np.testing.assert_allclose(difference, expected, atol=1e-5)


def test_the_difference_of_host_games_is_that_of_the_traced_games():
    tables = [random_table(seed, 3).astype(np.float32) for seed in (3, 4)]
    hosts = [
        jaxshap.make_game(jaxshap.host(lambda s, t=t: t[s @ 2 ** np.arange(3)]), 3) for t in tables
    ]
    values = [
        jaxshap.shapley_values(jaxshap.minus(*games))
        for games in (hosts, list(map(jaxshap.table, tables)))
    ]
    np.testing.assert_allclose(*values, rtol=1e-5, atol=1e-6)


def test_games_that_do_not_fit_have_no_difference():
    with pytest.raises(ValueError, match="3 and 4 players"):
        jaxshap.minus(asymmetric_game(3), asymmetric_game(4))
    host = jaxshap.make_game(jaxshap.host(lambda s: s.astype(np.float32).sum(1)), 3)
    with pytest.raises(TypeError, match=r"jaxshap\.host, or neither"):
        jaxshap.minus(asymmetric_game(3), host)


def test_a_host_game_cannot_be_called_one_coalition_at_a_time_or_traced():
    host = jaxshap.make_game(jaxshap.host(lambda s: s.astype(np.float32).sum(1)), 3)
    with pytest.raises(TypeError, match=r"jaxshap.evaluate\(game, coalitions\)"):
        host(jnp.ones(3, bool))
    with pytest.raises(TypeError, match="cannot run under jit"):
        jax.jit(lambda key: jaxshap.estimate(key, host, jaxshap.Exact(), 8).values)(
            jax.random.key(0)
        )


def test_host_needs_a_function():
    with pytest.raises(TypeError, match=r"model\.predict"):
        jaxshap.host(3)


def test_worked_examples_with_known_values():
    """v(A)=v(B)=v(C)=v(BC)=1, v(AB)=v(AC)=v(ABC)=3 gives (5/3, 2/3, 2/3); without C (3/2, 3/2)."""
    three = jaxshap.table(np.float32([0, 1, 1, 3, 1, 3, 1, 3]))
    np.testing.assert_allclose(jaxshap.shapley_values(three), [5 / 3, 2 / 3, 2 / 3], rtol=1e-6)
    np.testing.assert_allclose(
        jaxshap.shapley_values(jaxshap.table(np.float32([0, 1, 1, 3]))), [1.5, 1.5]
    )


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
def test_a_model_in_place_of_a_game_is_told_how_to_become_one(call):
    def model(rows):
        return rows.sum(1)

    with pytest.raises(TypeError, match="model is not a game: pass"):
        call(model)
