"""A value function written by a user in ten lines works wherever ours do."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

X = np.array([[1.0, 2.0, 3.0, 0.5], [0.0, 1.0, -1.0, 2.0]], np.float32)


def halved(model, X, background, *, weights=None, players=None):
    rows = jnp.asarray(X, jnp.float32)

    def value(coalition):
        return model(jnp.where(coalition, rows, rows / 2))

    return jaxshap.make_game(value, rows.shape[1], "halved")


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2] - rows[:, 3]


def test_it_is_a_value_function_by_protocol():
    assert isinstance(halved, jaxshap.values.ValueFunction)
    assert isinstance(jaxshap.marginal, jaxshap.values.ValueFunction)


def test_explain_diagnose_and_report_take_it(tmp_path):
    explanation = jaxshap.explain(product, X, X, value=halved)
    assert explanation.value_function == "halved"
    np.testing.assert_allclose(
        explanation.values.sum(1) + explanation.base_values, product(X), atol=1e-5
    )
    diagnosis = explanation.diagnose(budget=100)
    assert diagnosis.additivity.verdict in ("additive", "pairwise")
    path = tmp_path / "report.html"
    jaxshap.write_report(explanation, path, diagnosis=diagnosis)
    assert "halved" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [jaxshap.conditional, jaxshap.manifold])
def test_those_that_need_columns_say_so_when_they_get_players(value):
    players = jaxshap.segments([0, 0, 1, 2])
    with pytest.raises(jaxshap.InputError, match="columns of a table"):
        value(product, X, X, players=players)


def test_a_baseline_takes_one_row_and_no_more():
    one = jaxshap.explain(product, X, X[:1], value=jaxshap.baseline)
    row = jaxshap.baseline(product, X, X[0])
    np.testing.assert_allclose(one.values.T, jaxshap.shapley_values(row), atol=1e-6)
    with pytest.raises(jaxshap.InputError, match="one row"):
        jaxshap.baseline(product, X, X)
    with pytest.raises(jaxshap.InputError, match="no weights"):
        jaxshap.baseline(product, X, X[:1], weights=[1.0, 2.0])
