"""Games in which absent features take the values of reference rows, against loops written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import membership

import jaxshap
from jaxshap.games.coalitions import all_coalitions
from jaxshap.values import host_masked, masked
from jaxshap.values.host_masked import HostMasked
from jaxshap.values.masked import Masked

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 4)).astype(np.float32) for count in (5, 19))
WEIGHTS = RNG.uniform(0.1, 2, 19).astype(np.float32)


def scalar_model(x):
    return x[:, 0] * x[:, 1] * x[:, 2] + x[:, 3] ** 2 - x[:, 0]


def vector_model(x):
    """Three outputs; traceable, and numpy in numpy out."""
    return x[:, :3] * x[:, 1:] + x[:, [0]]


def looped(model, rows, background, weights):
    """Worths (coalitions, rows, *outputs) in float64, one model call a point."""
    weights = np.asarray(weights, np.float64) / np.sum(weights, dtype=np.float64)
    return np.array(
        [
            [
                sum(
                    w * model(np.where(s, row, r)[None].astype(np.float64))[0]
                    for w, r in zip(weights, background, strict=True)
                )
                for row in rows
            ]
            for s in membership(4)
        ]
    )


def worths_of(game, **options):
    return np.asarray(jaxshap.evaluate(game, all_coalitions(game.num_players), **options))


@pytest.mark.parametrize("wrap", [lambda f: f, jaxshap.host], ids=["traced", "host"])
@pytest.mark.parametrize("model", [scalar_model, vector_model])
class TestAgainstLoops:
    def test_marginal_averages_over_the_background(self, model, wrap):
        game = jaxshap.marginal(wrap(model), ROWS, BACKGROUND)
        expected = looped(model, ROWS, BACKGROUND, np.ones(19))
        np.testing.assert_allclose(worths_of(game), expected, atol=1e-5)
        np.testing.assert_allclose(game.empty, expected[0], atol=1e-5)
        np.testing.assert_allclose(game.full, expected[-1], atol=1e-5)

    def test_weights_make_the_mean_weighted(self, model, wrap):
        game = jaxshap.marginal(wrap(model), ROWS, BACKGROUND, weights=WEIGHTS)
        expected = looped(model, ROWS, BACKGROUND, WEIGHTS)
        np.testing.assert_allclose(worths_of(game), expected, atol=1e-5)
        np.testing.assert_allclose(game.empty, expected[0], atol=1e-5)

    def test_baseline_takes_the_one_reference(self, model, wrap):
        game = jaxshap.baseline(wrap(model), ROWS, BACKGROUND[3])
        np.testing.assert_allclose(
            worths_of(game), looped(model, ROWS, BACKGROUND[3:4], [1]), atol=1e-5
        )

    def test_blocks_do_not_change_the_worths(self, model, wrap, monkeypatch):
        """Every block size from one point a call to all at once gives the same numbers."""
        expected = looped(model, ROWS, BACKGROUND, np.ones(19))
        for limit in (1, 500, 3000, 10000):
            for module in (masked, host_masked):
                monkeypatch.setattr(module, "byte_limit", lambda limit=limit: limit)
            game = jaxshap.marginal(wrap(model), ROWS, BACKGROUND)
            np.testing.assert_allclose(worths_of(game, batch_size=16), expected, atol=1e-5)


@pytest.mark.parametrize("block", [1, 4, 7, 19, 20, 50, 10**6])
def test_a_block_bounds_the_points_of_one_model_call(block):
    sizes = []

    def model(x):
        sizes.append(len(x))
        return scalar_model(x)

    weights = np.full(19, np.float32(1 / 19))
    masked = Masked(
        jax.tree_util.Partial(model),
        jnp.asarray(ROWS),
        jnp.asarray(BACKGROUND),
        jnp.asarray(weights),
        None,
        4,
        block,
    )
    traced = jax.vmap(masked)(all_coalitions(4)[:3])
    assert max(sizes) <= block
    sizes.clear()
    on_host = HostMasked(jaxshap.host(model), ROWS, BACKGROUND, weights, None, 4, block)(
        np.asarray(all_coalitions(4)[:3])
    )
    assert max(sizes) <= max(block, 3)  # a batch of three coalitions is three points at least
    np.testing.assert_allclose(traced, on_host, atol=1e-5)


def test_the_marginal_values_are_the_mean_of_the_baseline_values():
    together = jaxshap.shapley_values(jaxshap.marginal(vector_model, ROWS, BACKGROUND[:3]))
    singles = [
        jaxshap.shapley_values(jaxshap.baseline(vector_model, ROWS, reference))
        for reference in BACKGROUND[:3]
    ]
    np.testing.assert_allclose(together, np.mean(singles, axis=0), atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [lambda x: x.sum(1), lambda x: x[:, 0] + 2 * x[:, 1] * x[:, 2]],
    ids=["additive", "interaction"],
)
def test_worked_examples_both_share_equally(model):
    """f1 = x1+x2+x3 and f2 = x1+2x2x3 at (1,1,1) against 0 (THEORY §1)."""
    game = jaxshap.baseline(model, np.ones((1, 3), np.float32), np.zeros(3, np.float32))
    np.testing.assert_allclose(jaxshap.shapley_values(game)[:, 0], [1, 1, 1], rtol=1e-6)


def test_only_correlation_does_not_make_a_feature_matter():
    """f = x1 with x1 = x2 a fair coin: interventional φ_2 = 0 (THEORY §2)."""
    game = jaxshap.marginal(lambda x: x[:, 0], np.float32([[1, 1]]), np.float32([[0, 0], [1, 1]]))
    np.testing.assert_array_equal(jaxshap.shapley_values(game)[:, 0], [0.5, 0])


def test_values_can_be_differentiated_in_the_model_and_the_row():
    def value(weights, row):
        game = jaxshap.baseline(lambda x: jnp.tanh(x @ weights), row[None], jnp.zeros(3))
        return jaxshap.estimate(jax.random.key(0), game, jaxshap.Exact(), 8).values[
            :, 0
        ] @ jnp.arange(3.0)

    weights, row = jnp.asarray([0.3, -0.5, 0.8]), jnp.asarray([1.0, 2.0, -1.0])
    with jax.enable_x64(True):
        weights, row = (jnp.asarray(np.asarray(part), jnp.float64) for part in (weights, row))
        for argument in (0, 1):
            gradient = jax.jit(jax.grad(value, argument))(weights, row)
            for i, step in enumerate(1e-6 * np.eye(3)):
                up, down = (
                    (weights + s, row) if argument == 0 else (weights, row + s)
                    for s in (step, -step)
                )
                np.testing.assert_allclose(
                    gradient[i], (value(*up) - value(*down)) / 2e-6, rtol=1e-6, atol=1e-8
                )


def test_new_numbers_of_background_rows_share_one_compiled_program(compilations):
    """33 to 36 rows are one bucket; a model called outside jit would be compiled again for every
    number.
    """
    background = np.random.default_rng(1).normal(size=(36, 4)).astype(np.float32)
    jaxshap.shapley_values(jaxshap.marginal(scalar_model, ROWS, background))
    with compilations() as names:
        for count in (33, 34, 35):
            jaxshap.shapley_values(jaxshap.marginal(scalar_model, ROWS, background[:count]))
    assert names == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_worths_have_the_dtype_of_the_data(dtype):
    with jax.enable_x64(True):
        game = jaxshap.marginal(scalar_model, ROWS.astype(dtype), BACKGROUND.astype(dtype))
        assert game.empty.dtype == game.full.dtype == worths_of(game).dtype == dtype


def test_ends_and_worths_of_a_half_precision_model_have_one_dtype():
    def model(x):
        return scalar_model(x).astype(jnp.bfloat16)

    game = jaxshap.marginal(model, ROWS, BACKGROUND)
    assert game.empty.dtype == game.full.dtype == game(jnp.ones(4, bool)).dtype


def test_means_over_a_large_background_keep_their_digits_in_float32():
    """Like numbers lose digits in one long sum, most of all where every coalition member is
    present.
    """
    rng = np.random.default_rng(0)
    rows, references = (
        rng.normal(size=(3, 2)).astype(np.float32),
        rng.normal(size=(50_000, 2)).astype(np.float32),
    )

    def model(points):
        return 5 + points[:, 0] + 2 * points[:, 0] * points[:, 1]

    game = jaxshap.marginal(model, rows, references)
    coalitions = np.array([[False, True], [True, False], [True, True]])
    found = jaxshap.evaluate(game, coalitions)
    for coalition, worths in zip(coalitions, found, strict=True):
        points = np.where(coalition, rows[:, None], references).astype(np.float64)
        exact = model(points.reshape(-1, 2)).reshape(3, -1).mean(1)
        np.testing.assert_allclose(worths, exact, rtol=3e-6)
