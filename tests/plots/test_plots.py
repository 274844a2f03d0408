"""Pictures show what the explanation says, in the axes given, and change nothing else."""

import dataclasses
import itertools
import pickle
import random
import re
import statistics
import sys

import jax
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import jaxshap
from jaxshap import plots
from jaxshap.plots.style import signed_colours

NORMAL = statistics.NormalDist().inv_cdf(0.975)  # standard errors on either side of an interval
NAMES = ("age", "income", "zip", "rooms", "floor", "year")
PLAYERS = jaxshap.patches((4, 6), 2)


def explanation(rows=1, features=6, outputs=None, seed=0, **changes):
    rng = np.random.default_rng(seed)
    shape = (rows, features, *([len(outputs)] if outputs else []))
    parts = {
        "values": rng.normal(size=shape),
        "std_error": rng.uniform(0.01, 0.3, size=shape),
        "base_values": rng.normal(size=(rows, *shape[2:])),
        "data": rng.normal(size=(rows, features)),
        "feature_names": NAMES
        if features == 6
        else tuple(f"a feature of number {i}" for i in range(features)),
        "output_names": outputs,
        "num_evaluations": 100,
        "value_function": "marginal",
        "estimator": "Kernel()",
    }
    return jaxshap.Explanation(**(parts | changes))


def images(rows=1, outputs=None):
    return explanation(
        rows, len(PLAYERS), outputs, data=np.random.default_rng(3).random((rows, 4, 6, 3))
    )


@pytest.fixture(scope="module")
def diagnosed():
    X = np.random.default_rng(0).normal(size=(25, 4)).astype(np.float32)
    return jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X[:3], X).diagnose()


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lengths(ax):
    return np.array([patch.get_width() for patch in ax.patches])


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def error_bars(ax):
    """Ends (x, y) of all error bars that are seen, in the order in which they were drawn."""
    drawn = [bars.lines[2][0].get_segments() for bars in ax.containers if hasattr(bars, "has_xerr")]
    ends = [part for segments in drawn for part in segments if len(part) == 2]
    return np.array(ends).reshape(-1, 2, 2)


def error_extents(ax):
    return error_bars(ax)[:, :, 0]


def arrays_of(ex):
    return [part.copy() for part in (ex.values, ex.std_error, ex.base_values, ex.data)]


OURS = {
    "bar": (plots.bar, explanation()),
    "bar of several rows": (plots.bar, explanation(9)),
    "waterfall": (plots.waterfall, explanation()),
    "classes": (plots.classes, explanation(outputs=("a", "b", "c"))),
    "classes of several rows": (plots.classes, explanation(9, outputs=("a", "b", "c"))),
    "compare": (lambda ex, ax: plots.compare({"one": ex, "two": ex}, ax=ax), explanation()),
    "convergence": (lambda ex, ax: plots.convergence([ex], ax=ax), explanation()),
    "patches": (lambda ex, ax: plots.patches(ex, PLAYERS.owner, ax=ax), images()),
    "residual_shares": (
        lambda ex, ax: plots.residual_shares(
            jaxshap.Estimate(ex.values[0], ex.std_error[0]), NAMES, ax=ax
        ),
        explanation(),
    ),
}
THEIRS = {
    "beeswarm": (plots.beeswarm, explanation(30)),
    "scatter": (lambda ex, ax: plots.scatter(ex, "age", ax=ax), explanation(30)),
    "scatter by": (lambda ex, ax: plots.scatter(ex, "age", color="zip", ax=ax), explanation(30)),
    "heatmap": (plots.heatmap, explanation(30)),
    "shap_bar": (plots.shap_bar, explanation(30)),
}
ALONE = {  # in figures of their own, or no figure
    "shap_waterfall": (plots.shap_waterfall, explanation()),
    "image": (lambda ex: plots.image(ex, PLAYERS.owner), images(2, ("a", "b"))),
    "text": (plots.text, explanation(2)),
}
IN_AXES = OURS | THEIRS


@pytest.mark.parametrize("name", IN_AXES)
def test_a_picture_is_drawn_in_the_axes_given_and_returns_them(name):
    draw, ex = IN_AXES[name]
    _, ax = plt.subplots()
    assert draw(ex, ax=ax) is ax
    assert plt.get_fignums() == [1]


