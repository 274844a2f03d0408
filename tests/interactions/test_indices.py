"""Interaction indices meet their definitions, shapiq, float32, and the errors of estimates."""

import ast
import dataclasses
import itertools
import math
import pathlib

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
from matplotlib import pyplot

import jaxshap
from jaxshap.games import walsh_weights
from jaxshap.interactions import exact_interactions

ALL = ["Moebius", "SII", "k-SII", "STII", "FSII", "BII"]
EFFICIENT = ["k-SII", "STII", "FSII"]


def game_of(worths):
    return jaxshap.table(jnp.asarray(worths))


def code(players):
    return sum(2**player for player in players)


def derivative(worths, players, others):
    """Δ_S v(T): the worth that the players of S add to T all together and no fewer of them."""
    parts = (s for size in range(len(players) + 1) for s in itertools.combinations(players, size))
    return sum(
        (-1) ** (len(players) - len(part)) * worths[code(part) + code(others)] for part in parts
    )


def by_derivatives(worths, players, weight):
    rest = [player for player in range(len(worths).bit_length() - 1) if player not in players]
    sets = (s for size in range(len(rest) + 1) for s in itertools.combinations(rest, size))
    return sum(
        weight(len(rest), len(others)) * derivative(worths, players, others) for others in sets
    )


