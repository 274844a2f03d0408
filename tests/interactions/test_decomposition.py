"""Functional decomposition: known components, their sums, and the coalitions it evaluates."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import membership, random_table
from matplotlib import pyplot

import jaxshap
from jaxshap.games.subsets import position, sets_up_to
from jaxshap.games.transforms import moebius, small_moebius, superset_sums
from jaxshap.interactions import component, decompose


def product_model(rows):
    return rows[:, 0] + rows[:, 1] + 2 * rows[:, 0] * rows[:, 1]


def correlated_normals(count):
    rng = np.random.default_rng(0)
    return rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], count).astype(np.float32)


POINTS = np.array([[1, 2], [0.5, -1], [-2, 0.3], [0, 0]], np.float32)


def known_components(first, second):
    return np.stack([0 * first + 0.6, first - 0.6, second - 0.6, 2 * first * second + 0.6])


def errors_of_components(background):
    """Standard errors: a component is a fixed function less a mean over the background of these."""
    first, second = background.astype(np.float64).T[:, :, None]
    x, y = POINTS.astype(np.float64).T
    total = first + second + 2 * first * second
    only_first, only_second = x + second + 2 * x * second, first + y + 2 * first * y
    draws = [
        total + 0 * x,
        only_first - total,
        only_second - total,
        total - only_first - only_second,
    ]
    return np.stack([draw.std(0) for draw in draws]) / np.sqrt(len(background))


def test_components_of_a_product_of_correlated_features_are_the_known_ones():
    """16 numbers within 4.5 standard errors: one false alarm in 9,000 seeds; the seed is fixed."""
    background = correlated_normals(100_000)
    parts = decompose(jaxshap.marginal(product_model, POINTS, background))
    assert parts.sets == [(), (0,), (1,), (0, 1)]
    error = np.asarray(parts.values) - known_components(*POINTS.T)
    assert (np.abs(error) < 4.5 * errors_of_components(background)).all()
    assert np.abs(error).max() < 0.04


@pytest.mark.parametrize("wrap", [lambda model: model, jaxshap.host], ids=["jax", "host"])
def test_components_as_functions_are_the_known_ones_at_new_points(wrap):
    background = correlated_normals(100_000)
    bound = 4.5 * errors_of_components(background)
    known = known_components(*POINTS.T)
    for place, columns in enumerate([(0,), (1,), (0, 1)], start=1):
        values = component(wrap(product_model), background, columns)(POINTS[:, columns])
        assert (np.abs(values - known[place]) < bound[place]).all()


def wide_model(rows):
    """Two outputs, interactions up to four features, no symmetry."""
    first = rows[:, 0] - 0.5 * rows[:, 1] * rows[:, 2] + 0.7 * rows[:, 3]
    return jnp.stack(
        [jnp.tanh(first + 0.1 * rows[:, 4]), first * rows[:, 4] + rows[:, 1] ** 2], axis=1
    )


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    return rng.normal(size=(3, 5)).astype(np.float32), rng.normal(size=(20, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def wide_game(tables):
    return jaxshap.marginal(wide_model, *tables)


def test_components_add_up_to_predictions_partial_dependences_and_shapley_values(tables, wide_game):
    rows, background = tables
    parts = decompose(wide_game)
    assert parts.values.shape == (32, 3, 2)
    np.testing.assert_allclose(parts.values.sum(0), wide_model(rows), atol=2e-6)
    np.testing.assert_allclose(parts.shapley_values(), jaxshap.shapley_values(wide_game), atol=2e-6)
    by_hand = sum(parts[players] / len(players) for players in parts.sets if 3 in players)
    np.testing.assert_allclose(parts.shapley_values()[3], by_hand, atol=2e-6)
    np.testing.assert_array_equal(parts.remainder, 0)
    for players in ((), 2, (1, 4), (4, 0, 2), range(5)):
        kept = [players] if isinstance(players, int) else list(players)
        mixed = np.broadcast_to(background, (3, 20, 5)).copy()
        mixed[:, :, kept] = rows[:, None, kept]
        expected = np.asarray(wide_model(mixed.reshape(-1, 5))).reshape(3, 20, 2).mean(1)
        np.testing.assert_allclose(parts.partial_dependence(players), expected, atol=2e-6)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_truncated_decomposition_is_the_first_part_of_the_whole(wide_game, order):
    whole, part = decompose(wide_game), decompose(wide_game, order)
    assert part.sets == [players for players in whole.sets if len(players) <= order]
    np.testing.assert_allclose(part.values, whole.values[: len(part.values)], atol=2e-6)
    np.testing.assert_allclose(part.values.sum(0) + part.remainder, whole.full, atol=2e-6)
    np.testing.assert_allclose(part.partial_dependence(3), whole.partial_dependence(3), atol=2e-6)


def counting_game(value, number):
    asked = []

    def count(coalitions):
        asked.extend(map(tuple, coalitions.tolist()))
        return value(coalitions)

    game = jaxshap.make_game(jaxshap.host(count), number)
    asked.clear()  # the endpoints belong to the game
    return game, asked


@pytest.mark.parametrize(("order", "expected"), [(1, 8), (2, 8 + 28), (8, 254), (None, 254)])
def test_only_the_coalitions_that_are_needed_are_asked_for_and_each_once(order, expected):
    game, asked = counting_game(lambda coalitions: coalitions @ np.arange(8.0), 8)
    decompose(game, order)
    assert len(asked) == len(set(asked)) == expected
    assert max(map(sum, asked)) <= (order or 8)


def test_a_hundred_players_have_their_pairs_from_five_thousand_worths():
    rng = np.random.default_rng(2)
    single, pairs = rng.normal(size=100), np.triu(rng.normal(size=(100, 100)), 1)

    def value(coalitions):
        return coalitions @ single + np.einsum("si,ij,sj->s", coalitions, pairs, coalitions) + 3

    with jax.enable_x64(True):
        game, asked = counting_game(value, 100)
        parts = decompose(game, 2)
        assert len(asked) == 100 + 4950
        np.testing.assert_allclose(parts.values[1:101], single, atol=1e-10)
        np.testing.assert_allclose(parts.values[101:], pairs[np.triu_indices(100, 1)], atol=1e-10)
        np.testing.assert_allclose([parts[()], parts[98, 97]], [3, pairs[97, 98]], atol=1e-10)
        np.testing.assert_allclose(parts.remainder, 0, atol=1e-9)


def test_dummies_have_no_components_and_additive_games_have_single_ones_alone():
    players = membership(5)
    without = random_table(3, 4)[players[:, [0, 1, 3, 4]] @ 2 ** np.arange(4)]
    parts = decompose(jaxshap.table(jnp.asarray(without, jnp.float32)))
    np.testing.assert_array_equal(parts.values[parts.members[:, 2]], 0)
    weights = np.array([1, -2, 3, 0.5, 4])
    parts = decompose(jaxshap.table(jnp.asarray(players @ weights + 1, jnp.float32)))
    expected = np.zeros(32)
    expected[:6] = [1, *weights]
    np.testing.assert_array_equal(parts.values, expected)


def test_float32_is_as_good_as_its_worths():
    """Errors against float64 at 14 players: a few units of the largest component's last place."""
    worths = random_table(4, 14).astype(np.float32)
    with jax.enable_x64(True):
        exact = decompose(jaxshap.table(jnp.asarray(worths.astype(np.float64))))
        truth, values = np.asarray(exact.values), np.asarray(exact.shapley_values())
    parts = decompose(jaxshap.table(jnp.asarray(worths)))
    largest = np.abs(truth).max()
    assert np.abs(parts.values - truth).max() < 1e-6 * largest
    assert np.abs(parts.shapley_values() - values).max() < 1e-6 * largest
    whole = parts.partial_dependence(range(14))
    assert abs(float(whole - worths[-1])) < 4e-6 * largest


