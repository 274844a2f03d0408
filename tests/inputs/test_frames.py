"""DataFrames as people have them: every one that the fitted model takes is explained as it is."""

import datetime
import decimal
import zlib

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import jaxshap

RNG = np.random.default_rng(0)
COUNT = 40
CITIES = ["Rome", "Oslo", "Bern"]


def table(count=COUNT):
    """One column of each kind, with missing entries where the kind has them."""
    frame = pd.DataFrame(
        {
            "float": RNG.normal(size=count),
            "whole": RNG.integers(0, 9, count),
            "small": RNG.normal(size=count).astype(np.float32),
            "truth": RNG.random(count) > 0.5,
            "text": RNG.choice(CITIES, count),
            "object": pd.Series(RNG.choice(["a", "b", "c"], count), dtype=object),
            "category": pd.Categorical(RNG.choice(["low", "mid", "high"], count), ordered=True),
            "nullable": pd.array(RNG.integers(0, 5, count), dtype="Int64"),
            "maybe": pd.array(RNG.random(count) > 0.5, dtype="boolean"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 9, count), "D"),
            "zone": pd.date_range("2020-01-01", periods=count, tz="Europe/Rome"),
            "decimal": [decimal.Decimal(int(number)) / 4 for number in RNG.integers(0, 9, count)],
            "identity": 2**60 + RNG.integers(0, 9, count),
        }
    )
    for name in ("float", "text", "object", "category", "nullable", "maybe", "day"):
        frame.loc[RNG.choice(count, 4, replace=False), name] = None
    return frame


def arrow(frame):
    import pyarrow as pa

    kinds = {
        "float": pa.float64(),
        "whole": pa.int64(),
        "text": pa.string(),
        "truth": pa.bool_(),
        "nullable": pa.int32(),
    }
    return frame[list(kinds)].astype({name: pd.ArrowDtype(kind) for name, kind in kinds.items()})


def score(frame):
    """A number for each row that depends on every entry, and on its type."""
    rows = zip(*frame, strict=True)
    kinds = [[f"{type(entry).__name__} {entry}" for entry in row] for row in rows]
    return np.array([sum(zlib.crc32(kind.encode()) % 97 for kind in row) for row in kinds], float)


class Recorder:
    """A function of DataFrames that keeps those it was given."""

    def __init__(self):
        self.frames = []

    def __call__(self, frame):
        self.frames.append(frame)
        columns = [frame[name].to_list() for name in frame.columns]
        return score(columns)


def by_hand(model, X, background):
    """Exact values of two groups of columns, by mixing DataFrames with pandas itself."""
    half = X.shape[1] // 2
    first = list(X.columns[:half])
    worths = []
    for present in ([], first, [name for name in X.columns if name not in first], list(X.columns)):
        total = 0.0
        for place in range(len(background)):
            mixed = pd.concat([background.iloc[[place]]] * len(X), ignore_index=True)
            for name in present:
                mixed[name] = X[name].reset_index(drop=True)
            total = total + model(mixed) / len(background)
        worths.append(total)
    none, one, other, both = worths
    value = (one - none + both - other) / 2
    return np.stack([value, both - none - value], axis=1)


@pytest.mark.parametrize("kind", ["numpy", "arrow"])
def test_values_are_those_of_mixing_the_entries_themselves(kind):
    frame = table()
    frame = arrow(frame) if kind == "arrow" else frame
    X, background = frame[:3], frame[3:6]
    half = X.shape[1] // 2
    groups = {"first": list(X.columns[:half]), "second": list(X.columns[half:])}
    model = Recorder()
    ex = jaxshap.explain(model, X, background, groups=groups)
    np.testing.assert_allclose(ex.values, by_hand(Recorder(), X, background), atol=1e-6)


def test_the_model_gets_the_dtypes_and_labels_that_the_table_has():
    frame = table().rename(columns={"small": 3})
    model = Recorder()
    names = list(map(str, frame.columns))
    jaxshap.explain(model, frame[:2], frame[2:4], groups=[names[:5], names[5:]])
    for given in model.frames:
        assert given.columns.tolist() == frame.columns.tolist()
        assert given.dtypes.astype(str).tolist() == frame.dtypes.astype(str).tolist()


def test_the_explanation_shows_entries_and_numbers_their_order():
    frame = table()[["text", "category", "truth", "day", "nullable", "float"]]
    ex = jaxshap.explain(Recorder(), frame, frame[:2], estimator=jaxshap.Permutation(), budget=20)
    shown = ex.display_data
    for place, name in enumerate(frame.columns[:4]):
        missing = frame[name].isna()
        assert shown[~missing, place].tolist() == [
            str(entry).removesuffix(" 00:00:00") for entry in frame[name][~missing]
        ]
        assert set(shown[missing, place]) <= {"missing"}
    known = frame["nullable"].notna().to_numpy()
    np.testing.assert_array_equal(ex.data[known, 4], frame["nullable"][known].to_numpy(int))
    assert ex.words["text"] == tuple(sorted(CITIES))
    assert ex.words["category"] == tuple(frame["category"].cat.categories)


