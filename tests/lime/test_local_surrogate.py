"""LIME: exact on linear models; its regressions and selections are scikit-learn's and lime's."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from known_games import random_table
from sklearn.linear_model import Ridge, lars_path

import jaxshap
from jaxshap.engine import byte_limit
from jaxshap.games import all_coalitions
from jaxshap.lime import ForwardSelection, LassoPath
from jaxshap.lime.fits import fits_of
from jaxshap.lime.ridge import weighted_ridge

SLOPES = np.array([2.0, 0.0, -1.0, 0.5])


def table(rows=400, seed=0):
    """Columns with units and means of their own, and correlated."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(rows, 4)) @ (np.eye(4) + 0.3)
    return (mixed * [1.0, 5.0, 0.2, 2.0] + [0.0, 10.0, 3.0, -1.0]).astype(np.float32)


def linear(x):
    return x @ jnp.asarray(SLOPES, x.dtype) + 3


def bent(x):
    inner = jnp.tanh(x[:, 0]) * jnp.sin(x[:, 2]) + jnp.exp(-(x[:, 3] ** 2)) + 0.03 * x[:, 1]
    return jnp.stack([inner, 1 - inner**2], axis=1)


def regression(seed, rows=60, features=6, copies=False):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(rows, features))
    design = design @ (np.eye(features) + 0.8 * rng.normal(size=(features, features)))
    if copies:
        design[:, 1] = design[:, 0]
    target = design @ rng.normal(size=features) + 2 * rng.normal(size=rows)
    return design, target, rng.uniform(0.1, 1, rows)


def test_a_linear_model_is_found_exactly_without_a_ridge():
    X = table()
    found = jaxshap.lime.local_surrogate(0, linear, X[:2], X, num_samples=300, ridge=0.0)
    np.testing.assert_allclose(found.coefficients / found.units, np.tile(SLOPES, (2, 1)), atol=2e-5)
    np.testing.assert_allclose(found.units, X.std(0), rtol=1e-4)
    np.testing.assert_allclose(found.intercept, linear(X[:2]), atol=1e-4)
    np.testing.assert_allclose(found.score, 1, atol=1e-5)
    assert (found.std_error < 1e-4).all()


@pytest.mark.parametrize("constant", [7.0, 0.1])
def test_a_constant_column_gets_no_coefficient_and_breaks_nothing(constant):
    """Even if the model would react to it, and whether or not the mean of the column is rounded."""
    X = table()
    X[:, 3] = constant
    for ridge in (0.0, 1.0):
        found = jaxshap.lime.local_surrogate(0, linear, X[:2], X, num_samples=300, ridge=ridge)
        assert (found.coefficients[:, 3] == 0).all()
        assert np.isnan(found.std_error[:, 3]).all()
        assert np.isfinite(found.coefficients).all()


def test_a_row_without_any_samples_near_it_has_none_and_says_so():
    X = table()
    found = jaxshap.lime.local_surrogate(np.int64(0), linear, X[:1] + 1000, X, num_samples=300)
    assert found.effective_samples == 0
    assert np.isnan(found.std_error).all()
    assert np.isnan(found.score)


def test_the_ridge_regression_is_that_of_scikit_learn():
    design, target, weights = regression(0)
    for ridge in (1e-6, 1.0, 30.0):
        arrays = (jnp.asarray(part, jnp.float32) for part in (design, target, weights, ridge))
        found = weighted_ridge(*arrays)
        peer = Ridge(ridge).fit(design, target, weights)
        np.testing.assert_allclose(found.coefficients, peer.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.intercept, peer.intercept_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.score, peer.score(design, target, weights), rtol=1e-4)


def moments(design, target, weights):
    centred = design - np.average(design, 0, weights)
    rest = target - np.average(target, weights=weights)
    root = np.sqrt(weights)
    return centred * root[:, None], rest * root