@pytest.mark.parametrize("order", [1, 2, 3])
def test_indices_are_those_of_their_definitions_as_means_of_derivatives(order):
    worths = random_table(order, 5)
    with jax.enable_x64(True):
        interactions = {
            index: exact_interactions(game_of(worths), index, order)
            for index in ("SII", "BII", "STII")
        }
        for players in interactions["SII"].sets:
            shapley = by_derivatives(
                worths, players, lambda rest, size: 1 / ((rest + 1) * math.comb(rest, size))
            )
            banzhaf = by_derivatives(worths, players, lambda rest, size: 2.0**-rest)
            taylor = by_derivatives(
                worths, players, lambda rest, size: order / 5 / math.comb(4, size)
            )
            taylor = taylor if len(players) == order else derivative(worths, players, ())
            for index, expected in (("SII", shapley), ("BII", banzhaf), ("STII", taylor)):
                np.testing.assert_allclose(interactions[index][players], expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_fsii_is_the_best_fit_with_shapley_weights_through_both_ends(order):
    number, worths = 6, random_table(order, 6)
    with jax.enable_x64(True):
        interactions = exact_interactions(game_of(worths), "FSII", order)
        coalitions = membership(number)
        design = (coalitions[:, None] | ~interactions.members).all(2).astype(float)
        sizes = coalitions.sum(1)
        inner = (sizes > 0) & (sizes < number)
        weights = np.array([1 / (math.comb(number, s) * s * (number - s)) for s in sizes[inner]])
        gram = (design[inner] * weights[:, None]).T @ design[inner]
        ends = np.ones((1, design.shape[1]))
        system = np.block([[gram, ends.T], [ends, np.zeros((1, 1))]])
        target = (design[inner] * weights[:, None]).T @ (worths[inner] - worths[0])
        solution = np.linalg.solve(system, np.append(target, worths[-1] - worths[0]))[:-1]
        np.testing.assert_allclose(interactions.values, solution, atol=1e-10)


@pytest.mark.parametrize("number", [3, 6, 10])
def test_indices_agree_with_shapiq(number):
    shapiq = pytest.importorskip("shapiq")
    worths = random_table(number, number)
    peer = shapiq.ExactComputer(
        lambda coalitions: worths[np.asarray(coalitions) @ 2 ** np.arange(number)], number
    )
    game = game_of(worths.astype(np.float32))
    for index, order in itertools.product(ALL, (1, 2, 3)):
        interactions, expected = exact_interactions(game, index, order), peer(index, order)
        error = max(
            abs(float(interactions[players]) - float(expected[players]))
            for players in interactions.sets
        )
        assert error < 2e-6, (index, order)
    for index in ("SV", "BV"):
        interactions, expected = exact_interactions(game, index, 1), peer(index, 1)
        np.testing.assert_allclose(
            interactions.values, [expected[(player,)] for player in range(number)], atol=2e-6
        )


@pytest.mark.parametrize("index", ["SII", "k-SII", "STII", "FSII", "BII"])
def test_float32_keeps_its_digits_at_many_players(index):
    """Worths of order 1, and with a constant of 100 on top: a few units in the last place."""
    worths = random_table(8, 16).astype(np.float32)
    with jax.enable_x64(True):
        truth = np.asarray(exact_interactions(game_of(worths.astype(np.float64)), index).values)
    assert np.abs(exact_interactions(game_of(worths), index).values - truth).max() < 2e-6
    coarse = np.round(worths * 1024) / 1024  # so that adding a constant rounds nothing
    plain, shifted = (
        exact_interactions(game_of(part), index).values
        for part in (coarse, coarse + np.float32(100))
    )
    np.testing.assert_allclose(plain, shifted, atol=1e-6)


@pytest.mark.parametrize("index", ["SII", "k-SII", "STII", "FSII", "SV"])
def test_at_order_one_they_are_shapley_values(index):
    game = game_of(random_table(1, 6, 3).astype(np.float32))
    np.testing.assert_allclose(
        exact_interactions(game, index, 1).values, jaxshap.shapley_values(game), atol=1e-6
    )


@pytest.mark.parametrize("index", EFFICIENT)
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_efficient_indices_sum_to_what_is_shared_out(index, order):
    game = game_of(random_table(2, 6).astype(np.float32))
    interactions = exact_interactions(game, index, order)
    np.testing.assert_allclose(
        interactions.base_values + interactions.values.sum(), game.full, atol=1e-5
    )


def test_at_the_highest_order_efficient_indices_are_the_moebius_transform():
    game = game_of(random_table(3, 5).astype(np.float32))
    expected = exact_interactions(game, "Moebius", 5).values
    for index in EFFICIENT:
        np.testing.assert_allclose(exact_interactions(game, index, 5).values, expected, atol=1e-5)


@pytest.mark.parametrize("index", ALL)
def test_dummies_have_none_and_additive_games_have_no_pairs(index):
    players = membership(5)
    without = random_table(4, 4)[players[:, [0, 1, 3, 4]] @ 2 ** np.arange(4)].astype(np.float32)
    interactions = exact_interactions(game_of(without), index, 3)
    np.testing.assert_array_equal(interactions.values[interactions.members[:, 2]], 0)
    weights = np.array([1, -2, 3, 0.5, 4], np.float32)
    interactions = exact_interactions(game_of((players @ weights + 1).astype(np.float32)), index, 2)
    np.testing.assert_allclose(interactions.values, [*weights, *[0] * 10], atol=1e-6)


@pytest.mark.parametrize("index", ALL)
def test_players_that_change_places_take_their_interactions_along(index):
    worths, order = random_table(5, 5).astype(np.float32), [3, 0, 4, 1, 2]
    moved = np.empty_like(worths)
    codes = membership(5)[:, np.argsort(order)] @ 2 ** np.arange(5)
    moved[codes] = worths  # player i is now called order[i]
    before, after = (exact_interactions(game_of(part), index, 3) for part in (worths, moved))
    for players in before.sets:
        np.testing.assert_allclose(
            after[[order[player] for player in players]], before[players], atol=2e-6
        )


def test_moebius_asks_for_small_coalitions_alone():
    asked = []

    def value(coalitions):
        asked.extend(coalitions.sum(1).tolist())
        return coalitions @ np.arange(1.0, 31)

    game = jaxshap.make_game(jaxshap.host(value), 30)
    asked.clear()
    interactions = exact_interactions(game, "Moebius", 2)
    assert sorted(asked) == [1] * 30 + [2] * 435
    np.testing.assert_allclose(interactions.values[:30], np.arange(1, 31), rtol=1e-6)


def test_rows_and_outputs_are_kept_and_picked():
    worths = random_table(6, 4, 2, 3).astype(np.float32)
    interactions = exact_interactions(game_of(worths), "STII", 2)
    alone = exact_interactions(game_of(worths[:, 1, 2]), "STII", 2)
    assert interactions.values.shape == interactions.std_error.shape == (10, 2, 3)
    assert interactions[1, 3].shape == interactions.base_values.shape == (2, 3)
    np.testing.assert_allclose(interactions.pick(1, 2).values, alone.values, atol=1e-6)
    np.testing.assert_array_equal(interactions.pick(1).pick(2).base_values, alone.base_values)
    np.testing.assert_array_equal(interactions.std_error, 0)
    matrix = interactions.matrix()
    assert matrix.shape == (4, 4, 2, 3)
    np.testing.assert_array_equal(matrix[3, 1], interactions[1, 3])
    np.testing.assert_array_equal(matrix[1, 3], interactions[3, 1])
    np.testing.assert_array_equal(matrix[2, 2], interactions[2])


def test_gradients_and_jit_go_through():
    parameters = asymmetric_parameters(5)

    def pair(parameters):
        game = jaxshap.make_game(jax.tree_util.Partial(asymmetric_value, parameters), 5)
        return exact_interactions(game, "FSII", 2)

    np.testing.assert_allclose(jax.jit(pair)(parameters).values, pair(parameters).values, atol=1e-5)
    slope = jax.grad(lambda parameters: pair(parameters)[1, 4])(parameters)[1]
    step = 0.5  # the index is linear in the scale
    ends = [pair((parameters[0], parameters[1] + sign * step))[1, 4] for sign in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), atol=1e-5)