@pytest.mark.parametrize("name", [*IN_AXES, *ALONE])
def test_a_picture_changes_neither_its_input_nor_any_global_state(name, capfd):
    draw, ex = (IN_AXES | ALONE)[name]
    before = arrays_of(ex)
    np.random.seed(5)  # noqa: NPY002
    np.random.randn()  # noqa: NPY002 (half a pair of normal numbers is part of the state)
    random.seed(5)
    plt.ion()
    try:
        numpy_state = np.random.get_state()  # noqa: NPY002
        python_state, settings = random.getstate(), dict(plt.rcParams)
        draw(ex) if name in ALONE else draw(ex, ax=None)
        assert dict(plt.rcParams) == settings
        assert plt.isinteractive()
    finally:
        plt.ioff()
    for one, other in zip(numpy_state, np.random.get_state(), strict=True):  # noqa: NPY002
        np.testing.assert_array_equal(one, other)
    assert random.getstate() == python_state
    for one, other in zip(before, arrays_of(ex), strict=True):
        np.testing.assert_array_equal(one, other)
    assert capfd.readouterr().out == ""


def test_a_diagnosis_changes_nothing_and_is_drawn_in_two_axes(diagnosed):
    def pickled():
        return pickle.dumps(jax.tree.map(np.asarray, dataclasses.asdict(diagnosed)["additivity"]))

    before = pickled()
    _, axes = plt.subplots(1, 2)
    left, right = plots.diagnosis(diagnosed, axes=axes)
    assert (left, right) == tuple(axes)
    assert pickled() == before


def test_shap_scatters_points_the_same_way_each_time():
    np.random.seed(1)  # noqa: NPY002
    first = plots.scatter(explanation(30), "age").collections[0].get_offsets()
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(
        first, plots.scatter(explanation(30), "age").collections[0].get_offsets()
    )


def test_two_texts_on_a_page_have_elements_of_their_own():
    assert plots.text(explanation()) != plots.text(explanation())


def test_bars_are_values_and_their_errors_1_96_standard_errors():
    ex = explanation()
    ax = plots.bar(ex, max_display=4)
    order = np.argsort(-np.abs(ex.values[0]))[:4]
    values, errors = ex.values[0, order], NORMAL * ex.std_error[0, order]
    np.testing.assert_allclose(lengths(ax), values)
    np.testing.assert_allclose(
        error_extents(ax), np.stack([values - errors, values + errors], axis=1)
    )
    assert [label.split(" = ")[0] for label in labels(ax)] == [NAMES[i] for i in order]
    assert labels(ax)[0].endswith(f"{ex.data[0, order[0]]:.4g}".replace("-", "−"))
    assert "2 smaller ones not shown" in ax.get_xlabel()


@pytest.mark.parametrize("shared", [True, False])
def test_errors_of_a_mean_fall_with_the_number_of_rows_only_where_draws_are_separate(shared):
    ex = explanation(9, shared_draws=shared)
    ax = plots.bar(ex)
    means = np.abs(ex.values).mean(0)
    order = np.argsort(-means)
    errors = ex.std_error.mean(0) if shared else np.sqrt((ex.std_error**2).sum(0)) / 9
    np.testing.assert_allclose(lengths(ax), means[order])
    np.testing.assert_allclose(np.diff(error_extents(ax), axis=1)[:, 0] / 2, NORMAL * errors[order])
    assert labels(ax) == [NAMES[i] for i in order]
    assert "over 9 rows" in ax.get_xlabel()
    assert ax.get_xlim()[0] == 0


