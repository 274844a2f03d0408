"""Bad input gets an error that says what is wrong and what to do, before any expensive work."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 3)).astype(np.float32) for count in (6, 9))
NAMES = ["age", "income", "zip"]


class Model:
    """A host model that counts the rows it has been asked about."""

    def __init__(self):
        self.num_rows = 0

    def predict(self, rows):
        self.num_rows += len(rows)
        return np.asarray(rows, np.float64).sum(1)


def frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


def spoil(rows, *columns):
    table = frame(rows).astype(object)
    for column in columns:
        table[column] = "north"
    return table


BAD = {
    "too few columns in the background": (
        ROWS,
        BACKGROUND[:, :2],
        {},
        ValueError,
        "has 2 columns, and 3 are expected",
    ),
    "a missing column": (
        frame(ROWS),
        frame(BACKGROUND)[NAMES[:2]],
        {},
        ValueError,
        r"lacks the columns \['zip'",
    ),
    "an unknown column": (
        frame(ROWS),
        frame(BACKGROUND).assign(a=1.0),
        {},
        ValueError,
        r"not expected: \['a'\]",
    ),
    "a repeated column": (
        frame(ROWS)[["age", "age", "zip"]],
        BACKGROUND,
        {},
        ValueError,
        r"one name: \['age'\]",
    ),
    "no rows": (ROWS[:0], BACKGROUND, {}, ValueError, "X must be a non-empty table"),
    "no rows in a frame": (frame(ROWS[:0]), frame(BACKGROUND), {}, ValueError, "X has no rows"),
    "no background": (
        ROWS,
        BACKGROUND[:0],
        {},
        ValueError,
        "the background must be a non-empty table",
    ),
    "a single row": (ROWS[0], BACKGROUND, {}, ValueError, r"A single row is X\[None\]"),
    "a row of a frame": (
        frame(ROWS).iloc[0],
        frame(BACKGROUND),
        {},
        ValueError,
        r"is frame\.iloc\[\[0\]\]",
    ),
    "strings": (
        spoil(ROWS, "zip"),
        BACKGROUND,
        {},
        TypeError,
        r"not numbers: \['zip'\]. Encode them",
    ),
    "strings in the background": (
        frame(ROWS),
        spoil(BACKGROUND, "age", "zip"),
        {},
        ValueError,
        "the column 'age' holds .* give it the same dtype in both",
    ),
    "an array of strings": ([["a", "b", "c"]], BACKGROUND, {}, TypeError, "not numbers"),
    "numbers written as strings": ([["1", "2", "3"]], BACKGROUND, {}, TypeError, "not numbers"),
    "an unknown group": (
        frame(ROWS),
        BACKGROUND,
        {"groups": {"g": ["age", "sex"]}},
        ValueError,
        "column 'sex'",
    ),
    "an unknown column number": (
        ROWS,
        BACKGROUND,
        {"groups": [[0, 3]]},
        ValueError,
        r"has columns 0\.\.2",
    ),
    "overlapping groups": (
        ROWS,
        BACKGROUND,
        {"groups": [[0, 1], [1, 2]]},
        ValueError,
        r"\['x1'\] are in more",
    ),
    "the same group twice": (
        ROWS,
        BACKGROUND,
        {"groups": [[0, 1], [0, 1]]},
        ValueError,
        "must not overlap",
    ),
    "a column twice in a group": (
        ROWS,
        BACKGROUND,
        {"groups": [[0, 0]]},
        ValueError,
        "more than one group",
    ),
    "an empty group": (
        ROWS,
        BACKGROUND,
        {"groups": {"none": []}},
        ValueError,
        r"\['none'\] cover no column",
    ),
    "a group named like another column": (
        frame(ROWS),
        BACKGROUND,
        {"groups": {"zip": ["age", "income"]}},
        ValueError,
        "'zip'.*(name|column)",
    ),
    "a budget too small": (ROWS, BACKGROUND, {"budget": 5}, ValueError, "pass budget=6 or more"),
    "a budget too small for one ordering": (
        ROWS,
        BACKGROUND,
        {"budget": 5, "estimator": jaxshap.Permutation()},
        ValueError,
        "pass budget=6 or more",
    ),
    "a tolerance of nothing": (
        ROWS,
        BACKGROUND,
        {"tol": 0},
        ValueError,
        "tol=0: pass a number above 0",
    ),
    "too many output names": (
        ROWS,
        BACKGROUND,
        {"output_names": ["a", "b"]},
        ValueError,
        "2 output_names",
    ),
    "too few feature names": (
        ROWS,
        BACKGROUND,
        {"feature_names": ["a", "b"]},
        ValueError,
        "X has 3 columns, and 2",
    ),
    "a batch of nothing": (
        ROWS,
        BACKGROUND,
        {"batch_size": 0},
        ValueError,
        'positive whole number, or "auto"',
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_refused_before_any_expensive_work(case):
    """At most the rows themselves, the background, and a look at two rows are asked for."""
    X, background, options, error, message = BAD[case]
    model = Model()
    with pytest.raises(error, match=message):
        jaxshap.explain(model, X, background, **options)
    assert model.num_rows <= len(ROWS) + len(BACKGROUND) + 2


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (lambda x: x.sum(), ValueError, "one result a row"),
        (lambda x: x.T @ x, ValueError, "one result a row"),
        (lambda x: np.asarray(x)[:1, 0], ValueError, "one result a row"),
        (lambda x: np.array(["no"] * len(np.asarray(x))), TypeError, "probabilities or scores"),
        (lambda x: {"score": x[:, 0]}, ValueError, "one array"),
        (3, TypeError, "int is not"),
    ],
)
def test_models_that_return_the_wrong_thing_are_refused(model, error, message):
    with pytest.raises(error, match=message):
        jaxshap.explain(model, ROWS, BACKGROUND)


def test_a_model_with_a_fault_of_its_own_shows_it():
    with pytest.raises(KeyError, match="my own fault"):
        jaxshap.explain(lambda x: {}["my own fault"], ROWS, BACKGROUND)


@pytest.mark.parametrize("count", [6, 17])
def test_nan_in_a_prediction_says_which_row_and_how_many(count):
    """17 rows are padded to 18: what is added must not be counted."""
    rows = np.random.default_rng(1).normal(size=(count, 3)).astype(np.float32)
    rows[[2, -1], 0] = 9
    with pytest.raises(ValueError, match=r"for 2 row\(s\), the first is row 2"):
        jaxshap.explain(lambda x: jnp.where(x[:, 0] > 5, jnp.nan, x[:, 0]), rows, BACKGROUND)


def test_infinity_in_the_background_says_which_row():
    background = BACKGROUND.copy()
    background[4, 1] = 9
    with pytest.raises(
        ValueError, match=r"for 1 background row\(s\), the first is background row 4"
    ):
        jaxshap.explain(lambda x: jnp.where(x[:, 1] > 5, jnp.inf, x[:, 0]), ROWS, background)


@pytest.mark.parametrize("wrap", [lambda f: f, jaxshap.host], ids=["traced", "host"])
def test_nan_at_masked_inputs_alone_says_which_rows(wrap):
    """The model fails only where the first feature is the row's and the second the background's."""
    rows, background = np.zeros((17, 3), np.float32), np.ones((4, 3), np.float32)
    rows[5:] = 1

    def model(x):
        xp = np if isinstance(x, np.ndarray) else jnp
        return xp.where((x[:, 0] == 0) & (x[:, 1] == 1), xp.nan, x[:, 2]).astype(np.float32)

    with pytest.raises(
        jaxshap.EvaluationError,
        match=r"10 of 102 masked inputs, in 5 row\(s\).*first is row 0, with 2 of 6",
    ):
        jaxshap.explain(wrap(model), rows, background)


def test_errors_in_the_data_are_not_mended():
    """A NaN in X that the model passes on is refused, not replaced."""
    rows = ROWS.copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"for 1 row\(s\), the first is row 3"):
        jaxshap.explain(lambda x: x.sum(1), rows, BACKGROUND)
