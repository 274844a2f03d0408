"""Observational games: closed forms for linear models, correlated and duplicated features, and what
is refused.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership

import jaxshap

MIXING = np.array([[1.0, 0, 0, 0], [0.8, 0.6, 0, 0], [-0.3, 0.5, 0.9, 0], [0.2, 0.1, -0.7, 0.5]])


def normal_rows(seed, count):
    return np.random.default_rng(seed).normal(size=(count, 4)) @ MIXING.T + np.arange(4)


def worths(game):
    return np.asarray(jaxshap.evaluate(game, membership(game.num_players)))


def conditional_mean(row, coalition, mean, covariance):
    """Of a normal vector, given the entries in the coalition."""
    inside = np.flatnonzero(coalition)
    found = mean.copy()
    if len(inside):
        block = covariance[np.ix_(inside, inside)]
        found = mean + covariance[:, inside] @ np.linalg.solve(block, (row - mean)[inside])
    return np.where(coalition, row, found)


def test_two_binary_features_that_go_together_share_the_credit_of_one():
    """f = x₁, x₂ a copy: observational φ₂ = (x₁ − ½)/2, interventional φ₂ = 0."""
    background = np.repeat([[0.0, 0], [1, 1]], 5, axis=0)
    rows = np.array([[0.0, 0], [1, 1]])
    with_copy = functools.partial(jaxshap.conditional, how=jaxshap.values.Nearby())
    seen = jaxshap.explain(lambda x: x[:, 0], rows, background, value=with_copy)
    np.testing.assert_allclose(seen.values[:, 1], (rows[:, 0] - 0.5) / 2, atol=1e-6)
    assert seen.value_function == "conditional (nearby)"
    done = jaxshap.explain(lambda x: x[:, 0], rows, background)
    np.testing.assert_allclose(done.values[:, 1], 0, atol=1e-6)


def test_linear_models_have_the_closed_form_with_any_number_of_samples():
    background, rows, slope = normal_rows(0, 50), normal_rows(1, 3), np.array([1.0, -2, 0.5, 3])
    mean, covariance = background.mean(0), np.cov(background.T, bias=True)
    with jax.enable_x64(True):
        game = jaxshap.conditional(
            lambda x: x @ slope, rows, background, how=jaxshap.values.Gaussian(num_samples=2)
        )
        found, values = worths(game), np.asarray(jaxshap.shapley_values(game))
    expected = [
        [slope @ conditional_mean(row, coalition, mean, covariance) for row in rows]
        for coalition in membership(4)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(values, brute_force_shapley(np.array(expected)), atol=1e-10)


def test_products_of_gaussians_have_the_right_conditional_variance():
    """E[x₀²| x_S] is known; the mean over 20,000 draws is off by more than 5 standard errors once
    in a million.
    """
    background, row = normal_rows(0, 60), normal_rows(2, 1)
    mean, covariance = background.mean(0), np.cov(background.T, bias=True)
    game = jaxshap.conditional(
        lambda x: x[:, 0] ** 2, row, background, how=jaxshap.values.Gaussian(num_samples=20_000)
    )
    for coalition, found in zip(membership(4), worths(game)[:, 0], strict=True):
        centre = conditional_mean(row[0], coalition, mean, covariance)[0]
        inside = np.flatnonzero(coalition)
        block = covariance[np.ix_(inside, inside)]
        variance = covariance[0, 0] - covariance[0, inside] @ np.linalg.solve(
            block, covariance[inside, 0]
        )
        variance = 0 if coalition[0] else variance
        error = np.sqrt((2 * variance**2 + 4 * centre**2 * variance) / 20_000)
        assert abs(found - centre**2 - variance) <= 5 * error + 1e-4


def test_a_copula_follows_margins_of_another_shape():
    """exp of normal features, and a model of their logarithms: the normal closed form."""
    normal, rows, slope = (
        normal_rows(0, 4000) / 2,
        normal_rows(1, 3) / 2,
        np.array([1.0, -2, 0.5, 1]),
    )
    mean, covariance = normal.mean(0), np.cov(normal.T, bias=True)
    game = jaxshap.conditional(
        lambda x: jnp.log(x) @ jnp.asarray(slope, x.dtype),
        np.exp(rows),
        np.exp(normal),
        how=jaxshap.values.Copula(400),
    )
    expected = [
        [slope @ conditional_mean(row, coalition, mean, covariance) for row in rows]
        for coalition in membership(4)
    ]
    np.testing.assert_allclose(worths(game), expected, atol=0.1)  # of a spread of 6


def test_a_duplicated_feature_shares_the_credit_only_where_one_conditions():
    rng = np.random.default_rng(3)
    background, rows = (rng.integers(0, 3, size=(count, 2)).astype(float) for count in (60, 5))
    twice, rows = (np.column_stack([part, part[:, 0]]) for part in (background, rows))

    def model(x):
        return jnp.tanh(x[:, 0]) + x[:, 0] * x[:, 1]

    marginal = jaxshap.shapley_values(jaxshap.marginal(model, rows, twice))
    np.testing.assert_allclose(marginal[2], 0, atol=1e-6)
    nearby = jaxshap.shapley_values(
        jaxshap.conditional(model, rows, twice, how=jaxshap.values.Nearby())
    )
    np.testing.assert_allclose(nearby[2], nearby[0], atol=1e-5)
    assert np.abs(nearby[2]).min() > 1e-2


def test_nearby_rows_count_by_their_distance_and_weight():
    rng = np.random.default_rng(4)
    background, rows, weights = rng.normal(size=(7, 3)), rng.normal(size=(2, 3)), rng.random(7)
    weights[2] = 0
    shares = weights / weights.sum()
    scale = np.sqrt(shares @ (background - shares @ background) ** 2)

    def model(x):
        return np.sin(x[:, 0]) * x[:, 1] + x[:, 2] ** 2

    game = jaxshap.conditional(
        jaxshap.host(model), rows, background, weights=weights, how=jaxshap.values.Nearby(0.5)
    )
    for coalition, found in zip(membership(3), worths(game), strict=True):
        for row, worth in zip(rows, found, strict=True):
            gaps = ((row - background) / scale)[:, coalition]
            near = shares * np.exp(-(gaps**2).sum(1) / max(coalition.sum(), 1) / 2 / 0.5**2)
            expected = near @ model(np.where(coalition, row, background)) / near.sum()
            np.testing.assert_allclose(worth, expected, rtol=1e-4)


@pytest.mark.parametrize(
    "how", [jaxshap.values.Gaussian(8), jaxshap.values.Copula(8), jaxshap.values.Nearby()]
)
def test_host_models_and_row_blocks_give_what_traced_ones_give(how, monkeypatch):
    background, rows = normal_rows(0, 30), normal_rows(1, 5)
    traced = jaxshap.conditional(lambda x: jnp.tanh(x).sum(1), rows, background, how=how)
    on_host = jaxshap.conditional(
        jaxshap.host(lambda x: np.tanh(x).sum(1)), rows, background, how=how
    )
    np.testing.assert_allclose(worths(traced), worths(on_host), atol=1e-4)
    monkeypatch.setattr("jaxshap.values.sampled.byte_limit", lambda: 1)
    small = jaxshap.conditional(lambda x: jnp.tanh(x).sum(1), rows, background, how=how)
    np.testing.assert_allclose(worths(traced), worths(small), atol=1e-5)


@pytest.mark.parametrize(
    ("background", "how", "message"),
    [
        (
            np.column_stack([normal_rows(0, 30), normal_rows(0, 30)[:, 1]]),
            jaxshap.values.Gaussian(),
            r"columns \[1, 4\] are",
        ),
        (
            np.column_stack([normal_rows(0, 30), normal_rows(0, 30)[:, 1]]),
            jaxshap.values.Copula(),
            r"columns \[1, 4\] are",
        ),
        (normal_rows(0, 3), jaxshap.values.Gaussian(), "singular"),
        (
            np.column_stack([normal_rows(0, 30), np.ones(30)]),
            jaxshap.values.Gaussian(),
            r"columns \[4\] .* do not vary",
        ),
    ],
)
def test_what_cannot_be_conditioned_on_is_refused_before_the_model_is_asked(
    background, how, message
):
    def model(x):
        raise AssertionError("asked")

    with pytest.raises(ValueError, match=message):
        jaxshap.conditional(jaxshap.host(model), background[:2], background, how=how)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jaxshap.values.Gaussian(num_samples=3), "num_samples=3: pass an even number"),
        (lambda: jaxshap.values.Copula(shrinkage=1.0), "a number of at least 0 and below 1"),
        (lambda: jaxshap.values.Nearby(0), "bandwidth=0: pass a number above 0"),
    ],
)
def test_ways_to_condition_refuse_settings_that_mean_nothing(make, message):
    with pytest.raises(jaxshap.InputError, match=message):
        make()


def test_shrinkage_makes_a_singular_covariance_usable():
    background = np.column_stack([normal_rows(0, 30), normal_rows(0, 30)[:, 1]])
    game = jaxshap.conditional(
        lambda x: x.sum(1), background[:2], background, how=jaxshap.values.Gaussian(shrinkage=0.1)
    )
    assert np.isfinite(jaxshap.shapley_values(game)).all()


class TestManifold:
    def test_only_mixtures_near_the_background_count(self):
        rng = np.random.default_rng(5)
        line = rng.normal(size=(30, 1)) * np.array([1.0, 1.0]) + 0.3 * rng.normal(size=(30, 2))
        rows = line[:4]

        def distances(points, known):
            scale, trusted = known.std(0), 30 / 32
            correlations = trusted * np.corrcoef(known.T) + (1 - trusted) * np.eye(2)
            gaps = (points[:, None] - known) / scale
            return np.sqrt(np.einsum("abi,ij,abj->ab", gaps, np.linalg.inv(correlations), gaps))

        def score(points):
            return -np.sort(distances(points, line), axis=1)[:, 2]

        folds = [np.arange(30) % 5 == fold for fold in range(5)]  # rows left out are like new ones
        own = np.concatenate(
            [-np.sort(distances(line[fold], line[~fold]), axis=1)[:, 2] for fold in folds]
        )
        lowest = np.quantile(own, 0.1)
        game = jaxshap.manifold(lambda x: x[:, 0] * x[:, 1], rows, line, inside=0.9, neighbours=3)
        counted = []
        for coalition, found in zip(membership(2), worths(game), strict=True):
            for row, worth in zip(rows, found, strict=True):
                mixed = np.where(coalition, row, line)
                inside = score(mixed) >= lowest
                counted.append(inside.mean())
                inside = inside if inside.any() else score(mixed) == score(mixed).max()
                np.testing.assert_allclose(worth, mixed[inside].prod(1).mean(), atol=1e-4)
        assert min(counted) < 0.6  # that some mixtures count and others do not

    def test_a_score_of_the_user_is_taken_and_the_best_count_where_none_is_inside(self):
        background = np.arange(5.0)[:, None] * np.ones(2)

        def score(points):
            return -jnp.abs(points[:, 0] - points[:, 1])

        game = jaxshap.manifold(lambda x: x[:, 1], np.array([[2.2, 9.0]]), background, score=score)
        np.testing.assert_allclose(worths(game)[:, 0], [2, 2, 9, 9], atol=1e-6)
        assert game.name == "manifold"

    @pytest.mark.parametrize("options", [{"inside": 0}, {"neighbours": 5}, {"score": lambda x: x}])
    def test_options_that_mean_nothing_are_refused(self, options):
        with pytest.raises(ValueError, match=r"inside=|neighbours=|one number a row"):
            jaxshap.manifold(
                lambda x: x[:, 0], np.ones((1, 2)), np.arange(10.0).reshape(5, 2), **options
            )


class TestKMeans:
    def test_rows_that_stand_for_many_are_weighted_by_them(self):
        rng = np.random.default_rng(6)
        corners = np.array([[0.0, 0], [10, 1], [0, 5]])
        rows = np.repeat(corners, [5, 10, 25], axis=0) + 0.01 * rng.normal(size=(40, 2))
        few = jaxshap.kmeans(rows, 3)
        order = np.argsort(few.weights)
        np.testing.assert_allclose(few.weights[order], [0.125, 0.25, 0.625])
        np.testing.assert_allclose(few.rows[order], corners, atol=0.03)
        assert np.isin(few.rows[:, 0], rows[:, 0]).all()

    def test_explain_takes_them_as_a_background(self):
        rng = np.random.default_rng(7)
        rows = rng.normal(size=(60, 3))
        few = jaxshap.kmeans(rows, 4, weights=rng.random(60), key=1)
        result = jaxshap.explain(lambda x: jnp.tanh(x.sum(1)), rows[:2], few)
        game = jaxshap.marginal(
            lambda x: jnp.tanh(x.sum(1)), rows[:2], few.rows, weights=few.weights
        )
        np.testing.assert_allclose(result.values.T, jaxshap.shapley_values(game), atol=1e-6)

    def test_as_many_as_there_are_rows_is_the_background(self):
        rows = np.random.default_rng(8).normal(size=(6, 2))
        few = jaxshap.kmeans(rows, 6)
        np.testing.assert_allclose(np.sort(few.rows, axis=0), np.sort(rows, axis=0))

    @pytest.mark.parametrize(
        ("count", "weights"), [(0, None), (9, None), (2, np.zeros(6)), (2, np.ones(3))]
    )
    def test_what_makes_no_sense_is_refused(self, count, weights):
        with pytest.raises(ValueError, match=r"no more than|non-negative|1 or more"):
            jaxshap.kmeans(np.ones((6, 2)), count, weights=weights)