def test_host_models_and_jax_models_agree():
    rng = np.random.default_rng(7)
    rows, background = rng.normal(size=(2, 4)), rng.normal(size=(10, 4))

    def model(rows):
        return rows[:, 0] * rows[:, 1] ** 2 + rows[:, 2] * rows[:, 3] * rows[:, 0]

    in_jax = exact_interactions(jaxshap.marginal(model, rows, background), "k-SII")
    on_host = exact_interactions(jaxshap.marginal(jaxshap.host(model), rows, background), "k-SII")
    np.testing.assert_allclose(in_jax.values, on_host.values, atol=1e-5)


def test_trees_have_the_interactions_of_their_marginal_game():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(60, 4))
    fitted = ensemble.RandomForestRegressor(5, max_depth=4, random_state=0).fit(
        rows, rows[:, 0] * rows[:, 1] + rows[:, 2]
    )
    game = jaxshap.marginal(jaxshap.host(fitted.predict), rows[:3], rows[:20])
    matrix = np.asarray(exact_interactions(game).matrix())
    trees = jaxshap.trees.interventional_interactions(
        jaxshap.trees.read_trees(fitted), rows[:3], rows[:20]
    )
    off = ~np.eye(4, dtype=bool)
    halves = np.moveaxis(np.asarray(trees)[..., 0], 0, 2)
    np.testing.assert_allclose(matrix[off], 2 * halves[off], atol=1e-5)


def test_shapiq_holds_the_same_numbers():
    shapiq = pytest.importorskip("shapiq")
    game = game_of(random_table(9, 5).astype(np.float32))
    for index, order in (("SII", 2), ("k-SII", 3), ("FSII", 2), ("Moebius", 5), ("BV", 1)):
        interactions = exact_interactions(game, index, order)
        theirs = interactions.to_shapiq()
        assert isinstance(theirs, shapiq.InteractionValues)
        assert (theirs.index, theirs.n_players, theirs.max_order, theirs.estimated) == (
            index,
            5,
            order,
            False,
        )
        np.testing.assert_array_equal(
            [theirs[players] for players in interactions.sets], interactions.values
        )
        assert theirs.baseline_value == float(interactions.base_values)


def test_shapiq_is_imported_inside_to_shapiq_alone():
    tree = ast.parse(
        (pathlib.Path(jaxshap.__file__).parent / "interactions" / "index_values.py").read_text()
    )
    (function,) = (
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "to_shapiq"
    )
    users = [n for n in ast.walk(tree) if isinstance(n, ast.Import) and n.names[0].name == "shapiq"]
    assert users
    assert all(node in ast.walk(function) for node in users)


def test_walsh_weights_of_sii_and_bii_are_known():
    """(−2)^s/(d+1) for even d and 0 for odd d; (−2)^s for d = 0 alone."""
    extra = np.arange(8)
    for size in (1, 2, 3):
        inside = extra <= 7 - size
        expected = np.where(extra % 2, 0, (-2.0) ** size / (extra + 1)) * inside
        np.testing.assert_allclose(walsh_weights("SII", 3, 7)[size - 1], expected, atol=1e-15)
        np.testing.assert_array_equal(
            walsh_weights("BII", 3, 7)[size - 1], (-2.0) ** size * (extra == 0)
        )


def test_pictures_show_every_player_and_change_nothing():
    interactions = exact_interactions(game_of(random_table(10, 5).astype(np.float32)))
    before = np.array(interactions.values)
    names = ["age", "sex", "pay", "town", "job"]
    heat = jaxshap.plots.interaction_heatmap(interactions, names=names)
    assert [label.get_text() for label in heat.get_xticklabels()] == names
    np.testing.assert_allclose(heat.images[0].get_array(), interactions.matrix(), atol=1e-6)
    network = jaxshap.plots.interaction_network(interactions, names=names, max_display=4)
    assert {text.get_text() for text in network.texts} == set(names)
    drawn = [line for line in network.lines if len(line.get_xdata())]
    assert len(drawn) == 4
    assert "4 strongest of 10" in network.get_title()
    np.testing.assert_array_equal(interactions.values, before)
    unknown = dataclasses.replace(interactions, values=interactions.values.at[:5].set(jnp.nan))
    _, mine = pyplot.subplots()
    assert jaxshap.plots.interaction_network(unknown, ax=mine) is mine
    jaxshap.plots.interaction_heatmap(unknown)
    many = exact_interactions(asymmetric_game(13), "BII")  # cells have no room for numbers
    jaxshap.plots.interaction_heatmap(many)
    pyplot.close("all")


