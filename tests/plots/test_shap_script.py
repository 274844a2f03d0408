"""A script that was written for shap runs with another import and another explainer line."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage

import jaxshap

SCRIPT = """
import shap
explainer = shap.Explainer(model, background)
shap_values = explainer(X)
shap.plots.beeswarm(shap_values, max_display=5, show=False)
shap.plots.beeswarm(shap_values, color=plt.get_cmap("viridis"), show=False)
shap.plots.waterfall(shap_values[0], max_display=5, show=False)
shap.plots.bar(shap_values, max_display=5, show=False)
shap.plots.bar(shap_values[0], show=False)
shap.plots.force(shap_values[0])
shap.plots.decision(shap_values)
shap.plots.scatter(shap_values[:, "age"], show=False)
shap.plots.scatter(shap_values[:, "age"], color=shap_values[:, "pay"], show=False)
shap.plots.scatter(shap_values[:, "age"], color=shap_values, show=False)
shap.plots.heatmap(shap_values, max_display=5, show=False)
shap.plots.violin(shap_values, max_display=5, show=False)
shap.plots.bar(shap_values.cohorts(town).abs.mean(0), show=False)
shap.plots.bar(shap_values, clustering=clustering, show=False)
shap.plots.group_difference(shap_values, group_mask, show=False)
shap.plots.bar(shap_values.abs.mean(0), show=False)
shap_values.sample(5), len(shap_values), shap_values.shape, shap_values.abs
shap_values.values, shap_values.base_values, shap_values.data, shap_values.display_data
"""
CHANGES = {
    "import shap": "import jaxshap as shap",
    "explainer = shap.Explainer(model, background)": "",
    "explainer(X)": "shap.explain(model, X, background)",
    "shap.plots.decision(shap_values)": "shap.plots.decision(shap_values)",
}


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 4)), columns=["age", "pay", "rooms", "floor"])

    def model(rows):
        return rows[:, 0] * rows[:, 1] + 2 * rows[:, 2] - rows[:, 3]

    town = rng.choice(["Oslo", "Rome"], 30)
    return {
        "model": model,
        "X": X,
        "background": X[:10],
        "town": town,
        "clustering": linkage(X.to_numpy().T),
        "group_mask": town == "Rome",
        "plt": plt,
    }


def test_a_shap_script_runs_after_changing_its_import_and_its_explainer_line(given):
    script = SCRIPT
    for theirs, ours in CHANGES.items():
        script = script.replace(theirs, ours)
    assert len(set(SCRIPT.splitlines()) - set(script.splitlines())) == 3
    plt.close("all")
    exec(script, dict(given))
    assert len(plt.get_fignums()) == 16  # every picture in a figure of its own
    plt.close("all")


@pytest.fixture(scope="module")
def explained(given):
    return jaxshap.explain(given["model"], given["X"], given["background"])


def texts(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_a_force_plot_has_the_base_value_and_the_prediction_and_parts_that_add_up(explained):
    ax = jaxshap.plots.force(explained[3])
    ends = [line.get_xdata()[0] for line in ax.lines]
    base, prediction = float(explained.base_values[3]), float(explained[3].values.sum())
    np.testing.assert_allclose(ends, [base, base + prediction], rtol=1e-5)
    widths = [np.ptp(part.get_xy()[[1, 4], 0]) for part in ax.patches]
    np.testing.assert_allclose(sum(widths), np.abs(explained.values[3]).sum(), rtol=1e-5)


def test_lines_of_a_decision_plot_go_from_the_base_value_to_the_predictions(explained):
    ax = jaxshap.plots.decision(explained, max_display=2)
    paths = np.array([line.get_xdata() for line in ax.lines[1:]])
    np.testing.assert_allclose(paths[:, 0], explained.base_values, rtol=1e-5)
    total = explained.base_values + explained.values.sum(1)
    np.testing.assert_allclose(paths[:, -1], total, atol=1e-5)
    assert texts(ax)[-1] == "2 smaller features"


def test_a_group_difference_is_that_of_means_with_their_intervals(explained, given):
    mask = given["group_mask"]
    ax = jaxshap.plots.group_difference(explained, mask)
    inside, outside = explained.values[mask], explained.values[~mask]
    expected = inside.mean(0) - outside.mean(0)
    widths = [patch.get_width() for patch in ax.patches]
    np.testing.assert_allclose(widths, expected[np.argsort(-np.abs(expected))], rtol=1e-4)
    with pytest.raises(jaxshap.InputError, match="two rows or more"):
        jaxshap.plots.group_difference(explained, np.zeros(30, bool))


def test_features_that_are_clustered_stand_side_by_side(explained):
    merges = np.array([[0, 2, 0.1, 2], [1, 3, 0.2, 2], [4, 5, 1.0, 4]])
    names = texts(jaxshap.plots.bar(explained, clustering=merges))
    assert abs(names.index("age") - names.index("rooms")) == 1
    with pytest.raises(jaxshap.InputError, match="linkage"):
        jaxshap.plots.bar(explained, clustering=merges[:2])


def test_two_classes_are_drawn_as_the_second_and_three_must_be_picked(explained):
    two = jaxshap.explain(
        lambda x: np.stack([1 - x[:, 0], x[:, 0]], axis=1),
        np.array([[0.2], [0.7]]),
        np.array([[0.5]]),
        output_names=["no", "yes"],
    )
    ax = jaxshap.plots.bar(two)
    assert "yes" in ax.get_xlabel()
    np.testing.assert_allclose(ax.patches[0].get_width(), 0.25, rtol=1e-5)
    assert "no" not in str(two).split("\n")[1].split()
    three = jaxshap.explain(lambda x: x, np.eye(3), np.zeros((1, 3)))
    with pytest.raises(jaxshap.InputError, match="pick one"):
        jaxshap.plots.violin(three)
