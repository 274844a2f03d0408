"""A script that was written for shap runs with another import and another explainer line."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage

import jaxshap

SCRIPT = """
import shap
sv = shap.Explainer(model, background)(X)
shap.plots.beeswarm(sv, max_display=3)
shap.plots.beeswarm(sv, color=plt.get_cmap("viridis"), show=False)
shap.plots.beeswarm(sv, order=sv.abs.max(0), alpha=0.5)
shap.plots.beeswarm(sv, plot_size=(8, 4))
shap.plots.beeswarm(sv, log_scale=True)
shap.plots.waterfall(sv[0], max_display=3)
shap.plots.waterfall(sv[0], 14)
shap.plots.bar(sv, max_display=3)
shap.plots.bar(sv[0], show_data=True)
shap.plots.bar(sv.abs.mean(0))
shap.plots.bar(sv.abs.max(0))
shap.plots.bar(sv.cohorts(town).abs.mean(0))
shap.plots.bar(sv.cohorts(2).abs.mean(0))
shap.plots.bar(sv, clustering=clustering)
shap.plots.bar(sv, clustering=clustering, clustering_cutoff=0.8)
shap.plots.force(sv[0], matplotlib=True)
shap.plots.force(sv.base_values[0], sv.values[0], X.iloc[0], matplotlib=True)
shap.plots.force(sv)
shap.plots.decision(sv.base_values[0], sv.values, X)
shap.plots.scatter(sv[:, "age"])
shap.plots.scatter(sv[:, "age"], color=sv[:, "pay"])
shap.plots.scatter(sv[:, "age"], color=sv, dot_size=8, alpha=0.7, hist=False)
shap.plots.scatter(sv[:, "age"], xmin=0, xmax=1)
shap.plots.heatmap(sv, max_display=3)
shap.plots.heatmap(sv, instance_order=sv.sum(1))
shap.plots.heatmap(sv, feature_values=sv.abs.max(0))
shap.plots.violin(sv, max_display=3)
shap.plots.violin(sv, plot_type="layered_violin")
shap.plots.group_difference(sv.values, mask, sv.feature_names)
shap.plots.partial_dependence("age", model, X)
shap.summary_plot(sv.values, X)
shap.summary_plot(sv.values, X, plot_type="bar")
shap.dependence_plot("age", sv.values, X)
sv.sample(5), len(sv), sv.shape, sv.abs, sv[..., 0], sv[:5], sv[0, "age"], sv.sum(1), sv.mean(0)
sv.values, sv.base_values, sv.data, sv.display_data, sv.feature_names
""".strip().splitlines()
PAGE = Path(__file__).parents[2] / "docs" / "coming-from-shap.md"
CODE = re.compile("`([^`]*)`")
OF_JAVASCRIPT = "shap.plots.force(sv)"


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 4)), columns=["age", "pay", "rooms", "floor"])

    def model(rows):
        rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
        return rows[:, 0] * rows[:, 1] + 2 * rows[:, 2] - rows[:, 3]

    town = rng.choice(["Oslo", "Rome"], 30)
    return {
        "model": model,
        "X": X,
        "background": X[:10],
        "town": town.tolist(),
        "clustering": linkage(X.to_numpy().T),
        "mask": town == "Rome",
        "plt": plt,
    }


@pytest.fixture(scope="module")
def changes():
    """The lines that change, from the page that says so; some need not be there at all."""
    rows = PAGE.read_text(encoding="utf-8").partition("## A script, line by line")[2].splitlines()
    cells = [CODE.findall(row) for row in rows if row.startswith("| `")]
    return {theirs: ours[0] if ours else "" for theirs, *ours in cells}


def run(line, names):
    """How many figures a line of a script draws."""
    exec(line, names)
    drawn = len(plt.get_fignums())
    plt.close("all")
    return drawn


@pytest.mark.filterwarnings("ignore")  # of shap
@pytest.mark.parametrize("of_shap", [True, False])
def test_a_shap_script_runs_after_the_changes_that_the_page_on_shap_lists(
    given, changes, of_shap, monkeypatch
):
    monkeypatch.setattr(plt, "show", lambda *_, **__: None)
    assert set(changes) - {"shap.initjs()"} <= set(SCRIPT)  # which only notebooks can run
    names = dict(given)
    for line in SCRIPT:
        drawn = run(line if of_shap else changes.get(line, line), names)
        assert drawn == line.startswith("shap.") - (of_shap and line == OF_JAVASCRIPT), line


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


def test_names_in_a_force_plot_have_values_and_do_not_overlap():
    rng = np.random.default_rng(1)
    fields = dict.fromkeys(("values", "std_error"), np.abs(rng.normal(size=(1, 8))))
    names = tuple(f"a long name {number}" for number in range(8))
    ex = jaxshap.Explanation(
        **fields,
        base_values=np.zeros(1),
        data=np.ones((1, 8)),
        feature_names=names,
        output_names=None,
        num_evaluations=9,
        value_function="marginal",
        estimator="Kernel()",
    )
    ax = jaxshap.plots.force(ex)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if " = " in text.get_text()]
    assert len(boxes) >= 6
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
    assert all("±" in text.get_text() for text in ax.texts if " = " in text.get_text())
    assert "95 %" in ax.get_xlabel()
    with pytest.raises(jaxshap.InputError, match="omit"):
        jaxshap.plots.force(ex, matplotlib=False)


def test_lines_of_a_decision_plot_go_from_the_base_value_to_the_predictions(explained):
    ax = jaxshap.plots.decision(explained, max_display=2)
    paths = np.array([line.get_xdata() for line in ax.lines[1:]])
    np.testing.assert_allclose(paths[:, 0], explained.base_values, rtol=1e-5)
    total = explained.base_values + explained.values.sum(1)
    np.testing.assert_allclose(paths[:, -1], total, atol=1e-5)
    assert texts(ax)[-1] == "2 smaller features"
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], total, atol=1e-5)
    assert ax.figure.axes[-1].get_ylabel() == "prediction"
    alone = jaxshap.plots.decision(explained[int(np.argmin(total))])
    alone.figure.canvas.draw()
    word = next(text for text in alone.texts if text.get_text().startswith("prediction"))
    assert alone.bbox.x0 <= word.get_window_extent().x0
    assert word.get_window_extent().x1 <= alone.bbox.x1


def test_a_group_difference_is_that_of_means_with_their_intervals(explained, given):
    mask = given["mask"]
    ax = jaxshap.plots.group_difference(explained, mask)
    inside, outside = explained.values[mask], explained.values[~mask]
    expected = inside.mean(0) - outside.mean(0)
    widths = [patch.get_width() for patch in ax.patches]
    np.testing.assert_allclose(widths, expected[np.argsort(-np.abs(expected))], rtol=1e-4)
    assert ax.get_xlabel().startswith("mean Shapley value: of the group less that of other rows")
    with pytest.raises(jaxshap.InputError, match="two rows or more"):
        jaxshap.plots.group_difference(explained, np.zeros(30, bool))


def test_features_that_are_clustered_stand_side_by_side(explained):
    merges = np.array([[0, 2, 0.1, 2], [1, 3, 0.2, 2], [4, 5, 1.0, 4]])
    names = texts(jaxshap.plots.bar(explained, clustering=merges))
    assert abs(names.index("age") - names.index("rooms")) == 1
    with pytest.raises(jaxshap.InputError, match="linkage"):
        jaxshap.plots.bar(explained, clustering=merges[:2])


def test_features_and_rows_are_drawn_in_the_order_that_is_asked_for(explained):
    largest = np.abs(explained.values).max(0)
    drawn = texts(jaxshap.plots.beeswarm(explained, order=explained.abs.max(0)))
    assert drawn[::-1] == [explained.feature_names[place] for place in np.argsort(-largest)]
    assert texts(jaxshap.plots.beeswarm(explained, order=[3, 2, 1, 0]))[0] == "age"
    ax = jaxshap.plots.heatmap(explained, instance_order=explained.sum(1))
    np.testing.assert_array_equal(np.diff(ax.lines[-1].get_ydata()) >= 0, True)
    with pytest.raises(jaxshap.InputError, match="each of their numbers once"):
        jaxshap.plots.heatmap(explained, instance_order=[0, 0])


def test_brackets_end_at_the_cutoff_and_names_can_stand_alone(explained, given):
    for cutoff, count in (({}, 3), ({"clustering_cutoff": 0.0}, 0)):
        ax = jaxshap.plots.bar(explained, clustering=given["clustering"], **cutoff)
        assert len(ax.child_axes[0].lines) == count
    assert "age" in texts(jaxshap.plots.bar(explained[0], show_data=False))


def test_one_output_is_drawn_two_classes_as_the_second_and_three_must_be_picked(explained):
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
    one = jaxshap.explain(lambda x: x[:, :1] * x[:, 1:2], np.array([[1.0, 2.0]]), np.zeros((1, 2)))
    assert one.shape == (1, 2, 1)  # as of a network with one unit at its end
    np.testing.assert_allclose(jaxshap.plots.bar(one).patches[0].get_width(), 1.0)
    assert "× 1 output:" in str(one)
    three = jaxshap.explain(lambda x: x, np.eye(3), np.zeros((1, 3)))
    with pytest.raises(jaxshap.InputError, match="pick one"):
        jaxshap.plots.violin(three)
