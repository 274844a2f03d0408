"""Tables, a module of models, and shorthands for the tests of `python -m jaxshap`."""

import json

import numpy as np
import pandas as pd

import jaxshap
from jaxshap.cli import main

NUMBERS = ["age", "income k", "tenure"]
MODULE = """
import numpy as np, jax.numpy as jnp

def in_jax(rows):
    return jnp.tanh(rows[:, 0] / 50) * rows[:, 1] + rows[:, 2]

def three(rows):
    return jnp.stack([rows[:, 0], rows[:, 1] * rows[:, 2], rows[:, 2]], axis=1)

def on_host(rows):
    return np.asarray(rows, float)[:, 0] * 2 + np.asarray(rows, float)[:, 1]

class Holder:
    in_jax = staticmethod(in_jax)

def failing(rows):
    raise RuntimeError("no weights")

def labels(rows):
    return np.where(np.asarray(rows)[:, 0] > 0, "yes", "no")

calls = 0

def _stopping(error):
    def predict(rows):
        global calls
        calls += 1
        if calls > 10:  # the first two are those of the check
            raise error
        return np.asarray(rows, float).sum(1) + np.asarray(rows, float)[:, 0] ** 2
    return predict

interrupted = _stopping(KeyboardInterrupt())
halfway = _stopping(RuntimeError("the server went away"))
"""


def customers():
    rng = np.random.default_rng(0)
    count = 60
    frame = pd.DataFrame(
        {
            "id": np.arange(count),
            "age": rng.integers(18, 80, count),
            "income k": rng.lognormal(3, 0.5, count).round(1),
            "city": rng.choice(["Leeds", "York", "Hull"], count),
            "tenure": rng.exponential(4, count).round(1),
        }
    )
    years = 0.04 * (frame.age - 45) - 0.2 * frame.tenure
    score = years + (frame.city == "York") + rng.normal(size=count)
    return frame.assign(churned=np.where(score > 0, "yes", "no"))


def wide_table(rows=20, columns=10):
    """So many columns that not every coalition is evaluated."""
    names = list("abcdefghijkl")[:columns]
    return pd.DataFrame(np.random.default_rng(0).normal(size=(rows, columns)), columns=names)


def explain(line, *more):
    return main(["explain", *line.split(), *more])


def refused(capsys, line, *more):
    """The message of a call that ends with 2."""
    try:
        code = explain(line, *more)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    return capsys.readouterr().err


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def values_of(folder):
    (path,) = folder.glob("values.*")
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def check_written(folder, expected):
    """All files agree with an explanation; returns the page and the data in it."""
    loaded = jaxshap.load(folder / "explanation.npz")
    np.testing.assert_array_equal(loaded.values, expected.values)
    np.testing.assert_array_equal(loaded.std_error, expected.std_error)
    assert loaded.feature_names == expected.feature_names
    frame = values_of(folder)
    assert list(frame.columns) == list(expected.to_frame().columns)
    np.testing.assert_allclose(frame["value"], expected.to_frame()["value"], rtol=1e-6)
    page = page_of(folder)
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["features"] == list(expected.feature_names)
    return page, data
