"""ALE against closed forms, the published algorithm in plain loops, PyALE and derivatives."""

import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial
from test_effects import bilinear, correlated, network, weights_of

import jaxshap
from jaxshap.engine import byte_limit, bytes_of_call


def published(model, rows, column, edges):
    """First order, row by row: Apley & Zhu (2020), centred as in ALEPlot."""
    effects = [[] for _ in edges[1:]]
    for row in rows:
        place = max(0, int(np.searchsorted(edges, row[column])) - 1)
        ends = np.stack([row, row])
        ends[:, column] = edges[place : place + 2]
        low, high = model(ends)
        effects[place].append(high - low)
    curve = np.concatenate([[0], np.cumsum([np.mean(each) for each in effects])])
    counts = np.array([len(each) for each in effects])
    return curve - (counts * (curve[1:] + curve[:-1]) / 2).sum() / counts.sum()


def published_pair(model, rows, columns, edges):
    """Second order, cell by cell; no cell may be empty."""
    shape = tuple(len(ends) - 1 for ends in edges)
    total, counts = np.zeros(shape), np.zeros(shape)
    for row in rows:
        a, b = (
            max(0, int(np.searchsorted(ends, row[at])) - 1)
            for ends, at in zip(edges, columns, strict=True)
        )
        corners = np.stack([row] * 4)
        corners[:, columns[0]] = edges[0][[a, a, a + 1, a + 1]]
        corners[:, columns[1]] = edges[1][[b, b + 1, b, b + 1]]
        ll, lh, hl, hh = model(corners)
        total[a, b] += (hh - hl) - (lh - ll)
        counts[a, b] += 1
    assert counts.all()
    surface = np.zeros((shape[0] + 1, shape[1] + 1))
    surface[1:, 1:] = (total / counts).cumsum(0).cumsum(1)
    first, second = np.zeros(shape[0] + 1), np.zeros(shape[1] + 1)
    for a in range(shape[0]):
        step = surface[a + 1] - surface[a]
        first[a + 1] = first[a] + (counts[a] * (step[1:] + step[:-1]) / 2).sum() / counts[a].sum()
    for b in range(shape[1]):
        step = surface[:, b + 1] - surface[:, b]
        weighted = (counts[:, b] * (step[1:] + step[:-1]) / 2).sum()
        second[b + 1] = second[b] + weighted / counts[:, b].sum()
    surface = surface - first[:, None] - second
    middle = (surface[1:, 1:] + surface[:-1, 1:] + surface[1:, :-1] + surface[:-1, :-1]) / 4
    return surface - (counts * middle).sum() / counts.sum()


def scalar(seed=1):
    weights = weights_of(3, 1, seed)
    return Partial(network, (weights[0], weights[1][:, 0]))


def in_numpy(model):
    return lambda rows: np.asarray(model(rows.astype(np.float32)), np.float64)


def test_an_additive_model_has_its_own_parts_and_no_interaction():
    rows = correlated(500)

    def additive(x):
        return jnp.sin(x[:, 0]) + x[:, 1] ** 2 - 3 * x[:, 2]

    first, second, pair = jaxshap.effects.ale(additive, rows, [0, 1, (0, 1)], bins=12)
    for effect, part in ((first, np.sin), (second, np.square)):
        curve = part(effect.grids[0])
        middle = (effect.counts * (curve[1:] + curve[:-1]) / 2).sum() / 500
        np.testing.assert_allclose(effect.values, curve - middle, atol=1e-5)
    np.testing.assert_allclose(pair.values, 0, atol=1e-4)
    assert first.counts.sum() == pair.counts.sum() == 500


def test_first_order_is_the_published_algorithm():
    rows, model = correlated(200), scalar()
    effect = jaxshap.effects.ale(model, rows, 1, bins=10)
    ordered = np.sort(rows[:, 1])
    edges = [ordered[max(0, int(np.ceil(200 * share / 10)) - 1)] for share in range(11)]
    np.testing.assert_array_equal(effect.grids[0], np.unique(edges))
    np.testing.assert_allclose(
        effect.values, published(in_numpy(model), rows, 1, effect.grids[0]), atol=2e-6
    )
    assert (effect.counts == 20).all()
    assert not effect.filled.any()