def selected(selection, regressions):
    """The columns it keeps in each of them."""
    columns, rests = (np.stack(part) for part in zip(*regressions, strict=True))
    grams = np.einsum("kij,kil->kjl", columns, columns)
    moments = np.einsum("kij,ki->kj", columns, rests)
    kept = jax.jit(jax.vmap(selection))(jnp.asarray(grams), jnp.asarray(moments))
    return [np.flatnonzero(row).tolist() for row in np.asarray(kept)]


def best_additions(columns, rest, count):
    chosen = []
    for _ in range(count):
        others = [j for j in range(columns.shape[1]) if j not in chosen]
        left = [
            np.linalg.lstsq(columns[:, [*chosen, j]], rest, rcond=None)[1].sum() for j in others
        ]
        chosen.append(others[int(np.argmin(left))])
    return sorted(chosen)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 99])
def test_forward_selection_adds_the_column_that_explains_most(count):
    regressions = [moments(*regression(seed)) for seed in range(20)]
    expected = [best_additions(*one, min(count, 6)) for one in regressions]
    assert selected(ForwardSelection(count), regressions) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 8])
def test_the_lasso_path_is_that_of_least_angle_regression_even_where_columns_leave_it(count):
    with jax.enable_x64(True):  # the last knots lie close together
        regressions = [moments(*regression(seed, features=8)) for seed in range(40)]
        paths = [lars_path(*one, method="lasso")[2].T for one in regressions]
        assert sum(((path[:-1] != 0) & (path[1:] == 0)).any() for path in paths) > 10
        expected = [[knot for knot in path[1:] if (knot != 0).sum() <= count][-1] for path in paths]
        found = selected(LassoPath(count), regressions)
        assert found == [np.flatnonzero(knot).tolist() for knot in expected]


def test_a_copy_of_a_column_is_not_chosen_beside_it():
    regressions = [moments(*regression(seed, copies=True)) for seed in range(5)]
    assert not any({0, 1} <= set(one) for one in selected(ForwardSelection(5), regressions))
    assert all(len(one) <= 3 for one in selected(LassoPath(3), regressions))


@pytest.mark.parametrize("selection", [ForwardSelection(2), LassoPath(2)])
def test_a_selection_keeps_so_many_features_of_each_row_and_output(selection):
    X = table()
    found = jaxshap.lime.local_surrogate(0, bent, X[:5], X, num_samples=300, selection=selection)
    assert found.coefficients.shape == found.std_error.shape == (5, 4, 2)
    assert ((found.coefficients != 0).sum(1) <= 2).all()
    assert ((found.coefficients != 0).sum(1) == 2).sum() > 5
    np.testing.assert_array_equal(np.isnan(found.std_error), found.coefficients == 0)
    strongest = jaxshap.lime.local_surrogate(
        0, linear, X[:2], X, num_samples=300, selection=selection
    )
    # Slope times deviation is 2.4, 0, 0.2 and 1.2:
    assert np.flatnonzero(strongest.coefficients[0]).tolist() == [0, 3]


@dataclasses.dataclass(frozen=True)
class FirstColumns(jaxshap.lime.Selection):
    def __call__(self, gram, moments):
        return jnp.arange(len(moments)) < self.num_features


def test_users_write_selections_of_their_own():
    X = table()
    found = jaxshap.lime.local_surrogate(
        0, bent, X[:2], X, num_samples=300, selection=FirstColumns(1)
    )
    np.testing.assert_array_equal(
        (found.coefficients != 0).any((0, 2)), [True, False, False, False]
    )
    with pytest.raises(TypeError, match="abstract"):
        jaxshap.lime.Selection(2)


def test_lime_on_all_coalitions_with_the_shapley_kernel_is_the_shapley_value():
    """The constraint at ∅ and N is a weight of 1e8, so that values are off by about 1e-8."""
    with jax.enable_x64(True):
        worths = random_table(3, 5)
        coalitions = all_coalitions(5)
        size = np.asarray(coalitions.sum(1))
        # (n−1) / (C(n,s) s (n−s)), up to a factor:
        kernel = np.array([1e8, 1 / 20, 1 / 60, 1 / 60, 1 / 20, 1e8])
        line = weighted_ridge(
            coalitions.astype(float), jnp.asarray(worths), jnp.asarray(kernel[size]), jnp.array(0.0)
        )
        game = jaxshap.table(jnp.asarray(worths))
        np.testing.assert_allclose(line.coefficients, jaxshap.shapley_values(game), atol=1e-6)
        np.testing.assert_allclose(
            line.coefficients, jaxshap.estimate(0, game, jaxshap.Kernel(), 32).values, atol=1e-6
        )
        np.testing.assert_allclose(line.intercept, worths[0], atol=1e-6)


