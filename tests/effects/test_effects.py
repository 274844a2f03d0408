"""ICE and PDP: by hand, against scikit-learn, within the support, with errors, within memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

import jaxshap
from jaxshap.engine import byte_limit, bytes_of_call


def correlated(count, seed=0, features=3):
    rng = np.random.default_rng(seed)
    covariance = 0.3 + 0.7 * np.eye(features)
    return rng.multivariate_normal(np.zeros(features), covariance, size=count).astype(np.float32)


def bilinear(rows):
    return rows[:, 0] + rows[:, 1] + 2 * rows[:, 0] * rows[:, 1]


def network(weights, rows):
    return jnp.tanh(rows @ weights[0]) @ weights[1]


def weights_of(features, outputs=2, seed=1):
    rng = np.random.default_rng(seed)
    shapes = (features, 8), (8, outputs)
    return tuple(jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in shapes)


def by_hand(model, rows, columns, points):
    """Predictions of all rows at all points, one after the other: (rows, points, *out)."""
    outputs = []
    for point in points:
        moved = np.array(rows)
        moved[:, list(columns)] = point
        outputs.append(np.asarray(model(moved)))
    return np.stack(outputs, axis=1)


def test_ice_is_the_prediction_of_each_row_at_each_point():
    rows, model = correlated(37), Partial(network, weights_of(3))
    curves = jaxshap.effects.ice(model, rows, 1, grid_resolution=9)
    assert curves.values.shape == (37, 9, 2)
    np.testing.assert_allclose(curves.values, by_hand(model, rows, [1], curves.grids[0]), atol=2e-6)
    pair = jaxshap.effects.ice(model, rows, (2, 0), grid_resolution=4)
    points = [(a, b) for a in pair.grids[0] for b in pair.grids[1]]
    np.testing.assert_allclose(
        pair.values.reshape(37, 16, 2), by_hand(model, rows, [2, 0], points), atol=2e-6
    )
    assert pair.feature_names == ("x2", "x0")


def test_pdp_is_the_mean_of_ice_and_its_error_that_of_a_mean():
    rows, model = correlated(50), Partial(network, weights_of(3))
    for features in (0, (1, 2)):
        curves = jaxshap.effects.ice(model, rows, features, grid_resolution=5)
        effect = jaxshap.effects.pdp(model, rows, features, grid_resolution=5)
        averaged = curves.average()
        for found in (effect, averaged):
            np.testing.assert_allclose(found.values, curves.values.mean(0), atol=1e-6)
            np.testing.assert_allclose(
                found.std_error, curves.values.std(0, ddof=1) / np.sqrt(50), rtol=1e-4
            )
            np.testing.assert_allclose(found.support, 1, rtol=1e-6)
        assert averaged.kind == effect.kind == "PDP"


def test_pdp_of_a_product_is_known():
    """For x₀ = v the mean of x₀ + x₁ + 2x₀x₁ is v(1 + 2 mean x₁) + mean x₁; for the pair it is the
    function itself.
    """
    rows = correlated(100_000)
    mean = rows[:, 1].astype(np.float64).mean()
    effect = jaxshap.effects.pdp(bilinear, rows, 0)
    np.testing.assert_allclose(effect.values, effect.grids[0] * (1 + 2 * mean) + mean, atol=1e-5)
    error = np.abs(1 + 2 * effect.grids[0]) * rows[:, 1].std(ddof=1) / np.sqrt(len(rows))
    np.testing.assert_allclose(effect.std_error, error, rtol=1e-3, atol=1e-7)
    z = (effect.values - effect.grids[0]) / effect.std_error
    assert np.abs(z).max() < 4.5  # false alarm 1 in 100,000
    pair = jaxshap.effects.pdp(bilinear, rows[:100], (0, 1), grid_resolution=6)
    x, y = np.meshgrid(*pair.grids, indexing="ij")
    np.testing.assert_allclose(pair.values, x + y + 2 * x * y, atol=1e-5)


def test_many_targets_at_once_are_each_alone():
    rows, model = correlated(30), Partial(network, weights_of(3))
    targets = [2, (0, 1), "x1"]
    for call in (jaxshap.effects.pdp, jaxshap.effects.ice):
        together = call(model, rows, targets, grid_resolution=6)
        assert [one.feature_names for one in together] == [("x2",), ("x0", "x1"), ("x1",)]
        for one, target in zip(together, targets, strict=True):
            np.testing.assert_allclose(
                one.values, call(model, rows, target, grid_resolution=6).values, atol=1e-6
            )


def test_centred_curves_start_at_zero_or_at_the_value_that_is_named():
    rows, model = correlated(20), Partial(network, weights_of(3))
    plain = jaxshap.effects.ice(model, rows, 0, grid_resolution=5)
    first = jaxshap.effects.ice(model, rows, 0, grid_resolution=5, centred=True)
    np.testing.assert_allclose(first.values, plain.values - plain.values[:, :1], atol=1e-6)
    named = jaxshap.effects.ice(
        model, rows, [0, (0, 1)], grid_resolution=5, centred={"x0": 0.3, 1: -0.5}
    )
    at = by_hand(model, rows, [0], [0.3])
    np.testing.assert_allclose(named[0].values, plain.values - at, atol=1e-6)
    pair = jaxshap.effects.ice(model, rows, (0, 1), grid_resolution=5).values
    corner = by_hand(model, rows, [0, 1], [(0.3, -0.5)])[:, :, None]
    np.testing.assert_allclose(named[1].values, pair - corner, atol=1e-6)
    assert named[0].kind == "centred ICE"


def test_weights_count_rows_as_if_they_were_repeated():
    rows, model = correlated(12), Partial(network, weights_of(3))
    counts = np.arange(12) % 4
    found = jaxshap.effects.pdp(model, rows, 0, weights=counts, grids={0: [0.0, 1.0]})
    repeated = jaxshap.effects.pdp(model, rows.repeat(counts, axis=0), 0, grids={0: [0.0, 1.0]})
    np.testing.assert_allclose(found.values, repeated.values, atol=1e-6)
    few = jaxshap.WeightedRows(rows, counts / counts.sum())
    np.testing.assert_allclose(
        jaxshap.effects.pdp(model, few, 0, grids={0: [0.0, 1.0]}).values, found.values, atol=1e-6
    )
    average = jaxshap.effects.ice(model, rows, 0, weights=counts, grids={0: [0.0, 1.0]}).average()
    np.testing.assert_allclose(average.values, found.values, atol=1e-6)
    single = jaxshap.effects.pdp(model, rows[:1], 0, grids={0: [0.0]})
    assert np.isnan(single.std_error).all()


def test_within_the_support_only_rows_that_still_look_like_data_count():
    rows = correlated(300)
    grid = [-2.5, 0.0, 2.5, 50.0]
    inside = jaxshap.effects.pdp(bilinear, rows, 0, grids={0: grid}, inside=0.95)
    everything = jaxshap.effects.pdp(bilinear, rows, 0, grids={0: grid})

    def distances(points, known):
        trusted = 300 / (300 + rows.shape[1])
        shrunk = trusted * np.corrcoef(known.T) + (1 - trusted) * np.eye(rows.shape[1])
        gaps = (points[:, None] - known) / known.std(0)
        squares = np.einsum("abi,ij,abj->ab", gaps, np.linalg.inv(shrunk), gaps)
        return np.sqrt(np.maximum(squares, 0))

    table = np.asarray(rows, np.float64)
    folds = [np.arange(300) % 5 == fold for fold in range(5)]  # rows left out are like new ones
    own = np.concatenate(
        [np.sort(distances(table[fold], table[~fold]), axis=1)[:, 4] for fold in folds]
    )
    for place, value in enumerate(grid):
        moved = table.copy()
        moved[:, 0] = value
        counts = np.sort(distances(moved, table), axis=1)[:, 4] <= np.quantile(own, 0.95)
        np.testing.assert_allclose(inside.support[place], counts.mean(), atol=2 / 300)
        if counts.any() and abs(inside.support[place] - counts.mean()) < 1e-6:
            np.testing.assert_allclose(
                inside.values[place], bilinear(moved[counts].astype(np.float32)).mean(), atol=1e-4
            )
    assert np.isnan(inside.values[-1])
    assert np.isnan(inside.std_error[-1])
    assert 0 < inside.support[2] < 0.7
    # Where x₀ is large, rows that look like data have a large x₁:
    assert inside.values[2] > everything.values[2] + 0.5
    assert inside.kind == "PDP within the support"


def test_a_score_of_ones_own_says_what_is_inside_and_the_model_need_not_know_what_is_not():
    rows = correlated(64)
    widest = np.abs(rows[:, 0] - rows[:, 1]).max()
    near = {
        "grids": {0: [-1.0, 1.0]},
        "inside": 1.0,
        "score": lambda x: -jnp.abs(x[:, 0] - x[:, 1]),
    }
    nearby = jaxshap.effects.pdp(bilinear, rows, 0, **near)
    for place, value in enumerate((-1.0, 1.0)):
        counts = np.abs(value - rows[:, 1]) <= widest
        np.testing.assert_allclose(nearby.support[place], counts.mean(), atol=1e-6)
        expected = value + (1 + 2 * value) * rows[counts, 1].mean()
        np.testing.assert_allclose(nearby.values[place], expected, atol=1e-5)
    assert nearby.support.min() < 1
    silent = jaxshap.effects.pdp(
        lambda x: jnp.where(jnp.abs(x[:, 0] - x[:, 1]) > widest, jnp.nan, bilinear(x)),
        rows,
        0,
        **near,
    )
    np.testing.assert_array_equal(silent.values, nearby.values)


def in_a_band(points):
    return (jnp.abs(points[:, 0] - points[:, 1]) <= 1).astype(points.dtype)


def test_errors_hold_with_weights_and_within_the_support():
    """200 data sets: the spread of z is 1 ± 0.05, its mean 0 ± 0.07; limits are four of these."""
    weights = np.where(np.arange(200) % 2, 1.0, 3.0)

    def of_seed(seed):
        """More than 0.3 of the data are in the band, so that it is what counts as inside."""
        how = {"grids": {0: [0.8]}, "weights": weights, "inside": 0.3, "score": in_a_band}
        found = jaxshap.effects.pdp(bilinear, correlated(200, seed), 0, **how)
        return found.values[0], found.std_error[0]

    rows = correlated(400_000, 999)
    near = np.abs(0.8 - rows[:, 1]) <= 1
    truth = 0.8 + 2.6 * rows[near, 1].mean(dtype=np.float64)
    values, errors = np.array([of_seed(seed) for seed in range(200)]).T
    z = (values - truth) / errors
    assert abs(z.mean()) < 0.28
    assert 0.8 < z.std() < 1.2


def test_names_come_from_a_dataframe_and_grids_may_be_given_by_name():
    pd = pytest.importorskip("pandas")
    rows = correlated(25)
    frame = pd.DataFrame(rows, columns=["age", "dose", "sex"])
    effect = jaxshap.effects.pdp(
        bilinear, frame, ["dose", ("age", "dose")], grids={"dose": [0.0, 1.0]}, grid_resolution=3
    )
    assert effect[0].feature_names == ("dose",)
    assert effect[1].values.shape == (3, 2)
    np.testing.assert_allclose(
        effect[0].values, jaxshap.effects.pdp(bilinear, rows, 1, grids={1: [0.0, 1.0]}).values
    )
    np.testing.assert_array_equal(effect[1].data, rows[:, :2])


def regressor(function):
    """A function in the shape of a scikit-learn regressor."""
    from sklearn.base import BaseEstimator, RegressorMixin

    class Regressor(RegressorMixin, BaseEstimator):
        def fit(self, rows, target=None):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def predict(self, rows):
            return np.asarray(function(np.asarray(rows)))

    return Regressor()


@pytest.mark.parametrize("features", [0, 2, (0, 1), (3, 1)])
@pytest.mark.parametrize("categorical", [(), (3,)])
def test_ice_and_pdp_equal_those_of_scikit_learn(features, categorical):
    inspection = pytest.importorskip("sklearn.inspection")
    rng = np.random.default_rng(3)
    rows = np.concatenate(
        [correlated(120), rng.integers(0, 5, (120, 1)).astype(np.float32)], axis=1
    )
    model = jax.jit(Partial(network, (weights_of(4)[0], weights_of(4)[1][:, 0])))
    columns = list(features) if isinstance(features, tuple) else [features]
    theirs = inspection.partial_dependence(
        regressor(model),
        rows,
        columns,
        kind="both",
        method="brute",
        grid_resolution=12,
        categorical_features=list(categorical) or None,
    )
    ours = jaxshap.effects.ice(model, rows, features, grid_resolution=12, categorical=categorical)
    for own, grid in zip(ours.grids, theirs["grid_values"], strict=True):
        np.testing.assert_allclose(own, grid, atol=1e-5)
    np.testing.assert_allclose(ours.values, theirs["individual"][0], atol=1e-5)
    effect = jaxshap.effects.pdp(model, rows, features, grid_resolution=12, categorical=categorical)
    np.testing.assert_allclose(effect.values, theirs["average"][0], atol=1e-5)
    assert effect.categorical == tuple(column in categorical for column in columns)


def test_a_fitted_classifier_on_a_dataframe_equals_scikit_learns_pdp():
    inspection = pytest.importorskip("sklearn.inspection")
    pd = pytest.importorskip("pandas")
    from sklearn.ensemble import RandomForestClassifier

    frame = pd.DataFrame(correlated(150).astype(np.float64), columns=["a", "b", "c"])
    label = np.where(frame["a"] * frame["b"] > 0.1, "yes", "no")
    forest = RandomForestClassifier(5, random_state=0).fit(frame, label)
    theirs = inspection.partial_dependence(
        forest, frame, ["b"], kind="average", method="brute", grid_resolution=10
    )
    ours = jaxshap.effects.pdp(forest, frame[["c", "b", "a"]], "b", grid_resolution=10)
    assert ours.output_names == ("no", "yes")
    np.testing.assert_allclose(ours.values[:, 1], theirs["average"][0], atol=1e-6)


def test_host_models_give_the_same_numbers_and_are_called_with_bounded_batches():
    rows, weights = correlated(90), weights_of(3)
    seen = []

    def on_host(batch):
        seen.append(batch.nbytes)
        first, second = map(np.asarray, weights)
        return np.tanh(batch @ first) @ second

    for call in (jaxshap.effects.pdp, jaxshap.effects.ice):
        host, traced = (
            call(model, rows, [0, (1, 2)], grid_resolution=20)
            for model in (jaxshap.host(on_host), Partial(network, weights))
        )
        for one, other in zip(host, traced, strict=True):
            np.testing.assert_allclose(one.values, other.values, atol=2e-6)
    assert max(seen) <= byte_limit() / 8 + 90 * rows[0].nbytes
    seen.clear()
    jaxshap.effects.pdp(jaxshap.host(on_host), rows, 0, batch_size=40, grid_resolution=5)
    assert max(seen) <= 40 * rows[0].nbytes


@pytest.mark.parametrize("batch_size", [1, 7, 64, 10_000])
def test_the_batch_size_does_not_change_the_answer(batch_size):
    rows, model = correlated(33), Partial(network, weights_of(3))
    for call in (jaxshap.effects.pdp, jaxshap.effects.ice):
        plain = call(model, rows, [0, (1, 2)], grid_resolution=4)
        batched = call(model, rows, [0, (1, 2)], grid_resolution=4, batch_size=batch_size)
        for one, other in zip(plain, batched, strict=True):
            np.testing.assert_allclose(one.values, other.values, atol=1e-6)


def test_gradients_and_jit_go_through():
    rows, weights = correlated(40), weights_of(3, outputs=1)

    def total(weights):
        effect = jaxshap.effects.pdp(Partial(network, weights), rows, 0, grids={0: [0.0, 1.0]})
        return (effect.values[1] - effect.values[0]).sum()

    def direct(weights):
        moved = [jnp.asarray(rows).at[:, 0].set(value) for value in (0.0, 1.0)]
        return (network(weights, moved[1]) - network(weights, moved[0])).mean()

    for found, expected in zip(jax.grad(total)(weights), jax.grad(direct)(weights), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    record = jax.jit(
        lambda weights: jaxshap.effects.pdp(
            Partial(network, weights), rows, (0, 1), grid_resolution=3
        )
    )(weights)
    plain = jaxshap.effects.pdp(Partial(network, weights), rows, (0, 1), grid_resolution=3)
    np.testing.assert_allclose(record.values, plain.values, atol=1e-6)
    assert record.feature_names == ("x0", "x1")


def test_the_support_is_known_under_jit_and_to_host_models():
    rows, weights = correlated(40), weights_of(3, outputs=1)

    def values(weights):
        return jaxshap.effects.pdp(
            Partial(network, weights), rows, 0, grid_resolution=5, inside=0.9
        ).values

    np.testing.assert_allclose(jax.jit(values)(weights), values(weights), atol=1e-6)
    slopes = jax.grad(lambda weights: values(weights).sum())(weights)
    assert all(np.isfinite(slope).all() for slope in slopes)
    host = jaxshap.host(lambda batch: np.asarray(network(weights, batch.astype(np.float32))))
    found = jaxshap.effects.pdp(host, rows.astype(np.float64), 0, grid_resolution=5, inside=0.9)
    np.testing.assert_allclose(found.values, values(weights), atol=1e-5)


def test_a_model_without_any_spread_has_a_gradient_all_the_same():
    def total(level):
        model = Partial(lambda level, rows: level + 0 * rows[:, 0], level)
        return jaxshap.effects.pdp(model, ROWS, 0, grids={0: [0.0, 1.0, 2.0]}).values.sum()

    np.testing.assert_allclose(jax.grad(total)(jnp.float32(1.0)), 3, rtol=1e-5)


def test_dtypes_follow_the_inputs_and_single_precision_is_right():
    rows, weights = correlated(60), weights_of(3)
    single = jaxshap.effects.pdp(Partial(network, weights), rows, 0)
    assert single.values.dtype == np.float32
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda part: jnp.asarray(np.asarray(part, np.float64)), weights)
        double = jaxshap.effects.pdp(Partial(network, wide), rows.astype(np.float64), 0)
        assert double.values.dtype == double.std_error.dtype == np.float64
    np.testing.assert_allclose(single.values, double.values, atol=2e-6)
    np.testing.assert_allclose(single.std_error, double.std_error, rtol=1e-4)


def test_a_large_constant_takes_no_digits_but_its_own():
    """Rows in sixteenths and a constant of 1,000 are exact, so only sums round."""
    rows = np.round(correlated(20_000) * 16) / 16
    exact = rows.astype(np.float64)[:, 1].mean()
    found = jaxshap.effects.pdp(lambda x: 1000 + x[:, 1], rows, 0, grids={0: [0.0]})
    assert abs(found.values[0] - 1000 - exact) <= 2**-14
    np.testing.assert_allclose(found.std_error, rows[:, 1].std(ddof=1) / np.sqrt(20_000), rtol=1e-5)


def test_memory_is_bounded_however_many_rows_and_points():
    rows, weights = correlated(30_000), weights_of(3)

    def values(weights):
        return jaxshap.effects.pdp(
            Partial(network, weights), rows, [0, 1, (0, 2)], grid_resolution=20
        )[0].values

    # All of 440 points × 30,000 rows would take 50 times as much:
    assert bytes_of_call(values, weights) <= 2 * byte_limit()


def test_nearby_numbers_of_rows_share_one_program(compilations):
    model = Partial(network, weights_of(3))
    jaxshap.effects.pdp(model, correlated(1000), [0, 1])
    with compilations() as names:
        jaxshap.effects.pdp(model, correlated(1020), [0, 2])
    assert names == []


ROWS = correlated(20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: jaxshap.effects.pdp(bilinear, ROWS, 3),
            "features= names column 3, but the table has columns 0..2",
        ),
        (lambda: jaxshap.effects.ice(bilinear, ROWS, "age"), "does not have"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, (0, 0)), "pair of one feature with itself"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, (0, 1, 2)), "neither a feature nor a pair"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, []), "features is empty"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, grid_resolution=1), "from 2 to"),
        (
            lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, percentiles=(0.9, 0.1)),
            "the smaller one first",
        ),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, grids={0: [np.nan]}), "finite numbers"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, categorical=[0.5]), "a name or a number"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, grids=[0.0, 1.0]), "pass a dict, such as"),
        (lambda: jaxshap.effects.ice(bilinear, ROWS, 0, centred=0.5), "pass a dict, such as"),
        (
            lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, grid_resolution=4.5),
            "a whole number from 2",
        ),
        (
            lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, score=lambda x: x[:, 0]),
            "pass inside= too",
        ),
        (
            lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, inside=1.5),
            "inside=1.5: pass a number above 0 and of at most 1",
        ),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, weights=np.ones(3)), "one a row"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, batch_size=0), "positive whole number"),
        (lambda: jaxshap.effects.pdp(bilinear, ROWS, 0, output_names=["a", "b"]), "2 output_names"),
        (
            lambda: jaxshap.effects.pdp(bilinear, np.where(ROWS > 1, np.nan, ROWS), 0),
            "NaN or infinite in",
        ),
        (
            lambda: jaxshap.effects.pdp(
                lambda x: jnp.log(x[:, 0]), ROWS, 0, grids={0: [1.0, -1.0]}
            ),
            "first where x0 = -1",
        ),
        (
            lambda: jaxshap.effects.pdp(
                bilinear, np.repeat([[0, 1]], 99, 0) + np.eye(99, 2), 0, grid_resolution=2
            ),
            "apart",
        ),
        (
            lambda: jaxshap.effects.pdp(
                bilinear, jaxshap.WeightedRows(ROWS, np.ones(20)), 0, weights=np.ones(20)
            ),
            "leave weig",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_must_be_known_under_jit():
    with pytest.raises(TypeError, match="trace the model's parameters alone"):
        jax.jit(lambda rows: jaxshap.effects.pdp(bilinear, rows, 0).values)(ROWS)
