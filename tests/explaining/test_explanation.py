"""Explanation: indexing, tables, files, pictures and how it reads."""

import dataclasses
import html.parser
import zipfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import shap

import jaxshap
from jaxshap.explaining import number_text

NAMES = ("age", "<income>", "zip", "rooms")


def explanation(rows=5, outputs=("no", "yes"), seed=0):
    rng = np.random.default_rng(seed)
    shape = (rows, 4, *([len(outputs)] if outputs else []))
    return jaxshap.Explanation(
        values=rng.normal(size=shape),
        std_error=rng.uniform(0.01, 0.1, size=shape),
        base_values=rng.normal(size=(rows, *shape[2:])),
        data=rng.normal(size=(rows, 4)),
        feature_names=NAMES,
        output_names=outputs,
        num_evaluations=1234,
        value_function="marginal",
        estimator="Kernel()",
    )


def same(first, second):
    for field in dataclasses.fields(jaxshap.Explanation):
        ours, theirs = getattr(first, field.name), getattr(second, field.name)
        if isinstance(ours, np.ndarray):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype
        else:
            assert ours == theirs
            assert type(ours) is type(theirs)


@pytest.mark.parametrize("outputs", [("no", "yes"), None])
def test_a_file_brings_everything_back_without_pickle(tmp_path, outputs):
    ex = explanation(outputs=outputs)
    ex.save(tmp_path / "saved.npz")
    same(jaxshap.load(tmp_path / "saved.npz"), ex)
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    assert zipfile.is_zipfile(tmp_path / "saved.npz")


def test_a_file_of_something_else_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", values=np.zeros(3))
    with pytest.raises(ValueError, match="not a saved Explanation: it lacks"):
        jaxshap.load(tmp_path / "other.npz")


def test_a_row_and_a_feature_keep_their_axes_and_an_output_loses_its():
    ex = explanation()
    part = ex[3, "zip", "yes"]
    assert part.values.shape == part.std_error.shape == (1, 1)
    assert part.values[0, 0] == ex.values[3, 2, 1]
    assert part.base_values[0] == ex.base_values[3, 1]
    assert part.data[0, 0] == ex.data[3, 2]
    assert (part.feature_names, part.output_names) == (("zip",), ("yes",))


@pytest.mark.parametrize(
    ("index", "rows", "features"),
    [
        (2, [2], [0, 1, 2, 3]),
        (-1, [4], [0, 1, 2, 3]),
        (np.int64(1), [1], [0, 1, 2, 3]),
        (slice(1, 3), [1, 2], [0, 1, 2, 3]),
        ([0, 3], [0, 3], [0, 1, 2, 3]),
        (np.array([True, False, True, False, False]), [0, 2], [0, 1, 2, 3]),
        ([True, False, True, False, False], [0, 2], [0, 1, 2, 3]),
        ((slice(None), ["rooms", "age"]), [0, 1, 2, 3, 4], [3, 0]),
        ((slice(2), slice(1, 3)), [0, 1], [1, 2]),
        ((np.array([4, 0]), "zip"), [4, 0], [2]),
    ],
)
def test_indexing_by_number_name_slice_list_and_mask(index, rows, features):
    ex = explanation()
    part = ex[index]
    np.testing.assert_array_equal(part.values, ex.values[rows][:, features])
    np.testing.assert_array_equal(part.std_error, ex.std_error[rows][:, features])
    np.testing.assert_array_equal(part.data, ex.data[rows][:, features])
    np.testing.assert_array_equal(part.base_values, ex.base_values[rows])
    assert part.feature_names == tuple(NAMES[i] for i in features)
    assert part.output_names == ("no", "yes")
    assert len(part) == len(rows)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (5, IndexError),
        ((0, "sex"), KeyError),
        ((0, 4), IndexError),
        ((0, 0, "maybe"), KeyError),
        ("age", KeyError),
        (np.array([True, False]), IndexError),
        ((0, 0, 0, 0), IndexError),
    ],
)
def test_indices_that_are_not_there_are_refused(index, error):
    with pytest.raises(error):
        explanation()[index]


def test_an_output_of_an_explanation_without_outputs_is_refused():
    with pytest.raises((IndexError, KeyError)):
        explanation(outputs=None)[0, 0, "yes"]


def test_the_frame_has_a_line_for_every_value():
    ex = explanation()
    frame = ex.to_frame()
    assert list(frame.columns) == ["row", "feature", "output", "value", "std_error"]
    assert len(frame) == 5 * 4 * 2
    line = frame.query("row == 3 and feature == 'zip' and output == 'yes'")
    assert line["value"].item() == ex.values[3, 2, 1]
    assert line["std_error"].item() == ex.std_error[3, 2, 1]
    single = explanation(outputs=None).to_frame()
    assert list(single.columns) == ["row", "feature", "value", "std_error"]
    assert isinstance(single, pd.DataFrame)


