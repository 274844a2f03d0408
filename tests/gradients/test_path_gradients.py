"""Integrated and expected gradients: sums, errors, outputs, players and refusals."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.errors import (
    BudgetError,
    InputError,
    InputTypeError,
    ToleranceWarning,
    UnsupportedModelError,
)
from jaxshap.gradients import expected_gradients, integrated_gradients

RNG = np.random.default_rng(3)
FIRST, SECOND, SHIFT = (
    jnp.asarray(RNG.normal(size=shape), jnp.float32) for shape in [(5, 16), (16, 3), (16,)]
)
ROWS = RNG.normal(size=(7, 5)).astype(np.float32)
BACKGROUND = RNG.normal(size=(6, 5)).astype(np.float32)
BASELINE = BACKGROUND[:1]


def smooth(rows):
    return jnp.tanh(rows @ FIRST + SHIFT) @ SECOND


def kinked(rows):
    return jax.nn.relu(rows @ FIRST + SHIFT) @ SECOND


def quadrature(model, row, start, nodes=4000):
    """The definition, by the midpoint rule and the Jacobian."""
    places = (np.arange(nodes) + 0.5) / nodes
    slopes = jax.vmap(jax.jacrev(lambda point: model(point[None])[0]))(
        jnp.asarray(start + places[:, None] * (row - start), jnp.float32)
    )
    return np.asarray(slopes, np.float64).mean(0).T * (row - start)[:, None]


@pytest.mark.parametrize("model", [smooth, kinked])
def test_integrated_gradients_are_the_integral_within_the_reported_error(model):
    explained = integrated_gradients(model, ROWS, BASELINE, tol=0.02)
    truth = np.stack([quadrature(model, row, BASELINE[0]) for row in ROWS])
    assert explained.values.shape == explained.std_error.shape == (7, 5, 3)
    within = np.abs(explained.values - truth) <= explained.std_error + 1e-4
    assert within.mean() > 0.95
    assert explained.std_error.max() <= 0.02 * np.abs(explained.values).max()
    np.testing.assert_allclose(explained.values, truth, atol=0.02 * np.abs(truth).max())


@pytest.mark.parametrize("model", [smooth, kinked])
def test_they_add_up_to_the_difference_of_outputs_within_the_sum_of_errors(model):
    explained = integrated_gradients(model, ROWS, BASELINE)
    missing = np.abs(explained.base_values + explained.values.sum(1) - np.asarray(model(ROWS)))
    assert (missing <= explained.std_error.sum(1) + 1e-6).all()


def test_a_smaller_tolerance_takes_more_nodes_and_has_a_smaller_error():
    loose, strict = (integrated_gradients(kinked, ROWS, BASELINE, tol=t) for t in (0.1, 0.005))
    assert strict.num_evaluations > loose.num_evaluations
    assert strict.std_error.max() < loose.std_error.max()
    truth = np.stack([quadrature(kinked, row, BASELINE[0]) for row in ROWS])
    np.testing.assert_allclose(strict.values, truth, atol=0.004 * np.abs(truth).max())


def test_they_are_shapley_values_for_sums_and_products_of_features_and_not_beyond():
    def products(rows):
        return rows[:, 0] * rows[:, 1] * rows[:, 2] + jnp.exp(rows[:, 3]) - rows[:, 4] * rows[:, 0]

    def powers(rows):
        return rows[:, 0] ** 2 * rows[:, 1]

    for model, alike in ((products, True), (powers, False)):
        found = integrated_gradients(model, ROWS, BASELINE).values
        shapley = jaxshap.explain(model, ROWS, BASELINE, value=jaxshap.baseline).values
        assert np.allclose(found, shapley, atol=1e-5) == alike


def test_groups_and_many_outputs_sum_the_same_gradients_forwards_or_backwards():
    """Two players have fewer derivatives than three outputs, five have more."""
    columns = integrated_gradients(smooth, ROWS, BASELINE).values
    groups = {"first": [0, 3], "rest": [1, 2, 4]}
    grouped = integrated_gradients(smooth, ROWS, BASELINE, groups=groups)
    assert grouped.feature_names == ("first", "rest")
    sums = np.stack([columns[:, members].sum(1) for members in groups.values()], axis=1)
    np.testing.assert_allclose(grouped.values, sums, atol=1e-5)


def test_any_pytree_of_inputs_with_parts_that_stay():
    """What belongs to nobody has the row's value all along, whole numbers too."""
    inputs = {"image": ROWS[:, :4].reshape(7, 2, 2), "kind": np.arange(7) % 2, "scale": ROWS[:, 4]}
    zeros = {name: np.zeros_like(leaf[:1]) for name, leaf in inputs.items()}

    def model(batch):
        image = batch["image"].reshape(-1, 4) ** 2
        return image.sum(1) * batch["scale"] * (1 + batch["kind"].astype(jnp.float32))

    players = jaxshap.Players(
        {
            "image": np.array([[0, 1], [1, -1]]),
            "kind": np.asarray(-1),
            "scale": np.asarray(2),
        },
        ("corner", "sides", "scale"),
    )
    explained = integrated_gradients(model, inputs, zeros, groups=players)
    pixels, scale, factor = ROWS[:, :4] ** 2, ROWS[:, 4], 1 + np.arange(7) % 2
    squares = np.stack([pixels[:, 0], pixels[:, 1] + pixels[:, 2]], 1)
    parts = squares * (2 / 3 * scale * factor)[:, None]
    of_scale = scale * factor * (squares.sum(1) / 3 + pixels[:, 3])
    truth = np.concatenate([parts, of_scale[:, None]], axis=1)
    np.testing.assert_allclose(explained.values, truth, atol=1e-5)
    game = jaxshap.baseline(model, inputs, zeros, players=players)
    np.testing.assert_allclose(explained.base_values, game.empty, atol=1e-6)


