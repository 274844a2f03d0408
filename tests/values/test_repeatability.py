"""Models in training mode, or whose answers change, are refused by name."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

X = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
BACKGROUND = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float32)


def dropout(rows):
    kept = jax.random.bernoulli(jax.random.key(0), 0.5, rows.shape)
    return jnp.where(kept, 2 * rows, 0).sum(1)


def batch_statistics(rows):
    return jnp.tanh((rows - rows.mean(0)) / rows.std(0)).sum(1)


def network(rows):
    return jnp.tanh(rows @ jnp.linspace(-1, 1, 5, dtype=rows.dtype))


@pytest.mark.parametrize("groups", [None, [[0, 1]]])
@pytest.mark.parametrize("model", [dropout, batch_statistics])
def test_training_mode_is_refused_with_the_remedy(model, groups):
    with pytest.raises(jaxshap.UnsupportedModelError, match="inference_mode"):
        jaxshap.explain(model, X, BACKGROUND, groups=groups)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16])
def test_plain_models_pass_in_any_precision_and_give_float32(dtype):
    explanation = jaxshap.explain(
        lambda rows: network(rows.astype(dtype)),
        X,
        BACKGROUND,
        estimator=jaxshap.Kernel(),
        budget=20,
    )
    assert explanation.values.dtype == np.float32
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, network(X), atol=0.05)


def test_a_model_that_works_in_place_gets_copies():
    rows, background = X.astype(np.float64), BACKGROUND.astype(np.float64)
    kept = rows.copy(), background.copy()

    def in_place(batch):
        batch *= 2
        return np.tanh(batch.sum(1))

    explanation = jaxshap.explain(in_place, rows, background)  # and so does the look at two rows
    plain = jaxshap.explain(jaxshap.host(lambda b: np.tanh(2 * b.sum(1))), rows, background)
    np.testing.assert_array_equal(explanation.values, plain.values)
    np.testing.assert_array_equal(rows, kept[0])
    np.testing.assert_array_equal(background, kept[1])


def test_a_model_may_return_the_same_memory_every_time():
    memory = np.zeros(10_000)

    def reusing(batch):
        memory[: len(batch)] = np.tanh(batch.sum(1))
        return memory[: len(batch)]

    explanation = jaxshap.explain(jaxshap.host(reusing), X, BACKGROUND)
    plain = jaxshap.explain(jaxshap.host(lambda b: np.tanh(b.sum(1, dtype=float))), X, BACKGROUND)
    np.testing.assert_allclose(explanation.values, plain.values, atol=1e-6)


def test_rounding_is_measured_by_all_outputs_also_where_the_rows_left_have_small_ones():
    calls = []

    def rounded(rows):  # as a network whose sums depend on the batch by one part in 10,000
        calls.append(len(rows))
        return np.where(rows[:, 0] > 0, 1.0, 1e-7) + 1e-5 * (len(calls) % 2)

    X, background = np.ones((1, 3)), np.zeros((1, 3))
    explanation = jaxshap.explain(jaxshap.host(rounded), X, background)
    np.testing.assert_allclose(explanation.values, [[1, 0, 0]], atol=1e-4)


def test_sums_in_another_order_pass():
    """As those of threads, which are done in any order: float32 sums of 64 terms."""
    weights, calls = np.random.default_rng(3).normal(size=(5, 64)).astype(np.float32), []

    def in_any_order(rows):
        calls.append(len(rows))
        order = np.random.default_rng(len(calls)).permutation(64)
        hidden = np.tanh(rows.astype(np.float32) @ weights)[:, order]
        return hidden.cumsum(1, dtype=np.float32)[:, -1]

    assert np.isfinite(jaxshap.explain(jaxshap.host(in_any_order), X, BACKGROUND).values).all()


def test_whole_numbers_that_floating_point_ones_cannot_hold_are_refused():
    def offset(rows):
        return 2**60 + (rows > 0).sum(1)

    with pytest.raises(jaxshap.ModelOutputError, match="subtract an offset"):
        jaxshap.explain(jaxshap.host(offset), X, BACKGROUND)
    found = jaxshap.explain(jaxshap.host(lambda rows: offset(rows) - 2**60), X, BACKGROUND)
    assert np.abs(found.values).max() > 0.1