@pytest.mark.parametrize(("features", "most"), [(6, 10), (6, 5), (6, 3), (200, 10), (1, 10)])
def test_a_waterfall_goes_from_the_base_value_to_the_prediction(features, most):
    ex = explanation(features=features)
    ax = plots.waterfall(ex, max_display=most)
    base, prediction = ex.base_values[0], ex.base_values[0] + ex.values[0].sum()
    starts = np.array([patch.get_x() for patch in ax.patches])
    ends = starts + lengths(ax)
    np.testing.assert_allclose(starts, [base, *ends[:-1]], atol=1e-12)
    np.testing.assert_allclose(ends[-1], prediction, atol=1e-12)
    (dots,) = [line for line in ax.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(dots.get_xdata(), [base, prediction])
    assert labels(ax)[0] == "base value"
    assert labels(ax)[-1] == "prediction"
    np.testing.assert_allclose(error_extents(ax).mean(1), ends)
    hidden = features - most
    assert len(ax.patches) == (features if hidden <= 1 else most + 1)
    assert (f"{hidden} smaller features" in labels(ax)) == (hidden > 1)
    low, high = ax.get_xlim()
    assert (error_extents(ax) > low).all()
    assert (error_extents(ax) < high).all()


def test_a_waterfall_writes_values_with_their_errors():
    values, errors = np.array([[-2.0, 1234.5, 0.5]]), np.array([[0.25, 50.0, 0.0]]) / NORMAL
    ex = explanation(features=3, values=values, std_error=errors, base_values=np.array([0.25]))
    texts = [text.get_text() for text in plots.waterfall(ex).texts]
    assert texts == ["0.25", "+1,234 ± 50", "−2.00 ± 0.25", "+0.5", "1,233"]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-20.5, 1.5, "−20.5 ± 1.5"),
        (0.0447, 0.0015, "+0.0447 ± 0.0015"),
        (-3.3912, 1.52, "−3.4 ± 1.5"),
        (1.23456, 1e-6, "+1.235 ± 1e-06".replace("-", "−")),
        (0.0, 0.2, "+0.00 ± 0.20"),
        (-0.001, 0.2, "+0.00 ± 0.20"),
        (3e-9, 1e-10, "+3e-09 ± 1e-10".replace("-", "−")),
        (123456.7, 8.9, "+123,457 ± 9"),
        (2.5, np.nan, "+2.5"),
    ],
)
def test_numbers_have_the_digits_that_their_errors_leave(value, error, text):
    ex = explanation(features=1, values=np.array([[value]]), std_error=np.array([[error]]) / NORMAL)
    assert plots.waterfall(ex).texts[1].get_text() == text


def test_the_error_of_the_smaller_features_is_the_tighter_of_two_bounds():
    values = np.array([[5.0, 4.0, 0.3, 0.2, 0.1]])
    for errors in ([1, 2, 0.1, 0.2, 0.3], [0.1, 0.2, 1, 2, 3]):
        ex = explanation(features=5, values=values, std_error=np.array([errors], float))
        half = np.diff(error_extents(plots.waterfall(ex, max_display=2)), axis=1)[-1, 0] / 2
        np.testing.assert_allclose(half, NORMAL * min(sum(errors[:2]), sum(errors[2:])))


def test_the_error_of_the_smaller_features_holds_over_keys():
    """The spread of their sum over 40 keys is at most its bound.

    By chance it is 1.36 times too large once in 1,000.
    """
    row = np.array([[1, 6, 0.5, 0.6, 0.7, 0.8, 0.9, 1]], np.float32)

    def model(x):
        return x[:, 0] * x[:, 1:].sum(1)  # the first plays with all: errors then go together

    sums, bounds = [], []
    for key in range(40):
        estimator = jaxshap.Permutation(antithetic=False)
        ex = jaxshap.explain(model, row, 0 * row, estimator=estimator, budget=80, key=key)
        ax = plots.waterfall(ex, max_display=2)
        sums.append(lengths(ax)[-1])
        bounds.append(np.diff(error_extents(ax), axis=1)[-1, 0] / 2 / NORMAL)
        plt.close("all")
    assert np.std(sums, ddof=1) <= 1.36 * np.sqrt(np.mean(np.square(bounds)))