def test_second_order_is_the_published_algorithm():
    rows, model = correlated(600), scalar()
    effect = jaxshap.effects.ale(model, rows, (2, 0), bins=5)
    assert not effect.filled.any()
    expected = published_pair(in_numpy(model), rows, (2, 0), effect.grids)
    np.testing.assert_allclose(effect.values, expected, atol=5e-6)


def test_first_order_of_a_product_of_correlated_features_is_known():
    """g₀ = x + 0.3(x² − 1) for correlation 0.3.

    The largest |z| of 40 points passes 4.5 less than once in 3,000.
    """
    rows = correlated(100_000)[:, :2]
    for derivative in (False, True):
        for effect in jaxshap.effects.ale(bilinear, rows, [0, 1], bins=200, derivative=derivative):
            # The outermost bins are wide, and their middle is not their mean:
            ends = effect.grids[0][5:-5:5]
            z = (effect.values[5:-5:5] - ends - 0.3 * (ends**2 - 1)) / effect.std_error[5:-5:5]
            assert np.abs(z).max() < 4.5
            assert effect.std_error.max() < 0.3


def test_second_order_of_a_product_of_correlated_features_is_known():
    """g₀₁ = 2xy − 0.3(x² + y²).

    The largest |z| of 600 points, most of them alike, passes 4.5 less than once in 200.
    """
    rows = correlated(100_000)[:, :2]
    ends = {
        column: np.linspace(rows[:, column].min(), rows[:, column].max(), 61) for column in (0, 1)
    }
    for derivative in (False, True):
        effect = jaxshap.effects.ale(bilinear, rows, (0, 1), grids=ends, derivative=derivative)
        x, y = np.meshgrid(*effect.grids, indexing="ij")
        inner = (np.abs(x) < 2) & (np.abs(y) < 2)
        z = (effect.values - 2 * x * y + 0.3 * (x**2 + y**2))[inner] / effect.std_error[inner]
        assert np.abs(z).max() < 4.5
        assert effect.std_error[inner].max() < 0.05


def test_empty_cells_are_filled_for_their_size_and_said_to_be():
    """With a constant second derivative what is filled in is what would have been found."""
    rng = np.random.default_rng(0)
    line = rng.normal(size=300).astype(np.float32)
    rows = np.stack([line, line + 0.2 * rng.normal(size=300).astype(np.float32)], axis=1)
    effect = jaxshap.effects.ale(lambda x: x[:, 0] * x[:, 1], rows, (0, 1), bins=8)
    np.testing.assert_array_equal(effect.filled, effect.counts == 0)
    assert effect.filled[0, -1]
    assert not effect.filled[0, 0]
    twist = np.diff(np.diff(effect.values, axis=0), axis=1)
    np.testing.assert_allclose(twist, np.outer(*map(np.diff, effect.grids)), rtol=1e-2, atol=1e-4)
    given = jaxshap.effects.ale(
        lambda x: 3 * x[:, 0], rows, 0, grids={0: [-9.0, -8.0, 0.0, 8.0, 9.0]}
    )
    assert given.filled.tolist() == [True, False, False, True]
    np.testing.assert_allclose(np.diff(given.values), [3, 24, 24, 3], rtol=1e-5)


def test_effects_have_mean_zero_over_the_rows():
    rows, model = correlated(400), Partial(network, weights_of(3))
    curve, surface = jaxshap.effects.ale(model, rows, [0, (0, 1)], bins=6)
    middle = (curve.values[1:] + curve.values[:-1]) / 2
    np.testing.assert_allclose(np.tensordot(curve.counts, middle, 1), 0, atol=2e-3)
    values = surface.values
    middle = (values[1:, 1:] + values[:-1, 1:] + values[1:, :-1] + values[:-1, :-1]) / 4
    np.testing.assert_allclose(np.tensordot(surface.counts, middle, 2), 0, atol=2e-3)
    for axis in (0, 1):  # neither feature alone has an effect left
        step = np.diff(values, axis=axis)
        along = (step[:, 1:] + step[:, :-1]) / 2 if axis == 0 else (step[1:] + step[:-1]) / 2
        np.testing.assert_allclose((surface.counts[..., None] * along).sum(1 - axis), 0, atol=2e-3)