def test_weights_fall_with_the_distance_in_standard_deviations():
    """Against the definition in numpy, from the samples that the model was asked about."""
    X, seen = table(), []

    @jaxshap.host
    def model(x):
        seen.append(np.array(x))
        return np.asarray(bent(jnp.asarray(x)))[:, 0]

    found = jaxshap.lime.local_surrogate(7, model, X[:2], X, num_samples=300, kernel_width=1.2)
    points = max(seen, key=len)
    assert len(points) == 300
    for number in range(2):
        away = np.vstack([(points - X[number]) / X.std(0), np.zeros(4)])
        target = model(np.vstack([points, X[number]]).astype(np.float32))
        weights = np.exp(-(away**2).sum(1) / 1.2**2)
        peer = Ridge(1.0).fit(away, target, weights)
        np.testing.assert_allclose(found.coefficients[number], peer.coef_, atol=1e-4)
        np.testing.assert_allclose(found.intercept[number], peer.intercept_, atol=1e-4)
        weights = weights[:-1]
        np.testing.assert_allclose(
            found.effective_samples[number], weights.sum() ** 2 / (weights**2).sum(), rtol=1e-3
        )


def test_categories_are_drawn_by_frequency_and_coded_as_the_same_or_not():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=300), "kind": rng.choice([1, 2, 7], 300, p=[0.2, 0.5, 0.3])}
    )
    seen = []

    def model(x):
        seen.append(np.array(x))
        return np.where(x[:, 1] == 7, 3.0, 0.0) + x[:, 0]

    rows = pd.DataFrame({"size": [0.0, 1.0], "kind": [7.0, 2.0]})
    found = jaxshap.lime.local_surrogate(
        0,
        jaxshap.host(model),
        rows,
        frame.astype(float),
        categorical=["kind"],
        num_samples=3000,
        ridge=0.0,
    )
    drawn = max(seen, key=len)[:, 1]
    shares = np.array([(drawn == kind).mean() for kind in (1, 2, 7)])
    truth = np.array([(frame.kind == kind).mean() for kind in (1, 2, 7)])
    z = (shares - truth) / np.sqrt(truth * (1 - truth) / 4000)
    assert np.abs(z).max() < 4  # false alarm 2e-4
    # Being of kind 7 rather than another:
    np.testing.assert_allclose(found.coefficients[0, 1], 3, atol=1e-3)
    assert found.coefficients[1, 1] < -0.5
    assert found.units[1] == 1
    assert found.feature_names == ("size", "kind")


def test_samples_do_not_depend_on_how_many_are_drawn_nor_rows_on_each_other():
    X = table()
    drawn = []
    for count in (100, 150):
        seen = []
        jaxshap.lime.local_surrogate(
            3,
            jaxshap.host(lambda x, seen=seen: seen.append(np.array(x)) or x[:, 0]),
            X[:1],
            X,
            num_samples=count,
        )
        drawn.append(max(seen, key=len))
    np.testing.assert_array_equal(drawn[0], drawn[1][:100])
    one, many = (
        jaxshap.lime.local_surrogate(3, bent, X[:rows], X, num_samples=300) for rows in (1, 9)
    )
    np.testing.assert_allclose(one.coefficients[0], many.coefficients[0], rtol=1e-4, atol=1e-6)
    again = jaxshap.lime.local_surrogate(jax.random.key(3), bent, X[:9], X, num_samples=300)
    np.testing.assert_array_equal(again.coefficients, many.coefficients)