def test_compared_values_stand_at_the_name_of_their_feature():
    first = explanation()
    second = explanation(seed=1)[:, list(NAMES[::-1])]
    ax = plots.compare({"first": first, "second": second}, max_display=6)
    names = [label.split(" = ")[0] for label in labels(ax)]
    wanted = [ex[0, name].values[0, 0] for ex in (first, second) for name in names]
    errors = [NORMAL * ex[0, name].std_error[0, 0] for ex in (first, second) for name in names]
    np.testing.assert_allclose(lengths(ax), wanted)
    np.testing.assert_allclose(np.diff(error_extents(ax), axis=1)[:, 0] / 2, errors)
    middles = [patch.get_y() + patch.get_height() / 2 for patch in ax.patches]
    np.testing.assert_allclose(error_bars(ax)[:, 0, 1], middles)
    np.testing.assert_array_equal(np.round(middles), np.tile(np.arange(6), 2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]


def test_classes_of_a_row_stand_side_by_side():
    ex = explanation(outputs=("a", "b", "c"))
    ax = plots.classes(ex, max_display=6)
    names = [label.split(" = ")[0] for label in labels(ax)]
    wanted = [ex[0, name, output].values[0, 0] for output in "abc" for name in names]
    np.testing.assert_allclose(lengths(ax), wanted)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_classes_of_rows_stand_on_each_other_and_end_at_their_sum():
    ex = explanation(9, outputs=("a", "b", "c"))
    ax = plots.classes(ex, max_display=6)
    means = np.abs(ex.values).mean(0)
    order = np.argsort(-means.sum(1))
    np.testing.assert_allclose(lengths(ax).reshape(3, 6), means[order].T)
    starts = np.array([patch.get_x() for patch in ax.patches]).reshape(3, 6)
    np.testing.assert_allclose(starts, (np.cumsum(means, 1) - means)[order].T, atol=1e-12)
    extents = error_extents(ax)
    np.testing.assert_allclose(extents.mean(1), means.sum(1)[order])
    np.testing.assert_allclose(
        np.diff(extents, axis=1)[:, 0] / 2, NORMAL * ex.std_error.mean(0).sum(1)[order]
    )


def test_convergence_draws_the_row_asked_for_in_order_of_evaluations():
    given = [
        explanation(3, seed=seed, num_evaluations=count)
        for seed, count in ((0, 400), (1, 100), (2, 200))
    ]
    ax = plots.convergence(given, 1, ["zip", "age"])
    for name, bars in zip(("zip", "age"), ax.containers, strict=True):
        line, _, (errors,) = bars.lines
        ordered = [given[i][1, name] for i in (1, 2, 0)]
        np.testing.assert_allclose(line.get_ydata(), [ex.values[0, 0] for ex in ordered])
        np.testing.assert_allclose(line.get_xdata(), [100, 200, 400], rtol=0.15)
        ends = [[segment[0, 1], segment[1, 1]] for segment in errors.get_segments()]
        wanted = [
            ex.values[0, 0] + NORMAL * ex.std_error[0, 0] * np.array([-1, 1]) for ex in ordered
        ]
        np.testing.assert_allclose(ends, wanted)
        assert bars.get_label() == name
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "200", "400"]


def test_patches_have_their_signs_and_hatching_where_these_are_not_certain():
    values = np.array([[3.0, -3.0, 1.0, -1.0, 0.01, 2.0]])
    errors = np.array([[0.1, 0.1, 1.0, 1.0, 0.001, 0.1]])
    ax = plots.patches(
        dataclasses.replace(images(), values=values, std_error=errors), PLAYERS.owner
    )
    signs = {(text.get_position(), text.get_text()) for text in ax.texts}
    assert signs == {
        ((0.5, 0.5), "+"),
        ((2.5, 0.5), "−"),
        ((4.5, 2.5), "+"),  # the fifth is next to nothing
    }
    (hatched,) = ax.collections
    assert hatched.hatches == ["//"]
    inside = [[hatched.get_paths()[0].contains_point((x, y)) for x in range(6)] for y in range(4)]
    np.testing.assert_array_equal(inside, np.isin(PLAYERS.owner, [2, 3]))
    assert "hatched" in ax.figure.axes[-1].get_ylabel()


def test_colours_of_patches_are_those_of_the_colour_bar_where_the_image_is_white():
    ex = dataclasses.replace(images(), data=np.ones((1, 4, 6)))
    ax = plots.patches(ex, PLAYERS.owner)
    drawn = np.asarray(ax.images[0].get_array())
    extent = 1.25 * np.abs(ex.values).max()
    wanted = signed_colours()((ex.values[0] / extent + 1) / 2)[:, :3]
    light = drawn[..., 0] / wanted[PLAYERS.owner][..., 0]
    np.testing.assert_allclose(drawn, wanted[PLAYERS.owner] * light[..., None], rtol=1e-6)
    np.testing.assert_allclose(light, light[0, 0], rtol=1e-6)
    assert ax.figure.axes[-1].get_ylim() == pytest.approx((-extent / 1.25, extent / 1.25))