def likely_order(count=400):
    """Categories 0, 1, 2, 3 whose other features grow in the order 2, 0, 3, 1."""
    rng = np.random.default_rng(5)
    code = rng.integers(0, 4, count)
    place = np.argsort([2, 0, 3, 1])[code]
    rows = np.stack([code, place + 0.7 * rng.normal(size=count), rng.normal(size=count)], axis=1)
    return rows.astype(np.float32), place


def by_category(x):
    level = jnp.asarray([0.5, -1.0, 2.0, 0.0], x.dtype)[x[:, 0].astype(jnp.int32)]
    return level * (1 + x[:, 1])


def test_categories_are_ordered_by_likeness_and_accumulated_from_both_sides():
    rows, place = likely_order()
    effect = jaxshap.effects.ale(by_category, rows, 0, categorical=[0])
    order = effect.grids[0].tolist()
    assert order in ([2, 0, 3, 1], [1, 3, 0, 2])
    place = place if order[0] == 2 else 3 - place
    curve = [0.0]
    for step in range(3):
        both = rows[(place == step) | (place == step + 1)]
        low, high = (np.array(both), np.array(both))
        low[:, 0], high[:, 0] = order[step], order[step + 1]
        curve.append(curve[-1] + float((by_category(high) - by_category(low)).mean()))
    counts = np.bincount(place)
    np.testing.assert_array_equal(effect.counts, counts)
    np.testing.assert_allclose(effect.values, curve - np.average(curve, weights=counts), atol=1e-5)
    assert effect.categorical == (True,)
    assert (effect.std_error > 0).all()


@pytest.mark.parametrize("features", [1, (0, 2)])
def test_pyale_agrees_on_its_own_grid(features):
    """It has quantiles of its own, so its edges are passed in; no cell is empty."""
    pytest.importorskip("PyALE")
    pd = pytest.importorskip("pandas")
    from PyALE._src.ALE_1D import aleplot_1D_continuous
    from PyALE._src.ALE_2D import aleplot_2D_continuous

    rows, model = correlated(800), scalar()
    frame = pd.DataFrame(rows, columns=["x0", "x1", "x2"])

    class Peer:
        def predict(self, frame):
            return np.asarray(model(frame.to_numpy(np.float32)), np.float64)

    if isinstance(features, tuple):
        names = [f"x{column}" for column in features]
        theirs = aleplot_2D_continuous(frame, Peer(), names, grid_size=5)
        grids = {features[0]: theirs.index, features[1]: theirs.columns}
        expected = theirs.to_numpy()
    else:
        theirs = aleplot_1D_continuous(frame, Peer(), f"x{features}", grid_size=15)
        grids, expected = {features: theirs.index}, theirs["eff"].to_numpy()
    ours = jaxshap.effects.ale(model, rows, features, grids=grids)
    assert not ours.filled.any()
    np.testing.assert_allclose(ours.values, expected, atol=1e-5)


def test_pyale_agrees_on_categories_in_order():
    pytest.importorskip("PyALE")
    pd = pytest.importorskip("pandas")
    from PyALE._src.ALE_1D import aleplot_1D_discrete

    rows, place = likely_order()
    rows[:, 0] = place  # now likeness is the order of the codes
    frame = pd.DataFrame(rows, columns=["x0", "x1", "x2"])
    frame["x0"] = frame["x0"].astype(int)

    class Peer:
        def predict(self, frame):
            return np.asarray(by_category(jnp.asarray(frame.to_numpy(np.float32))), np.float64)

    theirs = aleplot_1D_discrete(frame, Peer(), "x0")
    ours = jaxshap.effects.ale(by_category, rows, 0, categorical=[0])
    np.testing.assert_array_equal(ours.grids[0], theirs.index)
    np.testing.assert_allclose(ours.values, theirs["eff"], atol=1e-5)


def test_derivatives_agree_with_differences_in_narrow_bins():
    rows, model = correlated(4000), Partial(network, weights_of(3))
    for features, bins in ((0, 200), ((0, 1), 20)):
        by_difference = jaxshap.effects.ale(model, rows, features, bins=bins)
        by_derivative = jaxshap.effects.ale(model, rows, features, bins=bins, derivative=True)
        inner = (slice(2, -2),) * len(by_difference.grids)
        gap = np.abs(by_difference.values - by_derivative.values)[inner].max()
        assert gap < 0.05 * np.ptp(by_difference.values[inner])
        assert by_derivative.kind == "ALE by derivatives"


