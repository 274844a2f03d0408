"""Games from tables, groups of players, and differences of games."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import asymmetric_game, membership, random_table

import jaxshap
from jaxshap.errors import InputTypeError
from jaxshap.games.coalitions import all_coalitions


def test_a_table_stands_in_the_order_of_all_coalitions():
    worths = random_table(0, 4, 2).astype(np.float32)
    game = jaxshap.table(worths)
    np.testing.assert_array_equal(jax.vmap(game)(all_coalitions(4)), worths)
    np.testing.assert_array_equal(all_coalitions(4), membership(4))


@pytest.mark.parametrize("length", [0, 1, 3, 12])
def test_a_table_of_the_wrong_length_is_refused(length):
    with pytest.raises(ValueError, match=r"2\*\*n rows"):
        jaxshap.table(np.zeros(length, np.float32))


def test_a_single_number_is_no_table():
    with pytest.raises(ValueError, match=r"2\*\*n rows"):
        jaxshap.table(1.0)


@pytest.mark.parametrize(
    ("worths", "message"),
    [
        ([0, 1, 2, 6], r"not int32: pass np\.asarray\(worths, float\)"),
        ([False, True], r"not bool: pass np\.asarray\(worths, float\)"),
        ([0, 1j, 2, 6], "not complex64: pass their real part or modulus"),
        (["low", "high"], r"pass an array with 2\*\*n rows"),
        ("high", r"pass an array with 2\*\*n rows"),
        (None, r"pass an array with 2\*\*n rows"),
        ([[0.0], [1.0, 2.0]], r"pass an array with 2\*\*n rows"),
    ],
)
def test_a_table_that_holds_no_real_numbers_is_refused_with_the_remedy(worths, message):
    with pytest.raises(InputTypeError, match=message):
        jaxshap.table(worths)


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


@pytest.mark.parametrize(
    "groups",
    [
        [np.array([1, 3]), np.array([0], np.uint8), np.array([2])],
        [jnp.array([1, 3]), (0,), {2}],
        np.array([[1, 3], [0, 2]]),
        (range(1, 4, 2), np.arange(0, 4, 2)),
    ],
    ids=str,
)
def test_groups_may_be_arrays_tuples_sets_and_ranges(groups):
    worths = random_table(2, 4).astype(np.float32)
    lists = [sorted(map(int, group)) for group in groups]
    values = [
        jaxshap.shapley_values(jaxshap.grouped(jaxshap.table(worths), given))
        for given in (groups, lists)
    ]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    "groups",
    [
        [[True, False, False], [False, True, True]],
        np.array([[True, False, False], [False, True, True]]),
        [np.array([0.0, 1.0]), [2]],
        [[0.5, 1], [2]],
        ["ab", "c"],
        {"first": [0, 1], "second": [2]},
        [0, 1, 2],
        np.arange(3),
    ],
    ids=str,
)
def test_groups_that_are_no_player_numbers_are_refused(groups):
    with pytest.raises(InputTypeError, match="is not a group: pass a list of player numbers"):
        jaxshap.grouped(asymmetric_game(3), groups)


def test_a_single_number_is_no_list_of_groups():
    with pytest.raises(InputTypeError, match="groups=3: pass one list of players per group"):
        jaxshap.grouped(asymmetric_game(3), 3)


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
    rows = jaxshap.table(random_table(0, 3, 2).astype(np.float32))
    with pytest.raises(ValueError, match=r"shapes \(\) and \(2,\)"):
        jaxshap.minus(asymmetric_game(3), rows)
    host = jaxshap.make_game(jaxshap.host(lambda s: s.astype(np.float32).sum(1)), 3)
    with pytest.raises(TypeError, match=r"jaxshap\.host, or neither"):
        jaxshap.minus(asymmetric_game(3), host)


def test_worked_examples_with_known_values():
    """v(A)=v(B)=v(C)=v(BC)=1, v(AB)=v(AC)=v(ABC)=3 gives (5/3, 2/3, 2/3); without C (3/2, 3/2)."""
    three = jaxshap.table(np.float32([0, 1, 1, 3, 1, 3, 1, 3]))
    np.testing.assert_allclose(jaxshap.shapley_values(three), [5 / 3, 2 / 3, 2 / 3], rtol=1e-6)
    np.testing.assert_allclose(
        jaxshap.shapley_values(jaxshap.table(np.float32([0, 1, 1, 3]))), [1.5, 1.5]
    )