def test_pixels_that_nobody_owns_stay_grey():
    owner = np.where(PLAYERS.owner == 0, -1, PLAYERS.owner - 1)
    drawn = np.asarray(plots.patches(images()[:, 1:], owner).images[0].get_array())[owner == -1]
    np.testing.assert_allclose(drawn, drawn[:, :1] * np.ones(3), rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "patch"), [((4, 6, 3), (2, 2, 3)), ((3, 4, 6), (3, 2, 2)), ((4, 6, 1), (2, 2, 1))]
)
def test_channels_that_share_their_owners_are_drawn_as_one(shape, patch):
    players = jaxshap.patches(shape, patch)
    ex = explanation(1, len(players), data=np.ones((1, *shape)), owner=players.owner)
    assert plots.patches(ex).images[0].get_array().shape == (4, 6, 3)


@pytest.mark.parametrize(("shape", "window"), [((12, 2), (4, 2)), ((2, 12), (2, 4))])
def test_a_series_of_several_channels_has_a_line_for_each_over_its_windows(shape, window):
    players = jaxshap.patches(shape, window)
    ex = explanation(1, 3, data=np.arange(24.0).reshape(1, *shape), owner=players.owner)
    ax = plots.series(ex)
    assert [len(line.get_xdata()) for line in ax.lines] == [12, 12]
    assert len(ax.patches) == 3


def test_shap_draws_images_in_a_grid_of_rows_and_outputs():
    ex = images(2, ("a", "b"))
    axes = plots.image(ex, PLAYERS.owner)
    assert axes.shape == (2, 3)
    assert [ax.get_title() for ax in axes[0]] == ["", "a", "b"]
    np.testing.assert_allclose(axes[1, 2].images[-1].get_array(), ex.values[1, :, 1][PLAYERS.owner])


def test_pictures_of_shap_have_our_colours_and_name_what_values_are():
    ex, signs = images(1, ("a",)), {to_rgb(plots.POSITIVE), to_rgb(plots.NEGATIVE)}
    axes = plots.image(ex, PLAYERS.owner)
    assert axes[0, 1].images[-1].cmap == signed_colours()
    assert axes[0, 0].figure.axes[-1].get_xlabel() == ex.kind
    for draw in (plots.shap_bar, plots.shap_waterfall):
        ax = draw(explanation())
        assert {to_rgb(patch.get_facecolor()) for patch in ax.patches} == signs
    assert plots.shap_bar(explanation()).get_xlabel() == ex.kind
    colours = re.findall(r"rgba?\((\d+), (\d+), (\d+)", plots.text(explanation()))
    assert {tuple(int(part) / 255 for part in colour) for colour in colours} == signs


def test_words_have_no_colours_of_low_and_high_and_no_histogram():
    ex = explanation(30, words={"age": tuple("abcd"), "zip": ("False", "True")})
    ex.data[:, [0, 2]] = np.arange(30)[:, None] % [4, 2]
    plain = dataclasses.replace(ex, words={})
    coloured = [
        len(
            [
                dots
                for dots in plots.beeswarm(one).collections
                if dots.get_cmap()
                and dots.get_array() is not None
                and len(dots.get_offsets()) == 30
            ]
        )
        for one in (ex, plain)
    ]
    assert coloured == [5, 6]
    for one, boxes in ((ex, 1), (plain, 2)):
        assert len(plots.scatter(one, "age").figure.axes) == boxes
    bar = plots.scatter(ex, "income", color="zip", hist=False).figure.axes[-1]
    assert [label.get_text() for label in bar.get_yticklabels()] == ["False", "True"]


def test_the_colour_that_scatter_finds_for_itself_is_in_words_too():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=40), "rest": rng.normal(size=40)})
    table["town"] = rng.choice(["Oslo", "Rome"], 40)
    ex = jaxshap.explain(lambda x: x["age"] * (x["town"] == "Rome") + x["rest"], table, table)
    bar = plots.scatter(ex, "age", color=ex, hist=False).figure.axes[-1]
    assert bar.get_ylabel() == "town"
    assert [label.get_text() for label in bar.get_yticklabels()] == ["Oslo", "Rome"]


def test_texts_hold_the_words_of_their_rows():
    ex = explanation(2)
    words = [["this", "is", "not", "so", "bad", "?"], ["but", "that", "<is>", "by", "far", "."]]
    page = plots.text(ex, words)
    assert all(word in page for word in ("bad", "far", "&lt;is&gt;"))
    assert "rooms" in plots.text(ex)
    for one in (page, plots.text(ex[0])):
        assert re.search(r"background: rgba\([\d.]+, [\d.]+, [\d.]+, [\d.]+\)", one)
        assert "float64" not in one  # in place of a colour