def test_bars_and_stacks_show_sets_of_all_orders():
    interactions = exact_interactions(game_of(random_table(10, 5).astype(np.float32)), "k-SII", 3)
    bars = jaxshap.plots.interaction_bars(interactions, max_display=6)
    heights = [bar.get_height() for bar in bars.patches]
    strongest = np.sort(np.abs(interactions.values))[-6:][::-1]
    np.testing.assert_allclose(np.abs(heights), strongest, rtol=1e-5)
    stack = jaxshap.plots.interaction_stack(interactions, max_display=4)
    pushed = sum(part.get_width() for part in stack.patches)
    np.testing.assert_allclose(pushed, np.abs(interactions.values).sum(), rtol=1e-5)
    total = float(interactions.base_values + interactions.values.sum())
    right, left = stack.patches[0], stack.patches[-1]  # they meet at the prediction
    np.testing.assert_allclose(right.get_x() + right.get_width(), total, atol=1e-5)
    assert left.get_x() >= total - 1e-5
    with pytest.raises(ValueError, match="does not add up"):
        jaxshap.plots.interaction_stack(exact_interactions(small(), "BII"))
    shapley = exact_interactions(small(), "SII", 3)  # as an explanation has them: drawn as k-SII
    stack = jaxshap.plots.interaction_stack(shapley)
    pushed = sum(part.get_width() for part in stack.patches)
    same = exact_interactions(small(), "k-SII", 3)
    np.testing.assert_allclose(pushed, np.abs(same.values).sum(), rtol=1e-5)
    assert stack.get_xlabel() == "k-SII"
    pyplot.close("all")


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_shapley_interactions_aggregate_to_those_that_add_up(order):
    game = game_of(random_table(2, 5, 2).astype(np.float32))
    shapley = exact_interactions(game, "SII", order)
    found = jaxshap.interactions.aggregated(shapley)
    expected = exact_interactions(game, "k-SII", order)
    assert (found.index, found.order) == ("k-SII", order)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-5)
    np.testing.assert_allclose(found.values.sum(0), game.full - game.empty, atol=1e-5)
    np.testing.assert_array_equal(found.std_error, 0)
    unsure = dataclasses.replace(shapley, std_error=jnp.ones_like(shapley.std_error))
    bounds = jaxshap.interactions.aggregated(unsure).std_error
    if order == 2:  # half of four interactions
        np.testing.assert_allclose(bounds[:5], 3)
    np.testing.assert_allclose(bounds[-1], 1)


def small():
    return game_of(random_table(0, 3).astype(np.float32))


def with_rows():
    return exact_interactions(game_of(random_table(0, 3, 2, 2).astype(np.float32)))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: exact_interactions(small(), "sii"), ValueError, "pass one of Moebius, SV"),
        (lambda: exact_interactions(small(), "SII", 4), ValueError, "between 1 and 3"),
        (lambda: exact_interactions(small(), "BV"), ValueError, 'order=1, or index="BII"'),
        (
            lambda: exact_interactions(
                jaxshap.make_game(lambda s: s.sum().astype(jnp.float32), 30)
            ),
            ValueError,
            "estimate_interactions",
        ),
        (lambda: exact_interactions(small())[()], KeyError, "base_values"),
        (lambda: exact_interactions(small())[0, 1, 2], KeyError, "at most 2"),
        (lambda: exact_interactions(small(), order=1).matrix(), ValueError, "order=2"),
        (lambda: with_rows().to_shapiq(), ValueError, r"\.pick\(0, 0\)"),
        (
            lambda: with_rows().pick(0, 2),
            IndexError,
            r"\(0, 2\) is not among rows and outputs of shape \(2, 2\)",
        ),
        (lambda: jaxshap.plots.interaction_heatmap(with_rows()), ValueError, r"\.pick\(0, 0\)"),
        (
            lambda: jaxshap.plots.interaction_network(with_rows().pick(0, 0), names=["a"]),
            ValueError,
            "1 names for 3",
        ),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