@pytest.mark.parametrize("features", [0, (0, 1)])
@pytest.mark.parametrize("count", [400, 90])
def test_errors_hold_even_where_cells_are_empty_or_hold_one_row(features, count):
    """100 data sets: the spread of z at one point is 1 ± 0.07, and points are much alike."""
    ends = {column: np.linspace(-2, 2, 6) for column in (0, 1)}

    def rough(x):  # local effects differ within a bin, by what is not moved
        return x[:, 0] + x[:, 0] * x[:, 1] * (2 + x[:, 2])

    truth = jaxshap.effects.ale(rough, correlated(400_000, 999), features, grids=ends).values
    found = [
        jaxshap.effects.ale(rough, correlated(count, seed), features, grids=ends)
        for seed in range(100)
    ]
    z = np.array([(one.values - truth) / one.std_error for one in found])
    assert 0.8 < np.sqrt((z**2).mean()) < 1.2


@pytest.mark.parametrize("derivative", [False, True])
def test_gradients_and_jit_go_through(derivative):
    rows, weights = correlated(60), weights_of(3, outputs=1)

    def last(weights):
        effects = jaxshap.effects.ale(
            Partial(network, weights), rows, [0, (1, 2)], bins=3, derivative=derivative
        )
        return effects[0].values[-1, 0] + effects[1].values[-1, -1, 0]

    plain, step = float(last(weights)), 1e-2
    np.testing.assert_allclose(jax.jit(last)(weights), plain, atol=1e-5)
    gradient = jax.grad(last)(weights)
    with jax.enable_x64(True):
        wide = tuple(np.asarray(part, np.float64) for part in weights)
        rows = rows.astype(np.float64)
        for at in ((0, 0, 0), (0, 2, 5), (1, 3, 0)):
            moved = [[np.array(part) for part in wide] for _ in range(2)]
            moved[0][at[0]][at[1:]] += step
            moved[1][at[0]][at[1:]] -= step
            slope = (last(moved[0]) - last(moved[1])) / (2 * step)
            np.testing.assert_allclose(gradient[at[0]][at[1:]], slope, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("batch_size", [1, 13, 10_000])
@pytest.mark.parametrize("derivative", [False, True])
def test_the_batch_size_does_not_change_the_answer(batch_size, derivative):
    rows, model = correlated(50), Partial(network, weights_of(3))
    plain = jaxshap.effects.ale(model, rows, [0, (1, 2)], bins=3, derivative=derivative)
    batched = jaxshap.effects.ale(
        model, rows, [0, (1, 2)], bins=3, derivative=derivative, batch_size=batch_size
    )
    for one, other in zip(plain, batched, strict=True):
        np.testing.assert_allclose(one.values, other.values, atol=2e-6)
        np.testing.assert_allclose(one.std_error, other.std_error, atol=1e-5)


def test_host_models_give_the_same_numbers():
    rows, weights = correlated(90), weights_of(3)

    def on_host(batch):
        first, second = map(np.asarray, weights)
        return np.tanh(batch @ first) @ second

    asked = [0, (1, 2), 2]
    for one, other in zip(
        jaxshap.effects.ale(jaxshap.host(on_host), rows, asked, bins=4, batch_size=37),
        jaxshap.effects.ale(Partial(network, weights), rows, asked, bins=4),
        strict=True,
    ):
        np.testing.assert_allclose(one.values, other.values, atol=2e-6)
        np.testing.assert_allclose(one.std_error, other.std_error, atol=1e-5)


def test_single_precision_is_right():
    rows, weights = correlated(3000), weights_of(3)
    single = jaxshap.effects.ale(Partial(network, weights), rows, [0, (0, 1)], bins=10)
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda part: jnp.asarray(np.asarray(part, np.float64)), weights)
        double = jaxshap.effects.ale(
            Partial(network, wide), rows.astype(np.float64), [0, (0, 1)], bins=10
        )
        assert double[0].values.dtype == np.float64
    for one, other in zip(single, double, strict=True):
        assert one.values.dtype == np.float32
        np.testing.assert_allclose(one.values, other.values, atol=1e-5)
        np.testing.assert_allclose(one.std_error, other.std_error, rtol=1e-2, atol=1e-5)