def test_residual_shares_are_drawn_in_percent_with_their_errors():
    shares = jaxshap.Estimate(np.array([0.1, 0.5, 0.3]), np.array([0.01, 0.02, np.nan]))
    ax = plots.residual_shares(shares, ["a", "b", "c"], max_display=2)
    np.testing.assert_allclose(lengths(ax), [50, 30])
    np.testing.assert_allclose(error_extents(ax), [[50 - 2 * NORMAL, 50 + 2 * NORMAL]])
    assert labels(ax) == ["b", "c"]
    assert "1 smaller one not shown" in ax.get_xlabel()


def test_an_explanation_holds_no_shares():
    with pytest.raises(TypeError, match=r"jaxshap\.residuals\.shares"):
        plots.residual_shares(explanation())
    assert len(plots.residual_shares(np.ones((3, 1))).patches) == 3


@pytest.mark.parametrize(
    "draw", [plots.interaction_heatmap, plots.interaction_network, plots.interaction_bars]
)
def test_interactions_of_one_row_are_drawn_with_the_names_of_their_explanation(draw):
    game = jaxshap.table(np.arange(8.0)[:, None] ** 2)
    found = jaxshap.interactions.exact_interactions(game)
    ex = explanation(1, 3, feature_names=("age", "pay", "zip"), interactions=found.at([0]))
    ax = draw(ex)
    places = [*ax.child_axes, *ax.figure.axes]
    said = {text.get_text() for one in places for text in [*one.get_yticklabels(), *one.texts]}
    assert said >= {"age", "pay", "zip"}
    draw(found)  # of one row, which needs no picking
    with pytest.raises(jaxshap.InputError, match="interactions=2"):
        draw(explanation())
    with pytest.raises(jaxshap.InputError, match=r"ex\[0\]"):
        draw(explanation(2))


LONG = [f"the name of a feature that is long, {number}" for number in range(7)]


@pytest.mark.parametrize("draw", [plots.interaction_bars, plots.interaction_heatmap])
def test_all_of_a_picture_of_interactions_is_within_its_figure_and_numbers_have_room(draw):
    worths = np.random.default_rng(0).normal(size=128).astype(np.float32)
    found = jaxshap.interactions.exact_interactions(jaxshap.table(worths))
    ax = draw(found, names=LONG)
    figure = ax.figure
    figure.canvas.draw()
    width, height = figure.get_size_inches()
    drawn = figure.get_tightbbox()
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= -0.01  # inches
    cell = np.ptp(ax.transData.transform([(0, 0), (1, 1)]), axis=0)[0]
    assert all(text.get_window_extent().width < cell for text in ax.texts)