def test_expected_gradients_are_unbiased_with_calibrated_errors():
    """Over 60 keys: |z| of means below 4.5, and the stated error within a third of the spread."""
    truth = np.mean(
        [[quadrature(smooth, row, start, 400) for start in BACKGROUND] for row in ROWS[:2]], axis=1
    )
    runs = [expected_gradients(smooth, ROWS[:2], BACKGROUND, budget=32, key=k) for k in range(60)]
    values = np.stack([run.values for run in runs])
    spread = values.std(0, ddof=1)
    assert (np.abs(values.mean(0) - truth) <= 4.5 * spread / np.sqrt(60) + 1e-5).all()
    stated = np.sqrt(np.mean([run.std_error**2 for run in runs], axis=0))
    assert 0.85 < np.sqrt((stated**2).mean() / (spread**2).mean()) < 1.15
    np.testing.assert_allclose(stated, spread, rtol=0.4)


def test_expected_gradients_draw_by_weight_and_repeat_by_key():
    weighted = jaxshap.WeightedRows(BACKGROUND[:2], np.array([1.0, 0.0]))
    found = expected_gradients(smooth, ROWS, weighted, budget=2048)
    integral = integrated_gradients(smooth, ROWS, BASELINE)
    assert (np.abs(found.values - integral.values) <= 6 * found.std_error + 1e-3).all()
    again = expected_gradients(smooth, ROWS, weighted, budget=2048)
    np.testing.assert_array_equal(again.values, found.values)


def test_batches_of_rows_change_nothing(monkeypatch):
    whole = integrated_gradients(smooth, ROWS, BASELINE).values
    monkeypatch.setattr("jaxshap.gradients.integrated.rows_per_batch", lambda paths: 2)
    np.testing.assert_allclose(
        integrated_gradients(smooth, ROWS, BASELINE).values, whole, atol=1e-6
    )


def test_results_are_named_as_what_they_are_and_keep_the_name_when_saved(tmp_path):
    for explained, kind in (
        (integrated_gradients(smooth, ROWS, BASELINE), "integrated gradient"),
        (expected_gradients(smooth, ROWS, BACKGROUND, budget=8), "expected gradient"),
    ):
        assert explained.kind == kind
        assert f" {kind}s by " in repr(explained)
        assert "Shapley" not in repr(explained) + explained._repr_html_()
        explained.save(tmp_path / "saved.npz")
        assert jaxshap.load(tmp_path / "saved.npz").kind == kind
        with pytest.raises(InputError):
            explained.diagnose()


def test_rows_of_another_number_share_the_program(compilations):
    integrated_gradients(smooth, ROWS[:6], BASELINE)
    with compilations() as names:
        integrated_gradients(smooth, ROWS[1:7], BASELINE, tol=1e-4)
    assert not [name for name in names if "reduced_gains" in name]


def test_a_jump_is_reported_with_a_warning_and_a_large_error():
    def jump(rows):
        return jnp.where(rows[:, 0] > 0.5, 1.0, 0.0) + rows.sum(1)

    with pytest.warns(ToleranceWarning):
        explained = integrated_gradients(jump, np.ones((1, 2)), np.zeros((1, 2)), max_nodes=32)
    assert explained.std_error.sum() >= 1


def test_what_has_no_gradients_is_refused_by_name():
    tokens = np.arange(6).reshape(1, 6)
    table = jnp.arange(8.0)
    with pytest.raises(InputTypeError, match="whole numbers"):
        integrated_gradients(
            lambda ids: table[ids].sum(1), tokens, 0 * tokens, groups=jaxshap.tokens(6)
        )
    with pytest.raises(UnsupportedModelError, match="host"):
        integrated_gradients(jaxshap.host(lambda rows: rows.sum(1)), ROWS, BASELINE)
    with pytest.raises(InputError, match="expected_gradients"):
        integrated_gradients(smooth, ROWS, BACKGROUND)
    with pytest.raises(BudgetError):
        expected_gradients(smooth, ROWS, BACKGROUND, budget=3)
    with pytest.raises(InputError, match="tol"):
        integrated_gradients(smooth, ROWS, BASELINE, tol=0.0)
    with pytest.raises(InputError, match="max_nodes"):
        integrated_gradients(smooth, ROWS, BASELINE, max_nodes=8)


def test_a_model_that_jax_traces_but_cannot_differentiate_is_refused():
    def called_back(rows):
        shape = jax.ShapeDtypeStruct(rows.shape[:1], rows.dtype)
        return jax.pure_callback(np.sum, shape, rows, axis=1, vmap_method="sequential")

    with pytest.raises(UnsupportedModelError, match="differentiate"):
        integrated_gradients(called_back, ROWS, BASELINE)


def test_float64_is_as_precise_as_it_says():
    with jax.enable_x64(True), warnings.catch_warnings(action="error"):
        rows = ROWS.astype(np.float64)
        explained = integrated_gradients(
            lambda x: jnp.exp(x).prod(1), rows, 0 * rows[:1], tol=1e-12
        )
    total = explained.values.sum(1) + explained.base_values
    np.testing.assert_allclose(total, np.exp(rows.sum(1)), rtol=1e-12)