def test_host_models_say_the_same_and_the_model_is_asked_about_samples_and_rows_only():
    X, asked = table(), []

    @jaxshap.host
    def model(x):
        asked.append(len(x))
        return np.asarray(bent(jnp.asarray(x)))

    found = jaxshap.lime.local_surrogate(0, model, X[:6], X, num_samples=300)
    assert sum(asked) == 306
    np.testing.assert_allclose(
        found.coefficients,
        jaxshap.lime.local_surrogate(0, bent, X[:6], X, num_samples=300).coefficients,
        atol=1e-5,
    )


def test_outputs_of_large_mean_keep_their_digits():
    X = table().astype(np.float64)
    model = jaxshap.host(lambda x: 1e9 + x @ SLOPES)
    found = jaxshap.lime.local_surrogate(0, model, X[:2], X, num_samples=300, ridge=0.0)
    np.testing.assert_allclose(found.coefficients / found.units, np.tile(SLOPES, (2, 1)), atol=1e-4)


def test_a_weighted_background_counts_as_its_rows_repeated():
    X = table(40)
    times = np.arange(40) % 3
    weighted = jaxshap.WeightedRows(X, times / times.sum())
    first = jaxshap.lime.local_surrogate(0, bent, X[:2], weighted, num_samples=300)
    second = jaxshap.lime.local_surrogate(
        0, bent, X[:2], np.repeat(X, times, axis=0), num_samples=300
    )
    np.testing.assert_allclose(first.coefficients, second.coefficients, atol=2e-4)


def test_standard_errors_are_those_over_keys():
    """60 keys of 16 coefficients: the spread of one z is off by 0.09, of all by 0.03."""
    X = table()
    runs = [
        jaxshap.lime.local_surrogate(key, bent, X[:2], X, num_samples=1500) for key in range(60)
    ]
    values = np.stack([run.coefficients for run in runs])
    z = (values - values.mean(0)) / np.stack([run.std_error for run in runs])
    assert 0.85 < z.std() < 1.15
    assert (z.std(0) > 0.6).all()
    assert (z.std(0) < 1.5).all()


def test_a_batch_of_fits_stays_within_the_memory_of_a_few():
    """All of 400 rows, 3,000 samples and 4 features at once would take 19 MB per array."""
    shapes = ((3000, 4), (3000, 2), (400, 4), (400, 2), (1,), ())
    arrays = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    coded = jax.ShapeDtypeStruct((4,), bool)
    program = jax.jit(fits_of, static_argnums=0).lower(None, coded, *arrays).compile()
    assert program.memory_analysis().temp_size_in_bytes < 8 * byte_limit()


def test_stability_is_lime_at_each_width_with_one_set_of_samples():
    X, asked = table(), []
    widths = [0.8, 1.5, 3.0]

    @jaxshap.host
    def model(x):
        asked.append(len(x))
        return np.asarray(bent(jnp.asarray(x)))

    found = jaxshap.lime.width_stability(5, model, X[:3], X, widths=widths, num_samples=300)
    assert sum(asked) == 303
    assert found.coefficients.shape == (3, 3, 4, 2)
    for number, width in enumerate(widths):
        alone = jaxshap.lime.local_surrogate(
            5, model, X[:3], X, kernel_width=width, num_samples=300
        )
        np.testing.assert_allclose(found.coefficients[number], alone.coefficients, atol=1e-5)
        np.testing.assert_allclose(found.score[number], alone.score, atol=1e-5)
    assert found.agreement.shape == (3, 2)
    ranks = found.coefficients.argsort(2).argsort(2)
    pairs = [
        np.corrcoef(ranks[a, 1, :, 0], ranks[b, 1, :, 0])[0, 1] for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    np.testing.assert_allclose(found.agreement[1, 0], np.mean(pairs), atol=1e-6)
    same = (found.coefficients > 0).all(0) | (found.coefficients < 0).all(0)
    np.testing.assert_array_equal(found.same_sign, same)
    straight = jaxshap.lime.width_stability(5, linear, X[:2], X, num_samples=300, ridge=0.0)
    np.testing.assert_allclose(np.ptp(straight.coefficients, axis=0), 0, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_width": 0.0}, "positive number of standard deviations"),
        ({"num_samples": 5}, "5 for 4 features: a regression needs many more samples"),
        ({"ridge": -1.0}, "penalty of 0 or more"),
        ({"categorical": ["nothing"]}, "categorical= names the column 'nothing'"),
        ({"categorical": "nothing"}, "categorical= names the column 'nothing'"),
        ({"background": table()[:1]}, "all rows of the background are the same"),
        (
            {"background": np.where(table() > 10, np.nan, table())},
            r"background is NaN or infinite in \['x1'\]",
        ),
    ],
)
def test_what_cannot_be_done_says_what_to_do(options, message):
    X = table()
    with pytest.raises(ValueError, match=message):
        jaxshap.lime.local_surrogate(0, linear, X[:1], **({"background": X} | options))
    with pytest.raises(TypeError, match="pass ForwardSelection or LassoPath"):
        jaxshap.lime.local_surrogate(0, linear, X[:1], X, selection=2)
    with pytest.raises(ValueError, match="keeps 1 feature or more"):
        ForwardSelection(0)
    with pytest.raises(ValueError, match="two widths or more"):
        jaxshap.lime.width_stability(0, linear, X[:1], X, widths=[1.0])