def peak(call):
    """The most that numpy held at once."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_is_bounded_however_many_rows():
    rows, weights = correlated(60_000), weights_of(3)

    def values(weights):
        return jaxshap.effects.ale(
            Partial(network, weights), rows, [(0, 1), (0, 2), (1, 2)], bins=5
        )[0].values

    assert bytes_of_call(values, weights) <= 2 * byte_limit()
    few, many = (
        peak(lambda k=k: jaxshap.effects.ale(bilinear, rows, [(0, 1)] * k, bins=2, derivative=True))
        for k in (20, 80)
    )
    # Three tables per target, of which one is the data that each effect holds:
    assert many - few < 60 * 3 * rows[:, :2].nbytes


def test_rows_beyond_the_grid_and_rows_without_a_number_do_not_count():
    """An effect is that of the other rows; where few values are distinct, bins end at these."""
    rows = np.concatenate([correlated(40), np.full((5, 3), np.nan), np.full((5, 3), 9.0)])
    rows = rows.astype(np.float32)
    ends = {0: [-1.0, 0.0, 1.0], 1: [-1.0, 1.0]}
    known = rows[:40]
    known = known[(np.abs(known[:, :2]) <= 1).all(1)]
    model = jaxshap.host(lambda x: np.nan_to_num(x[:, 0] * x[:, 1] + x[:, 2]))
    for found, expected in zip(
        jaxshap.effects.ale(model, rows, [(0, 1)], grids=ends),
        jaxshap.effects.ale(model, known, [(0, 1)], grids=ends),
        strict=True,
    ):
        assert found.counts.sum() == len(known)
        np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    tied = np.repeat([[0.0], [1.0], [5.0]], [30, 5, 5], axis=0).astype(np.float32)
    effect = jaxshap.effects.ale(lambda x: 2 * x[:, 0], tied, 0, bins=20)
    assert (effect.grids[0].tolist(), effect.counts.tolist()) == ([0, 1, 5], [35, 5])
    np.testing.assert_allclose(np.diff(effect.values), [2, 8], rtol=1e-6)


def test_names_come_from_a_dataframe():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(correlated(30), columns=["age", "dose", "sex"])
    effect = jaxshap.effects.ale(bilinear, frame, ("dose", "age"), bins=2)
    assert effect.feature_names == ("dose", "age")
    np.testing.assert_array_equal(effect.data, frame[["dose", "age"]])


ROWS = correlated(20)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, bins=0),
            ValueError,
            "a whole number, 1 or more",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, bins=2.5),
            ValueError,
            "a whole number, 1 or more",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, grids={0: [0.0, 1.0]}, categorical=[0]),
            ValueError,
            "have no bins",
        ),
        (lambda: jaxshap.effects.ale(bilinear, ROWS, "age"), ValueError, "does not have"),
        (lambda: jaxshap.effects.ale(bilinear, 0 * ROWS, 0), ValueError, "one value only"),
        (
            lambda: jaxshap.effects.ale(bilinear, 0 * ROWS, 0, categorical=[0]),
            ValueError,
            "one value only",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, (0, 1), categorical=[1]),
            ValueError,
            "two numeric features",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, categorical=[0], derivative=True),
            ValueError,
            "between categories",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, grids={0: [1.0, 0.0]}),
            ValueError,
            "increasing ends",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, ROWS, 0, grids={0: [50.0, 60.0]}),
            ValueError,
            "no row has 'x0' within",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, np.where(ROWS > 1, np.nan, ROWS), 0),
            ValueError,
            "NaN or infinite in",
        ),
        (
            lambda: jaxshap.effects.ale(lambda x: jnp.log(x[:, 0]), ROWS, 0),
            ValueError,
            "NaN or infinity as x0",
        ),
        (
            lambda: jaxshap.effects.ale(bilinear, jaxshap.WeightedRows(ROWS, np.arange(20.0)), 0),
            ValueError,
            "rows themselves",
        ),
        (
            lambda: jaxshap.effects.ale(jaxshap.host(bilinear), ROWS, 0, derivative=True),
            TypeError,
            "runs on the host",
        ),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call()
