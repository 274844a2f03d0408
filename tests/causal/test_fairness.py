"""Disparity between groups: closed forms, its errors over many samples, and its picture."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.causal import disparity

NAMES = ["gender", "height", "age"]


def drivers(rows=200, seed=0):
    """Men (1) are 13 cm taller; height does nothing to accidents."""
    rng = np.random.default_rng(seed)
    gender = (np.arange(rows) % 2).astype(np.float32)
    height = 166 + 13 * gender + 7 * rng.normal(size=rows)
    age = rng.uniform(18, 78, rows)
    return np.stack([gender, height, age], axis=1).astype(np.float32)


def accidents(x):
    return 0.5 + x[:, 0] - 0.005 * (x[:, 2] - 48)


def unaware(x):
    """A model that sees height alone: 0.0356 accidents per centimetre, 0.46 for 13 cm."""
    return 1 + 0.0356 * (x[:, 1] - 172.5)


def labels(X):
    return np.where(X[:, 0] == 1, "men", "women")


def explained(model, X):
    return jaxshap.explain(model, X, X[:50], feature_names=NAMES)


def made_up(values, std_error, shared_draws=True):
    rows, features = values.shape[:2]
    return jaxshap.Explanation(
        values,
        std_error,
        np.zeros((rows, *values.shape[2:])),
        np.zeros((rows, features)),
        tuple(f"x{i}" for i in range(features)),
        None,
        10,
        "made up",
        "made up",
        shared_draws,
    )


def test_the_difference_between_men_and_women_is_that_of_gender():
    X = drivers()
    found = disparity(explained(accidents, X), labels(X), reference="women")
    ages = X[X[:, 0] == 1, 2].mean() - X[X[:, 0] == 0, 2].mean()
    assert found.groups.tolist() == ["men"]
    assert found.reference == "women"
    np.testing.assert_allclose(found.values, [[1, 0, -0.005 * ages]], atol=1e-5)
    outputs = accidents(X)
    np.testing.assert_allclose(
        found.total, [outputs[X[:, 0] == 1].mean() - outputs[X[:, 0] == 0].mean()], atol=1e-5
    )
    np.testing.assert_allclose(found.std_error[0, :2], 0, atol=1e-6)
    spread = sum(X[X[:, 0] == side, 2].var(ddof=1) / 100 for side in (0, 1))
    np.testing.assert_allclose(found.std_error[0, 2], 0.005 * np.sqrt(spread), rtol=1e-3)
    assert found.feature_names == tuple(NAMES)


def test_height_stands_in_for_gender_where_gender_is_left_out_and_not_in_the_fair_predictor():
    X = drivers(400)
    before = disparity(explained(unaware, X), labels(X), reference="women")
    assert abs(before.values[0, 1] - 0.0356 * 13) < 4 * before.std_error[0, 1]
    assert before.total[0] > 0.4
    fair = jaxshap.causal.fair_predictor(accidents, X, 0)
    after = disparity(explained(fair, X), labels(X), reference="women")
    np.testing.assert_allclose(after.values[0, :2], 0, atol=1e-5)
    # Age is left, which men and women share:
    assert abs(after.total[0]) < 4 * after.total_std_error[0]


def test_groups_are_compared_with_the_first_unless_another_is_named():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2, 3))
    groups = np.repeat(["b", "c", "a"], 10)
    means = {name: values[groups == name].mean(0) for name in "abc"}
    found = disparity(made_up(values, np.zeros_like(values)), groups)
    assert (found.reference, found.groups.tolist()) == ("a", ["b", "c"])
    np.testing.assert_allclose(found.values, [means["b"] - means["a"], means["c"] - means["a"]])
    np.testing.assert_allclose(found.total, found.values.sum(1))
    other = disparity(made_up(values, np.zeros_like(values)), groups, reference="c")
    np.testing.assert_allclose(other.values, [means["a"] - means["c"], means["b"] - means["c"]])
    summary = made_up(values, np.zeros_like(values)).summary(groups, absolute=False)
    np.testing.assert_allclose(
        found.std_error[0], np.hypot(summary.std_error[0], summary.std_error[1])
    )


def test_errors_of_shared_draws_add_up_and_those_of_separate_draws_are_in_the_spread():
    values = np.random.default_rng(0).normal(size=(40, 2))
    errors = np.full((40, 2), 0.5)
    groups = np.arange(40) < 15
    exact, shared, separate = (
        disparity(made_up(values, *how), groups)
        for how in ((0 * errors,), (errors,), (errors, False))
    )
    np.testing.assert_allclose(shared.std_error, np.hypot(exact.std_error, 1.0))
    np.testing.assert_allclose(separate.std_error, exact.std_error)


@pytest.mark.parametrize("shared_draws", [True, False])
def test_standard_errors_hold_over_samples_of_rows_and_draws(shared_draws):
    """1,000 samples, so the spread of z is off by 0.02. Errors of two groups are opposite, which
    is the worst case of shared draws, or separate.
    """
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], [20, 30])
    z = []
    for _ in range(1000):
        true = rng.normal(size=(50, 1)) + 0.7 * groups[:, None]
        error = 0.4 * (
            rng.normal() * np.where(groups, 1, -1)[:, None]
            if shared_draws
            else rng.normal(size=(50, 1))
        )
        found = disparity(made_up(true + error, np.full((50, 1), 0.4), shared_draws), groups)
        z.append((found.values - 0.7) / found.std_error)
    assert abs(np.mean(z)) < 0.13  # false alarm 4e-5
    assert 0.9 < np.std(z) < 1.1


def test_unknown_errors_stay_unknown():
    values = np.random.default_rng(0).normal(size=(5, 2))
    unknown = disparity(made_up(values, np.full((5, 2), np.nan)), [0, 0, 0, 1, 1])
    assert np.isnan(unknown.std_error).all()
    single = disparity(made_up(values, np.zeros((5, 2))), [0, 0, 0, 0, 1])
    assert np.isnan(single.std_error).all()
    assert np.isfinite(single.values).all()


def test_several_outputs_keep_their_names():
    X = drivers(40)
    both = jaxshap.explain(
        lambda x: jnp.stack([accidents(x), unaware(x)], axis=1),
        X,
        X[:10],
        output_names=["yes", "no"],
    )
    found = disparity(both, labels(X))
    assert found.values.shape == (1, 3, 2)
    assert found.output_names == ("yes", "no")
    alone = disparity(both[:, :, "no"], labels(X))
    np.testing.assert_allclose(found.values[..., 1], alone.values)
    with pytest.raises(ValueError, match="one output"):
        jaxshap.plots.disparity(found)


def test_the_picture_shows_each_feature_and_the_sum_and_changes_nothing():
    X = drivers(60)
    found = disparity(explained(accidents, X), labels(X), reference="women")
    before = found.values.copy()
    ax = jaxshap.plots.disparity(found)
    texts = [label.get_text() for label in ax.get_yticklabels()]
    assert texts[-1] == "all features"
    assert set(texts[:-1]) == set(NAMES)
    lengths = {text: bar.get_width() for text, bar in zip(texts, ax.patches, strict=True)}
    np.testing.assert_allclose([lengths[name] for name in NAMES], found.values[0], atol=1e-6)
    assert "men less women" in ax.get_xlabel()
    np.testing.assert_array_equal(found.values, before)
    assert jaxshap.plots.disparity(found, ax=ax) is ax
    few = jaxshap.plots.disparity(found, max_display=1)
    assert "2 smaller ones not shown" in few.get_xlabel()


def test_intervals_of_small_groups_are_those_of_students_t():
    found = disparity(made_up(np.arange(5.0)[:, None] ** 2, np.zeros((5, 1))), [0, 0, 0, 1, 1])
    assert found.degrees.tolist() == [1]
    (bars,) = jaxshap.plots.disparity(found, max_display=1).collections
    half = np.ptp(bars.get_segments()[0][:, 0]) / 2
    np.testing.assert_allclose(half, 12.7062 * found.std_error[0, 0], rtol=1e-5)


def test_what_cannot_be_done_says_what_to_do():
    values = np.zeros((4, 2))
    one = made_up(values, values)
    with pytest.raises(ValueError, match="one label a row"):
        disparity(one, ["a", "b"])
    for missing in (None, np.nan):
        with pytest.raises(ValueError, match=r"1 row\(s\) have no label"):
            disparity(one, np.array(["a", "b", "a", missing], object))
    with pytest.raises(ValueError, match="two groups or more"):
        disparity(one, ["a"] * 4)
    with pytest.raises(ValueError, match="not one of the groups"):
        disparity(one, list("abab"), reference="c")
    three = disparity(one, list("abca"))
    with pytest.raises(ValueError, match="several groups"):
        jaxshap.plots.disparity(three)
    with pytest.raises(ValueError, match="compared with"):
        jaxshap.plots.disparity(three, group="a")
    assert jaxshap.plots.disparity(three, group="c").get_xlabel()