def test_coefficients_are_those_of_the_lime_package_at_equal_settings():
    lime_tabular = pytest.importorskip("lime.lime_tabular")
    X = table().astype(np.float64)
    X[:, 1] = np.random.default_rng(1).choice([0.0, 1.0, 2.0], len(X), p=[0.5, 0.3, 0.2])

    def predict(x):
        kind = np.array([0.0, 0.6, -0.4])[x[:, 1].astype(int)]
        return np.tanh(x[:, 0]) * np.sin(x[:, 2]) + np.exp(-(x[:, 3] ** 2)) + kind

    rows, width = X[:6], 0.75 * 2
    explainer = lime_tabular.LimeTabularExplainer(
        X,
        mode="regression",
        categorical_features=[1],
        discretize_continuous=False,
        feature_selection="none",
        kernel_width=width,
        random_state=0,
    )
    found = jaxshap.lime.local_surrogate(
        0,
        jaxshap.host(predict),
        rows,
        X,
        categorical=[1],
        kernel_width=np.sqrt(2) * width,
        num_samples=20_000,
    )
    theirs, at_row, scores = np.zeros((6, 4)), np.zeros(6), np.zeros(6)
    for number, row in enumerate(rows):
        one = explainer.explain_instance(row, predict, num_features=4, num_samples=20_000)
        features, values = zip(*one.local_exp[1], strict=True)
        theirs[number, list(features)] = values
        at_row[number], scores[number] = one.local_pred[0], one.score
    assert np.corrcoef(found.coefficients.ravel(), theirs.ravel())[0, 1] > 0.99
    for ours, other in zip(found.coefficients, theirs, strict=True):
        assert np.corrcoef(ours, other)[0, 1] > 0.98
    z = (found.coefficients - theirs) / (np.sqrt(2) * found.std_error)
    assert np.abs(z).max() < 4.5  # both sides have the same error; false alarm 2e-4
    assert np.abs(found.intercept - at_row).max() < 0.1
    assert np.abs(found.score - scores).max() < 0.05


def test_the_picture_of_stability_has_a_line_for_each_feature():
    X = table()
    found = jaxshap.lime.width_stability(5, bent, X[:2], X, num_samples=300)
    ax = jaxshap.plots.lime_stability(found, row=1, output=0, max_display=3)
    names = [line.get_label() for line in ax.lines[:3]]
    assert len(set(names)) == 3
    np.testing.assert_allclose(
        ax.lines[0].get_ydata(), found.coefficients[:, 1, int(names[0][1:]), 0]
    )
    with pytest.raises(ValueError, match="pass output="):
        jaxshap.plots.lime_stability(found)
