"""LIME over players and with one-hot categories, against the definitions in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import random_table
from sklearn.linear_model import Ridge

import jaxshap
from jaxshap.lime import ForwardSelection, local_surrogate, player_surrogate, width_stability
from jaxshap.lime.players import drawn_coalitions


def additive(weights):
    return jaxshap.make_game(lambda inside: jnp.asarray(weights) @ inside.astype(jnp.float32), 5)


def test_an_additive_game_is_found_exactly_without_a_ridge():
    weights = np.array([2.0, 0.0, -1.0, 0.5, 3.0], np.float32)
    line = player_surrogate(0, additive(weights), num_samples=200, ridge=0.0)
    np.testing.assert_allclose(line.coefficients, weights, atol=1e-5)
    np.testing.assert_allclose(line.intercept, weights.sum(), atol=1e-5)
    np.testing.assert_allclose(line.score, 1, atol=1e-5)
    assert (line.std_error < 1e-4).all()


def test_the_regression_is_that_of_the_definition():
    game = jaxshap.table(jnp.asarray(random_table(2, 5)))
    line = player_surrogate(3, game, num_samples=150, kernel_width=0.4, ridge=0.7)
    coalitions = np.asarray(drawn_coalitions(jax.random.key(3), 150, 5))
    masks = np.vstack([coalitions, np.ones(5, bool)])
    cosine = masks.sum(1) / np.sqrt(5 * np.maximum(masks.sum(1), 1))
    kernel = np.exp(-(((1 - cosine) / 0.4) ** 2))
    worths = np.asarray(jaxshap.evaluate(game, masks, progress=False))
    peer = Ridge(0.7).fit(masks.astype(float) - 1, worths, kernel)
    np.testing.assert_allclose(line.coefficients, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(line.intercept, peer.intercept_, atol=1e-5)
    np.testing.assert_allclose(
        line.effective_samples, kernel[:-1].sum() ** 2 / (kernel[:-1] ** 2).sum(), rtol=1e-4
    )


def test_sizes_of_samples_are_uniform_and_players_alike():
    coalitions = np.asarray(drawn_coalitions(jax.random.key(0), 5_000, 5))
    np.testing.assert_array_equal(coalitions[:9], drawn_coalitions(jax.random.key(0), 9, 5))
    sizes = np.bincount(coalitions.sum(1), minlength=6)
    assert sizes[5] == 0  # all players are added once, with weight 1
    assert (np.abs(sizes[:5] - 1000) < 4.5 * np.sqrt(800)).all()  # false alarm 4e-5
    assert (np.abs(coalitions.mean(0) - 0.4) < 4.5 * 0.49 / np.sqrt(5_000)).all()


def test_standard_errors_are_those_over_keys():
    """80 keys of 5 coefficients: the spread of z is off by about 0.05."""
    game = jaxshap.table(jnp.asarray(random_table(4, 5)))
    runs = [player_surrogate(key, game, num_samples=300) for key in range(80)]
    values = np.stack([run.coefficients for run in runs])
    z = (values - values.mean(0)) / np.stack([run.std_error for run in runs])
    assert 0.8 < z.std() < 1.2


def test_patches_and_tokens_are_players_of_rows_and_outputs():
    rng = np.random.default_rng(0)
    X, grey = rng.normal(size=(2, 4, 4)).astype(np.float32), np.zeros((1, 4, 4), np.float32)

    def model(images):
        total = images.sum((1, 2))
        return jnp.stack([total, 2 * total], axis=1)

    game = jaxshap.marginal(model, X, grey, players=jaxshap.patches((4, 4), 2))
    line = player_surrogate(0, game, num_samples=100, ridge=0.0)
    parts = X.reshape(2, 2, 2, 2, 2).sum((2, 4)).reshape(2, 4)
    np.testing.assert_allclose(line.coefficients[..., 0], parts.T, atol=1e-4)
    np.testing.assert_allclose(line.coefficients[..., 1], 2 * parts.T, atol=1e-4)
    np.testing.assert_allclose(line.intercept, model(X), atol=1e-4)
    tokens = np.array([[3, 1, 4, 1]], np.int32)
    words = jaxshap.marginal(
        lambda t: (t * jnp.arange(1, 5)).sum(1).astype(jnp.float32),
        tokens,
        np.zeros((1, 4), np.int32),
        players=jaxshap.tokens(4),
    )
    line = player_surrogate(0, words, num_samples=100, ridge=0.0, selection=ForwardSelection(1))
    assert np.flatnonzero(line.coefficients[:, 0]).tolist() == [2]


def table(rows=300):
    rng = np.random.default_rng(0)
    kind = rng.choice([1.0, 2.0, 7.0], rows, p=[0.2, 0.5, 0.3])
    return np.stack([rng.normal(size=rows) * 3 + 1, kind], axis=1)


def kinds(x):
    return np.where(x[:, 1] == 7, 3.0, np.where(x[:, 1] == 2, 1.0, 0.0)) + 0.5 * x[:, 0]


def test_one_hot_columns_have_units_and_distances_of_their_own():
    """As printed: every category is a column, and σ_k = 0.75 √p sd_k for each of the p columns."""
    X, seen = table(), []

    @jaxshap.host
    def model(x):
        seen.append(np.array(x))
        return kinds(x)

    rows = np.array([[0.0, 7.0], [1.0, 2.0]])
    line = local_surrogate(0, model, rows, X, categorical=[1], one_hot=True, num_samples=400)
    assert line.feature_names == ("x0", "x1=1", "x1=2", "x1=7")
    points = max(seen, key=len)

    def encoded(part):
        return np.column_stack([part[:, 0], *(part[:, 1] == level for level in (1, 2, 7))])

    deviations = encoded(X).std(0)
    np.testing.assert_allclose(line.units, deviations, rtol=1e-5)
    for number, row in enumerate(rows):
        away = (encoded(np.vstack([points, row])) - encoded(row[None])) / deviations
        kernel = np.exp(-((away / (0.75 * np.sqrt(4))) ** 2).sum(1))
        peer = Ridge(1.0).fit(away, kinds(np.vstack([points, row])), kernel)
        np.testing.assert_allclose(line.coefficients[number], peer.coef_, atol=2e-4)


def test_one_hot_finds_the_differences_between_categories():
    X = table()
    options = {"categorical": [1], "one_hot": True, "num_samples": 1_000, "ridge": 1e-3}
    line = local_surrogate(0, jaxshap.host(kinds), X[:2], X, **options)
    slopes = line.coefficients / line.units
    np.testing.assert_allclose(slopes[:, 0], 0.5, atol=1e-3)
    np.testing.assert_allclose(slopes[:, 3] - slopes[:, 1], 3, atol=1e-2)
    np.testing.assert_allclose(slopes[:, 2] - slopes[:, 1], 1, atol=1e-2)
    stable = width_stability(0, jaxshap.host(kinds), X[:1], X, widths=[1.0, 1.5], **options)
    assert stable.coefficients.shape == (2, 1, 4)
    assert stable.feature_names == line.feature_names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X: local_surrogate(0, kinds, X, X, categorical=1, one_hot=True, ridge=0.0),
            "Pass a small ridge",
        ),
        (lambda X: local_surrogate(0, kinds, X, X, one_hot=True), "pass both"),
        (lambda X: player_surrogate(0, additive(np.ones(5)), num_samples=6), "many more samples"),
        (lambda X: player_surrogate(0, kinds), "is not a game"),
        (lambda X: player_surrogate(0, additive(np.ones(5)), kernel_width=0.0), "kernel_width"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(jaxshap.InputError, match=message):
        call(table(20))