def test_shares_of_variance_sum_to_one_and_tell_orders_apart():
    rng = np.random.default_rng(5)
    rows = rng.choice([-1.0, 1.0], size=(4000, 3)).astype(np.float32)
    both = np.array(list(itertools.product([-1, 1], repeat=3)), np.float32)

    def model(rows):
        return jnp.stack(
            [rows[:, 0] + rows[:, 1] * rows[:, 2], rows[:, 0] * rows[:, 1] * rows[:, 2]], axis=1
        )

    game = jaxshap.marginal(model, rows, both)
    shares = decompose(game).variance_shares()
    assert shares.shape == (3, 2)
    np.testing.assert_allclose(shares.sum(0), 1, atol=1e-5)
    # the two terms of the first output have equal variance
    np.testing.assert_allclose(shares[:, 0], [0.5, 0.5, 0], atol=0.05)
    np.testing.assert_allclose(shares[:, 1], [0, 0, 1], atol=1e-5)
    part = decompose(game, 2)
    centred = np.asarray(part.full - part.full.mean(0))
    left = (np.asarray(part.remainder) * centred).sum(0) / (centred**2).sum(0)
    np.testing.assert_allclose(part.variance_shares().sum(0) + left, 1, atol=1e-5)


def test_gradients_and_jit_go_through_a_decomposition(tables):
    rows, background = tables

    def pair(slope, rows):
        game = jaxshap.marginal(lambda x: slope * x[:, 0] * x[:, 1] + x[:, 2], rows, background)
        return decompose(game, 2)

    slope = jnp.asarray(1.5)
    centred = (
        rows[:, 0] * rows[:, 1]
        - rows[:, 0] * background[:, 1].mean()
        - background[:, 0].mean() * rows[:, 1]
    )
    expected = centred + (background[:, 0] * background[:, 1]).mean()
    by_slope = jax.jacobian(lambda slope: pair(slope, rows)[0, 1])(slope)
    np.testing.assert_allclose(by_slope, expected, atol=1e-5)
    by_row = jax.grad(lambda rows: pair(slope, rows)[0, 1].sum())(jnp.asarray(rows))
    np.testing.assert_allclose(
        by_row[:, 0], 1.5 * (rows[:, 1] - background[:, 1].mean()), atol=1e-5
    )
    jitted = jax.jit(pair)(slope, rows)
    np.testing.assert_allclose(jitted.values, pair(slope, rows).values, atol=1e-5)
    assert jitted.order == 2


