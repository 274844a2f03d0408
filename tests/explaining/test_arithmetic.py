"""Explanations from explanations: sizes, means, differences, samples and cohorts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import jaxshap

X = np.random.default_rng(0).normal(size=(8, 12))
WEIGHTS = np.arange(12.0)


@pytest.fixture(scope="module")
def pair():
    def model(rows):
        return np.tanh(rows @ WEIGHTS / 20)

    how = {"estimator": jaxshap.Permutation(), "budget": 200}
    return [
        jaxshap.explain(jaxshap.host(predict), X, X[:3], **how)
        for predict in (model, lambda rows: 2 * model(rows))
    ]


def test_differences_have_values_that_subtract_and_errors_that_bound_both(pair):
    first, second = pair
    difference = second - first
    np.testing.assert_allclose(difference.values, second.values - first.values)
    np.testing.assert_allclose(difference.base_values, second.base_values - first.base_values)
    np.testing.assert_allclose(difference.std_error, first.std_error + second.std_error)
    true_error = np.abs(difference.std_error) >= np.abs(second.std_error - first.std_error)
    assert true_error.all()
    assert not difference.exact
    with pytest.raises(jaxshap.InputError, match="same rows"):
        first - second[:3]
    with pytest.raises(TypeError):
        first - 1


def test_means_are_over_rows_and_bound_the_errors_of_shared_draws(pair):
    mean = pair[0].abs.mean(0)
    assert mean.shape == (1, 12)
    assert mean.data_of_features is None
    np.testing.assert_allclose(mean.values[0], np.abs(pair[0].values).mean(0))
    np.testing.assert_allclose(mean.std_error[0], pair[0].std_error.mean(0))
    assert np.isnan(mean.base_values).all()
    with pytest.raises(jaxshap.InputError, match="axis 0"):
        mean.mean(1)


def test_samples_are_rows_in_their_order_and_the_same_for_the_same_key(pair):
    sampled = pair[0].sample(5)
    np.testing.assert_array_equal(sampled.values, pair[0].sample(5).values)
    rows = [int(np.flatnonzero((row == X).all(1))[0]) for row in sampled.data]
    assert rows == sorted(rows)
    assert len(set(rows)) == 5
    assert len(pair[0].sample(100)) == 8


def test_cohorts_are_the_rows_of_each_label(pair):
    labels = np.array(["b", "a"] * 4)
    groups = pair[0].cohorts(labels)
    assert list(groups) == ["a", "b"]
    np.testing.assert_array_equal(groups["a"].values, pair[0].values[1::2])
    means = groups.abs.mean(0)
    np.testing.assert_allclose(means["b"].values[0], np.abs(pair[0].values[::2]).mean(0))
    with pytest.raises(jaxshap.InputError, match="one per row"):
        pair[0].cohorts(["a"])


def test_an_exact_explanation_shows_no_error_at_all():
    exact = jaxshap.explain(lambda x: x[:, 0] - 2 * x[:, 1], X[:1, :2], X[:, :2])
    assert "±" not in str(exact)
    assert "±" not in exact._repr_html_()


def test_a_picked_output_keeps_its_name_also_in_a_file(tmp_path):
    ex = jaxshap.explain(lambda x: x, X[:2, :3], X[:, :3], output_names=["a", "b", "c"])
    picked = ex[:, :, "b"]
    assert picked.output_names == ("b",)
    assert picked.to_shap().output_names == "b"
    picked.save(tmp_path / "picked.npz")
    assert jaxshap.load(tmp_path / "picked.npz").output_names == ("b",)
    assert str(picked).splitlines()[1].split(", ")[-1] == "b"


def test_the_owners_of_pixels_are_remembered_in_files_and_by_row_but_not_by_feature(tmp_path):
    players = jaxshap.patches((4, 4), 2)
    images = np.ones((2, 4, 4))
    ex = jaxshap.explain(lambda x: x.sum((1, 2)), images, 0 * images, groups=players)
    np.testing.assert_array_equal(ex[1].owner, players.owner)
    assert ex[:, :2].owner is None
    ex.save(tmp_path / "images.npz")
    np.testing.assert_array_equal(jaxshap.load(tmp_path / "images.npz").owner, players.owner)
    with pytest.raises(jaxshap.InputError, match="no owners"):
        jaxshap.plots.patches(ex[0, :2])


def test_sums_and_maxima_are_over_rows_or_features_and_bound_the_errors(pair):
    ex = pair[0]
    for axis in (0, 1):
        np.testing.assert_allclose(ex.sum(axis).values, ex.values.sum(axis, keepdims=True))
        np.testing.assert_allclose(ex.sum(axis).std_error, ex.std_error.sum(axis, keepdims=True))
    np.testing.assert_array_equal(ex.sum(1).base_values, ex.base_values)
    np.testing.assert_array_equal(ex.abs.max(0).values[0], np.abs(ex.values).max(0))
    for wrong in (lambda: ex.sum(2), lambda: ex.max(1)):
        with pytest.raises(jaxshap.InputError, match="axis"):
            wrong()


def test_three_dots_stand_for_all_axes_that_are_not_named(pair):
    ex = pair[0]
    np.testing.assert_array_equal(ex[..., 0].values, ex.values[..., :1])
    assert ex[...].shape == ex[0:8, ...].shape == ex.shape
    of_two = jaxshap.explain(lambda x: x[:, :2], X[:, :3], X[:3, :3])
    np.testing.assert_array_equal(of_two[..., 1].values, of_two.values[..., 1])
    assert of_two[0, ..., 1].shape == (1, 3)


def test_cohorts_by_number_are_the_leaves_of_the_regression_tree_of_scikit_learn():
    rows = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32)
    ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2] ** 2, rows, rows[:9])
    tree = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(rows, ex.values)
    expected = {frozenset(np.flatnonzero(tree.apply(rows) == leaf)) for leaf in tree.apply(rows)}
    place = {row.tobytes(): number for number, row in enumerate(rows)}
    by_name = ex.cohorts(4)
    found = {frozenset(place[row.tobytes()] for row in one.data) for one in by_name.values()}
    assert found == expected
    assert all("≤" in name or ">" in name for name in by_name)
    assert list(ex.cohorts(1)) == ["all rows"]


def test_cohorts_are_named_by_the_words_on_their_side():
    town, zeros = ["Oslo", "Rome", "Bern", "Rome"], np.zeros(4)
    X = pd.DataFrame({"town": town, "age": zeros})
    ex = jaxshap.explain(lambda x: 2.0 * (x["town"] == "Rome") + x["age"], X, X)
    assert list(ex.cohorts(9)) == ["town = Bern or Oslo", "town = Rome"]


def test_a_difference_of_outputs_with_other_names_is_called_after_both():
    def classes(rows):
        scores = np.exp(np.stack([rows[:, 0], rows[:, 1] * rows[:, 2], rows[:, 2]], 1))
        return scores / scores.sum(1, keepdims=True)

    names, few = ["ant", "bee", "cat"], X[:, :3]
    explain = jaxshap.host(classes), few, few
    every = jaxshap.explain(*explain, output_names=names)
    difference = every[..., "cat"] - every[..., "ant"]
    assert difference.output_names == ("cat − ant",)
    assert (every[:, :, ["ant", "cat"]] - every[:, :, ["ant", "bee"]]).output_names == (
        "ant",
        "cat − bee",
    )
    top = jaxshap.explain(*explain, output_names=names, outputs=jaxshap.Top(2))
    margin = top[:, :, [0]] - top[:, :, [1]]
    expected = [[f"{best} − {next_best}"] for best, next_best in top.row_outputs]
    assert margin.row_outputs.tolist() == expected
    assert (top - every[:, :, [0, 1]]).row_outputs is None


def test_words_for_sizes_and_for_a_feature_in_place_of_a_row():
    ex = jaxshap.explain(lambda x: x[:, 0], np.ones((2, 2)), np.zeros((1, 2)))
    assert " mean |Shapley value| by " in str(ex.abs.mean(0))
    assert (ex - ex).kind == "difference of Shapley values"
    with pytest.raises(jaxshap.errors.SelectionError, match=r"numbers here; ex\[:, 'x1'\] is"):
        ex["x1"]
    with pytest.raises(jaxshap.errors.SelectionError, match=r"there are .*x1"):
        ex[:, "y"]