def test_the_frame_is_of_the_library_that_is_passed():
    polars = pytest.importorskip("polars")
    ex = explanation()
    frame = ex.to_frame(polars)
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == list(ex.to_frame().columns)
    assert frame.rows() == list(ex.to_frame(pd).itertuples(index=False, name=None))


def test_shapiq_takes_one_row_and_output():
    ex = explanation()
    one = ex[3, :, "yes"]
    theirs = one.to_shapiq()
    assert [theirs[(player,)] for player in range(4)] == one.values[0].tolist()
    assert theirs.baseline_value == one.base_values.item()
    assert theirs.estimated is not one.exact
    with pytest.raises(ValueError, match=r"explanation\[0, :, 0\]"):
        ex[3].to_shapiq()


def test_shap_draws_it():
    ex = explanation(rows=30)[:, :, "yes"].to_shap()
    assert isinstance(ex, shap.Explanation)
    for draw, part in (
        (shap.plots.beeswarm, ex),
        (shap.plots.bar, ex),
        (shap.plots.waterfall, ex[0]),
    ):
        plt.figure()
        draw(part, show=False)
        labels = " ".join(text.get_text() for text in plt.gca().get_yticklabels())
        assert "age" in labels
        plt.close("all")


def test_shap_draws_several_outputs_and_groups():
    both = explanation(rows=8)
    shap.plots.bar(both.to_shap()[..., 1], show=False)
    grouped = dataclasses.replace(
        both[:, :, "no"], data=np.zeros((8, 9))
    )  # four players of nine columns
    shap.plots.waterfall(grouped.to_shap()[0], show=False)
    shap.plots.bar(grouped.to_shap(), show=False)
    plt.close("all")


def test_the_text_names_what_was_done_and_sorts_by_size():
    ex = explanation(rows=1, outputs=None)
    text = repr(ex)
    head, columns, *lines = text.splitlines()
    assert all(
        word in head
        for word in ("1 row ×", "4 features", "marginal", "Kernel()", "1,234 evaluations")
    )
    assert "(exact)" not in head
    assert "value ± error" in columns
    order = np.argsort(-np.abs(ex.values[0]))
    assert [line.split()[0] for line in lines] == [NAMES[i] for i in order]
    half = ex.interval(0.95).upper - ex.values
    value, error = lines[0].split()[1].replace("−", "-"), lines[0].split()[3]
    assert abs(float(value) - ex.values[0, order[0]]) <= 0.05 * half[0, order[0]]
    assert abs(float(error) - half[0, order[0]]) <= 0.05 * half[0, order[0]]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-0.22891, 8.6e-5, "−0.2289 ± 0.0001"),
        (-0.1988, 4e-5, "−0.1988 ± 0.00004"),
        (1.52e-5, 4.2e-5, "0.000015 ± 0.000042"),
        (-1.28e-6, 4e-5, "−0.000001 ± 0.000040"),
        (1e-9, 3e-10, "1e−09 ± 3e−10"),
    ],
)
def test_values_have_no_more_digits_than_their_errors_leave(value, error, text):
    assert number_text(value, error) == text


def test_the_text_of_exact_and_of_unknown_errors_says_so():
    ex = explanation(rows=1, outputs=None)
    zeros = dataclasses.replace(ex, std_error=np.zeros_like(ex.values))
    assert "(exact)" not in repr(zeros)  # it is a fact that the estimator states
    assert "(exact)" in repr(dataclasses.replace(zeros, exact=True))
    unknown = repr(dataclasses.replace(ex, std_error=np.full_like(ex.values, np.nan)))
    assert "(exact)" not in unknown
    assert "± ?" in unknown


def test_many_features_are_cut_short_and_counted():
    ex = explanation(rows=2, outputs=None)
    names = tuple(f"f{i}" for i in range(32))
    many = dataclasses.replace(
        ex,
        values=np.tile(ex.values, 8),
        std_error=np.tile(ex.std_error, 8),
        data=np.tile(ex.data, 8),
        feature_names=names,
    )
    assert "12 smaller features" in repr(many)
    assert len(repr(many).splitlines()) == 23


def test_the_html_is_a_table_with_bars_and_errors_and_escaped_names():
    seen = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)

    page = explanation()._repr_html_()
    Parser().feed(page)
    assert seen.count("tr") == 5
    assert seen.count("span") == 4 * 2  # a bar a value
    assert "±" in page
    assert "&lt;income&gt;" in page
    assert "income" not in seen