def test_components_as_functions_agree_with_the_decomposition(tables, wide_game):
    rows, background = tables
    whole = decompose(wide_game)
    on_host = jaxshap.host(lambda rows: np.asarray(wide_model(rows)))
    for columns in ((3,), (0, 1), (4, 1), (0, 1, 2), (0, 1, 2, 3, 4)):
        for model in (wide_model, on_host):
            function = component(model, background, columns)
            np.testing.assert_allclose(function(rows[:, columns]), whole[columns], atol=3e-6)
    function = component(wide_model, background, 3)
    np.testing.assert_allclose(function(rows[:, 3].tolist()), whole[3], atol=3e-6)
    np.testing.assert_allclose(jax.jit(function)(rows[:, 3]), whole[3], atol=3e-6)


def test_components_as_functions_can_be_differentiated():
    background = correlated_normals(50)
    function = component(product_model, background, (0, 1))
    slopes = jax.vmap(jax.grad(lambda point: function(point[None])[0]))(jnp.asarray(POINTS))
    expected = 2 * (POINTS[:, ::-1] - background.mean(0)[::-1])
    np.testing.assert_allclose(slopes, expected, atol=1e-5)


def test_components_of_fitted_models_take_features_by_name():
    pd = pytest.importorskip("pandas")
    linear_model = pytest.importorskip("sklearn.linear_model")
    frame = pd.DataFrame(
        np.random.default_rng(6).normal(size=(40, 3)), columns=["age", "sex", "pay"]
    )
    fitted = linear_model.LinearRegression().fit(frame, frame @ [1.0, -2, 3])
    function = component(fitted, frame, "pay")
    assert function.names == ("pay",)
    np.testing.assert_allclose(
        function([0.0, 1.0]), 3 * (np.array([0, 1]) - frame["pay"].mean()), atol=1e-5
    )
    np.testing.assert_allclose(
        component(fitted, frame, ["age", "sex"])(np.zeros((2, 2))), 0, atol=1e-5
    )
    turned = component(fitted, frame[["pay", "sex", "age"]], "pay")  # columns match by name
    np.testing.assert_allclose(turned([0.0, 1.0]), function([0.0, 1.0]), atol=1e-5)