def test_columns_are_matched_by_name_and_categories_of_both_tables_are_known():
    X = pd.DataFrame({"a": pd.Categorical(["x"]), "b": [1.0]})
    background = pd.DataFrame({"b": [2.0, 3.0], "a": pd.Categorical(["y", "x"])})
    ex = jaxshap.explain(lambda frame: (frame["a"] == "x") * 4.0 + frame["b"], X, background)
    np.testing.assert_allclose(ex.values, [[2.0, -1.5]])


@pytest.mark.parametrize(
    ("X", "background", "message"),
    [
        ({"a": ["x"]}, {"a": [1.0]}, "same dtype"),
        ({"a": [["x"]]}, {"a": [["y"]]}, "divide it into columns"),
        ({"a": pd.Series(["x", None, np.nan], dtype=object)}, {"a": ["x"]}, "several kinds"),
    ],
)
def test_columns_that_cannot_be_mixed_are_refused(X, background, message):
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.explain(Recorder(), pd.DataFrame(X), pd.DataFrame(background))


def test_a_background_without_names_is_refused_for_a_table_of_texts():
    with pytest.raises(jaxshap.InputError, match="both DataFrames"):
        jaxshap.explain(Recorder(), pd.DataFrame({"a": ["x"]}), np.zeros((1, 1)))


def test_fractions_that_are_drawn_for_truth_stay_fractions():
    frame = pd.DataFrame({"truth": RNG.random(40) > 0.5, "number": RNG.normal(size=40)})
    drawn = []

    def model(frame):
        drawn.extend(frame["truth"].astype(float))
        return frame["truth"].astype(float) + frame["number"]

    jaxshap.explain(model, frame[:2], frame, value=jaxshap.conditional)
    assert any(0 < number < 1 for number in drawn)


def test_value_functions_that_draw_new_numbers_are_refused_for_entries_that_have_none():
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "b": RNG.normal(size=8), "c": RNG.normal(size=8)})
    with pytest.raises(jaxshap.InputError, match="none of its entries"):
        jaxshap.explain(Recorder(), frame[:2], frame, value=jaxshap.conditional)


def test_texts_are_sent_to_the_helper_for_texts():
    with pytest.raises(jaxshap.InputError, match="explain_texts"):
        jaxshap.explain(lambda texts: np.ones(len(texts)), ["not bad"], ["x"])
    with pytest.raises(jaxshap.InputError, match="explain_texts"):
        jaxshap.explain(Recorder(), pd.Series(["not bad"]), pd.Series(["x"]))


def test_a_jax_model_of_numbers_gets_truth_and_nullable_numbers_as_numbers():
    frame = pd.DataFrame({"truth": [True, False], "number": pd.array([3, 4], dtype="Int64")})
    ex = jaxshap.explain(lambda x: x @ jnp.array([1.0, 2.0], x.dtype), frame[:1], frame[1:])
    np.testing.assert_allclose(ex.values, [[1.0, -2.0]])


class TestPolars:
    def test_frames_go_to_the_model_as_they_are(self):
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame(
            {
                "text": ["a", "b", None, "a"],
                "number": [1, 2, 3, None],
                "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
                "truth": [True, None, False, True],
                "float": [0.5, 1.5, 2.5, 3.5],
            }
        )
        model = Recorder()
        ex = jaxshap.explain(model, frame[:2], frame[1:])
        total = ex.base_values + ex.values.sum(1)
        np.testing.assert_allclose(total, model(frame[:2]), atol=1e-9)
        assert all(given.schema == frame.schema for given in model.frames)
        assert ex.display_data[0].tolist()[::2] == ["a", "2020-01-01", 0.5]
        assert ex.data[:, 1].tolist() == [1.0, 2.0]


class TestWholeNumbers:
    def test_token_numbers_in_a_table_stay_whole(self):
        vectors = jnp.arange(10.0)
        X, background = np.array([[3, 5]]), np.array([[0, 1]])
        ex = jaxshap.explain(lambda ids: vectors[ids].sum(1), X, background)
        np.testing.assert_allclose(ex.values, [[3.0, 4.0]])
        on_host = jaxshap.explain(
            lambda ids: np.arange(10.0)[np.asarray(ids)].sum(1), X, background
        )
        np.testing.assert_allclose(on_host.values, [[3.0, 4.0]])

    @pytest.mark.parametrize("kind", [int, bool])
    def test_whole_numbers_and_truth_are_outputs(self, kind):
        X, background = np.array([[3.0, -5.0]]), np.zeros((2, 2))
        expected = [[float(kind(3)), 0.0]]
        for model in (
            lambda x: x[:, 0].astype(kind),
            jaxshap.host(lambda x: np.asarray(x)[:, 0].astype(kind)),
        ):
            np.testing.assert_allclose(jaxshap.explain(model, X, background).values, expected)