def test_numbers_along_an_axis_do_not_run_into_each_other_beside_long_names():
    values = np.array([[0.095, -0.048, 0.047, 0.042, 0.019, -0.015, -0.007]])
    parts = {"values": values, "std_error": np.full((1, 7), 0.005), "feature_names": tuple(LONG)}
    ax = plots.bar(explanation(1, 7, **parts))
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
    boxes = sorted(boxes, key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_credible_intervals_are_drawn_around_the_values_and_name_what_they_are_of():
    game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
    for maker, name in (("efficient_bayes_shap", "Shapley value"), ("bayes_shap", "coefficient")):
        posterior = getattr(jaxshap.trust, maker)(0, game, 100)
        ax = plots.credible_intervals(posterior, ["a", "b", "c"], level=0.8, max_display=2)
        order = np.argsort(-np.abs(posterior.values))[:2]
        np.testing.assert_allclose(ax.lines[0].get_xdata(), posterior.values[order])
        ends = np.stack(posterior.interval(0.8), axis=1)[order]
        np.testing.assert_allclose(error_extents(ax), ends, rtol=1e-5)
        assert labels(ax) == [["a", "b", "c"][player] for player in order]
        assert f"{name} (80 % credible intervals)" in ax.get_xlabel()
        assert "1 smaller one not shown" in ax.get_xlabel()
    several = jaxshap.table(np.arange(8.0).reshape(4, 2))
    with pytest.raises(jaxshap.InputError, match="a game with a single output"):
        plots.credible_intervals(jaxshap.trust.bayes_shap(0, several, 20))


def test_a_diagnosis_draws_its_shares(diagnosed):
    left, right = plots.diagnosis(diagnosed)
    pairwise = diagnosed.additivity.pairwise.overall
    np.testing.assert_allclose(
        lengths(left),
        100 * np.array([diagnosed.additivity.additive.overall, pairwise, 1 - pairwise]),
    )
    shares = 100 * diagnosed.off_manifold.by_feature.mean(0)
    np.testing.assert_allclose(lengths(right), np.sort(shares)[::-1])
    extents = np.diff(error_extents(right), axis=1)[:, 0] / 2
    wanted = (
        196 * diagnosed.off_manifold.by_feature_error.mean(0)[np.argsort(-shares, kind="stable")]
    )
    np.testing.assert_allclose(extents, wanted[wanted > 0])
    assert left.get_title(loc="left").startswith(f"Verdict: {diagnosed.additivity.verdict}\n")


def test_a_diagnosis_without_a_background_says_so(diagnosed):
    _, right = plots.diagnosis(dataclasses.replace(diagnosed, off_manifold=None))
    assert "not measured" in right.texts[0].get_text()


@pytest.mark.parametrize("name", [name for name in OURS if name != "residual_shares"])
def test_unknown_errors_have_no_bars_and_are_said_to_be_unknown(name):
    draw, ex = OURS[name]
    ax = draw(dataclasses.replace(ex, std_error=np.full_like(ex.values, np.nan)), ax=None)
    assert not len(error_bars(ax))
    said = " ".join([ax.get_xlabel(), ax.get_ylabel(), ax.figure.axes[-1].get_ylabel()])
    assert "not known" in said
    assert "95 %" not in said


def test_errors_known_in_part_and_exact_values_are_said_to_be_so():
    ex = explanation()
    errors = ex.std_error.copy()
    errors[0, :3] = np.nan
    ax = plots.bar(dataclasses.replace(ex, std_error=errors))
    assert "where known" in ax.get_xlabel()
    assert len(error_extents(ax)) == 3
    exact = plots.bar(dataclasses.replace(ex, std_error=np.zeros_like(errors), exact=True))
    assert "(exact)" in exact.get_xlabel()
    assert not len(error_extents(exact))


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("values", ["zero", "constant", "negative"])
def test_values_without_spread_are_drawn(name, values, recwarn):
    draw, ex = OURS[name]
    changed = {
        "zero": 0 * ex.values,
        "constant": 0 * ex.values + 2,
        "negative": -np.abs(ex.values),
    }[values]
    ax = draw(dataclasses.replace(ex, values=changed), ax=None)
    ax.figure.canvas.draw()
    assert not recwarn.list


def test_a_waterfall_that_goes_nowhere_is_within_its_axes():
    ax = plots.waterfall(
        explanation(values=np.zeros((1, 6)), std_error=np.zeros((1, 6)), base_values=np.ones(1))
    )
    low, high = ax.get_xlim()
    assert low < 1 < high - 0.1


@pytest.mark.parametrize(
    "draw", [plots.bar, plots.waterfall, lambda ex: plots.compare({"one": ex})]
)
@pytest.mark.parametrize("features", [1, 200])
def test_one_feature_and_200_with_long_names_are_drawn(draw, features):
    names = tuple(f"a name that goes on and on and on and on, {i}" for i in range(features))
    ax = draw(explanation(features=features, feature_names=names))
    assert len(labels(ax)) == len(set(labels(ax))) <= 14
    assert max(map(len, labels(ax))) < 50


@pytest.mark.parametrize("draw", [plots.bar, plots.beeswarm])
def test_names_that_differ_in_their_middle_are_told_apart(draw):
    names = tuple(
        f"the reading of sensor number {i} that is next to the inlet valve" for i in range(6)
    )
    drawn = labels(draw(explanation(30, feature_names=names)))
    assert sorted(drawn) == [f"…{i} that is next to the inlet valve" for i in range(6)]


@pytest.mark.parametrize("draw", [plots.beeswarm, plots.heatmap, plots.shap_bar])
def test_long_names_leave_room_for_the_pictures_of_shap(draw):
    names = tuple(f"a name that goes on and on and on and on and on and on, {i}" for i in range(6))
    ax = draw(explanation(30, feature_names=names))
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.35


@pytest.mark.parametrize("name", [*OURS, *THEIRS])
def test_dollars_in_names_are_not_mathematics(name):
    draw, ex = (OURS | THEIRS)[name]
    names = tuple(f"{feature} $\\frac$" for feature in ex.feature_names)
    if name.startswith("scatter"):

        def draw(ex, ax):
            return plots.scatter(ex, 0, color=1, ax=ax)

    ax = draw(dataclasses.replace(ex, feature_names=names), ax=None)
    ax.figure.canvas.draw()  # mathematics that cannot be read is an error here


@pytest.mark.parametrize(
    ("number", "text"),
    [(94117, "94117"), (-52312.7, "−52313"), (0.12345, "0.1235"), (2.5e12, "2.5e+12")],
)
def test_what_a_feature_was_has_all_digits_before_its_point(number, text):
    ax = plots.bar(explanation(features=1, data=np.array([[number]])))
    assert labels(ax)[0].endswith(f" = {text}")


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (
            lambda: plots.bar(explanation(outputs=("no", "yes"))),
            r'pick one, such as ex\[:, :, "no"\]',
        ),
        (
            lambda: plots.beeswarm(explanation(9, outputs=("no", "yes"))),
            r'pick one, such as ex\[:, :, "no"\]',
        ),
        (
            lambda: plots.convergence([explanation(outputs=("no", "yes"))]),
            r'such as ex\[:, :, "no"\]',
        ),
        (lambda: plots.patches(images(1, ("a", "b")), PLAYERS.owner), r'such as ex\[:, :, "a"\]'),
        (
            lambda: plots.waterfall(explanation(9)),
            r"one row and there are 9: pick one, such as ex\[0\]",
        ),
        (lambda: plots.shap_waterfall(explanation(9)), r"such as ex\[0\]"),
        (lambda: plots.patches(images(2), PLAYERS.owner), r"such as ex\[0\]"),
        (
            lambda: plots.patches(images(), np.zeros((4, 6))),
            r"pass jaxshap\.patches\(\.\.\.\)\.owner",
        ),
        (lambda: plots.patches(images(), PLAYERS.owner + 1), "there are 6 players"),
        (
            lambda: plots.patches(explanation(), np.arange(4).repeat(2).reshape(2, 4)),
            "there are 6 players",
        ),
        (
            lambda: plots.patches(explanation(), np.r_[0:6, 5].reshape(1, 7)),
            "not images of 1 × 7 pixels",
        ),
        (lambda: plots.classes(explanation()), "draws several outputs"),
        (lambda: plots.compare({}), "pass a dict"),
        (
            lambda: plots.compare({"a": explanation(), "b": explanation(2)}),
            "the same rows and features",
        ),
        (
            lambda: plots.compare({"a": explanation(), "b": explanation(features=5)}),
            "the same rows and features",
        ),
        (lambda: plots.convergence([]), "growing budgets"),
        (lambda: plots.convergence([explanation(), explanation(features=5)]), "different features"),
        (lambda: plots.heatmap(explanation()), "bar or waterfall"),
        (lambda: plots.scatter(images(5), 0), "not columns of a table"),
        (lambda: plots.text(explanation(2), [["a"] * 6]), "6 words for each of 2 rows"),
        (lambda: plots.residual_shares(np.zeros((3, 2))), r"shares\[:, 0\]"),
        (lambda: plots.residual_shares(np.zeros(3), ["a"]), "1 names for 3 players"),
        (
            lambda: plots.bar(explanation(), max_display=0),
            "max_display=0: pass a whole number, 1 or more",
        ),
        (lambda: plots.bar(explanation(3)[[]]), "nothing to draw"),
    ],
)
def test_wrong_input_is_refused_with_what_to_do(draw, says):
    with pytest.raises(ValueError, match=says):
        draw()
    assert not plt.get_fignums()


def test_a_diagnosis_in_one_axis_is_refused(diagnosed):
    with pytest.raises(ValueError, match="pass two axes"):
        plots.diagnosis(diagnosed, axes=[plt.subplots()[1]])


@pytest.mark.parametrize("name", [*OURS, *THEIRS, *ALONE])
def test_a_missing_package_is_named_with_how_to_install_it(name, monkeypatch):
    draw, ex = (IN_AXES | ALONE)[name]
    for package in ("matplotlib",) if name in OURS else ("matplotlib", "shap"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=r'pip install "jaxshap\[plots\]"'):
                draw(ex) if name in ALONE else draw(ex, ax=None)