def test_weights_of_the_background_count():
    background = jaxshap.WeightedRows(
        np.array([[0.0, 0], [4, 4]], np.float32), np.array([3.0, 1], np.float32)
    )
    values = component(lambda rows: rows[:, 0] * rows[:, 1], background, 0)(np.array([2.0, 0]))
    np.testing.assert_allclose(values, [2 * 1 - 4, -4], atol=1e-6)


def test_sets_stand_in_order_and_are_found_again():
    for number, order in ((5, 5), (7, 3), (1, 1)):
        expected = [
            s for size in range(order + 1) for s in itertools.combinations(range(number), size)
        ]
        assert [tuple(np.flatnonzero(row)) for row in sets_up_to(number, order)] == expected
        assert [position(players, number, order) for players in expected] == list(
            range(len(expected))
        )


def test_transforms_of_small_sets_are_those_of_their_definition():
    table = random_table(7, 6, 2)
    codes = np.arange(64)
    with jax.enable_x64(True):
        sums = np.asarray(jax.jit(superset_sums, static_argnums=1)(jnp.asarray(table), 3))
        small = moebius(jnp.asarray(table))
        chosen = sets_up_to(6, 3) @ 2 ** np.arange(6)
        np.testing.assert_allclose(
            small_moebius(jnp.asarray(table[chosen]), 6, 3), small[chosen], atol=1e-12
        )
        for row, code in zip(sums, chosen, strict=True):
            for extra in range(7):
                inside = (codes & code == code) & (np.bitwise_count(codes & ~code) == extra)
                np.testing.assert_allclose(row[extra], table[inside].sum(0), atol=1e-12)


def test_bars_show_the_largest_components_and_what_the_others_add_up_to(wide_game):
    parts = decompose(wide_game).pick(1, 0)
    before = np.array(parts.values)
    ax = jaxshap.plots.component_bars(parts, names=list("abcde"), max_display=6)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "25 other components"
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(sum(widths) + before[0], parts.full, atol=1e-5)
    assert len(widths) == 7
    np.testing.assert_array_equal(parts.values, before)
    pyplot.close(ax.figure)
    sparse = decompose(jaxshap.table(jnp.asarray(membership(4) @ [1.0, 0, 2, -3e-6]))).pick()
    ax = jaxshap.plots.component_bars(sparse, names=["a" * 30, "b", "c" * 30, "d"])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "c" * 30,
        "a" * 30,
        "13 other components",
    ]
    pyplot.close(ax.figure)
    _, mine = pyplot.subplots()
    assert jaxshap.plots.component_bars(decompose(wide_game, 2).pick(0, 1), ax=mine) is mine
    pyplot.close(mine.figure)


def count_of(number):
    return jaxshap.make_game(lambda players: players.sum().astype(jnp.float32), number)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: decompose(count_of(30)), ValueError, "pass a lower order"),
        (lambda: decompose(count_of(100), 5), ValueError, "pass a lower order"),
        (lambda: decompose(count_of(3), 0), ValueError, "between 1 and 3"),
        (lambda: decompose(count_of(3), 4), ValueError, "between 1 and 3"),
        (lambda: decompose(count_of(3), 2).shapley_values(), ValueError, "order=None"),
        (lambda: decompose(count_of(3)).variance_shares(), ValueError, "two rows or more"),
        (lambda: decompose(count_of(3), 2)[0, 1, 2], KeyError, "at most 2"),
        (lambda: decompose(count_of(3), 2)[0, 3], KeyError, "from 0 to 2"),
        (lambda: decompose(count_of(3), True), ValueError, "a whole number between 1 and 3"),
        (lambda: component(product_model, POINTS, 2), ValueError, "columns 0..1"),
        (lambda: component(product_model, POINTS, "age"), ValueError, "the column 'age'"),
        (lambda: component(product_model, POINTS, (1, 1)), ValueError, "more than once"),
        (lambda: component(product_model, POINTS, []), ValueError, "one feature or more"),
        (
            lambda: component(product_model, POINTS, (0, 1))(POINTS[:, 0]),
            ValueError,
            r"\(points, 2\)",
        ),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_picture_of_many_rows_says_which_to_pick(wide_game):
    with pytest.raises(ValueError, match=r"such as \.pick\(0, 0\)"):
        jaxshap.plots.component_bars(decompose(wide_game))