def test_an_output_is_picked_alike_by_python_and_numpy_integers():
    rows = np.random.default_rng(0).normal(size=(2, 3))
    ex = jaxshap.explain(
        jaxshap.host(lambda x: np.stack([x[:, 0], x[:, 1] * x[:, 2]], axis=1)), rows, rows
    )
    assert ex[:, :, np.int64(1)].values.shape == ex[:, :, 1].values.shape == (2, 3)


class TestSummary:
    """Means over rows with standard errors."""

    def explanation(self, shared=True, outputs=()):
        rng = np.random.default_rng(0)
        values, errors = rng.normal(size=(40, 3, *outputs)), rng.random((40, 3, *outputs)) / 10
        return jaxshap.Explanation(
            values=values,
            std_error=errors,
            base_values=np.zeros((40, *outputs)),
            data=np.zeros((40, 3)),
            feature_names=("a", "b", "c"),
            output_names=None,
            num_evaluations=2,
            value_function="marginal",
            estimator="x",
            shared_draws=shared,
        )

    def test_means_and_errors_of_rows_and_of_shared_draws(self):
        ex = self.explanation()
        found = ex.summary()
        np.testing.assert_allclose(found.values, np.abs(ex.values).mean(0))
        between = np.abs(ex.values).std(0, ddof=1) / np.sqrt(40)
        np.testing.assert_allclose(found.std_error, np.hypot(between, ex.std_error.mean(0)))
        apart = self.explanation(shared=False).summary()
        np.testing.assert_allclose(apart.std_error, between)
        np.testing.assert_allclose(ex.summary(absolute=False).values, ex.values.mean(0))

    def test_by_subgroup_and_by_class(self):
        ex = self.explanation(outputs=(2,))
        labels = np.array(["young", "old"] * 20)
        found = ex.summary(by=labels)
        assert found.groups.tolist() == ["old", "young"]
        assert found.values.shape == (2, 3, 2)
        np.testing.assert_allclose(found.values[0], np.abs(ex.values[1::2]).mean(0))
        with pytest.raises(ValueError, match="one label a row"):
            ex.summary(by=labels[:3])

    def test_its_errors_cover_the_mean_of_a_population(self):
        """Separate draws of an unbiased estimator, means of values over 30 rows of a population
        whose mean is known.

        100 keys; 95 % intervals of 100 independent tries hold fewer than 85 times once in ten
        thousand.
        """
        rng = np.random.default_rng(1)
        population = rng.normal(size=(400, 5)).astype(np.float32)

        def model(x):
            return x[:, 0] * x[:, 1] * x[:, 2] + x[:, 3] * x[:, 4] * x[:, 0] + x[:, 1]

        zero = np.zeros((1, 5), np.float32)
        truth = jaxshap.explain(model, population, zero).values[:, 1].mean()
        held = 0
        for key in range(100):
            rows = population[rng.choice(400, 30)]
            found = jaxshap.explain(
                model,
                rows,
                zero,
                estimator=jaxshap.Permutation(),
                budget=20,
                key=key,
                separate_draws=True,
            ).summary(absolute=False)
            held += abs(found.values[1] - truth) <= 1.96 * found.std_error[1]
        assert held >= 85


def test_a_large_background_asked_in_full_is_pointed_to_a_sample():
    whole = dataclasses.replace(
        explanation(2, outputs=None),
        value_function="marginal",
        num_evaluations=100,
        num_model_rows=100 * 5_000,
    )
    assert "with 5,000 background rows" in repr(whole)
    assert "model_rows=" in repr(whole)
    for fewer in ({"num_model_rows": 100 * 999}, {"num_evaluations": 4, "num_model_rows": 20_000}):
        assert "model_rows=" not in repr(dataclasses.replace(whole, **fewer))


class TestRankingNote:
    values = np.array([[5.0, -4.0, 1.0, 0.5, 0.0]])

    def shown(self, error, values=values):
        rows, features = values.shape
        names = tuple(f"f{number}" for number in range(features))
        shown = dataclasses.replace(
            explanation(rows, outputs=None),
            values=values,
            std_error=np.full(values.shape, error),
            data=values,
            feature_names=names,
        )
        assert ("Note" in shown._repr_html_()) == ("Note" in repr(shown))
        return repr(shown)

    def test_it_is_there_where_errors_exceed_the_differences_of_the_top_features(self):
        assert "Note: errors are larger than differences between the top 3" in self.shown(0.4)
        assert "so their order is not certain" in self.shown(0.4)

    def test_it_is_not_there_where_differences_are_clear_or_values_exact(self):
        assert "Note" not in self.shown(0.3)
        assert "Note" not in self.shown(0.0, np.ones((1, 5)))
        assert "Note" not in self.shown(0.0, np.ones((1, 1)))

    def test_it_counts_rows(self):
        values = np.concatenate([self.values, 10 * self.values])
        assert "in 1 of 2 cases" in self.shown(1.0, values)
