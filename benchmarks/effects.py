"""PDP and ICE of 20 features at 50 points over 1,000 rows, against scikit-learn's brute force with
the same model.

    python benchmarks/effects.py

Both get the same jitted function, compiled before the clock starts; scikit-learn by way of an
estimator whose predict calls it, with its own checks switched off. Calls take turns, and the best
of several counts. The gain is largest for models that cost little: scikit-learn calls the model
once a grid point, and a large model takes most of its time.
"""

import argparse
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import report
import sklearn
from jax.tree_util import Partial
from jaxtyping import Array, Float
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import partial_dependence

import jaxshap

ROWS, FEATURES, POINTS = 1000, 20, 50
WIDTHS = {
    "logistic regression": None,
    "network, 8 hidden": 8,
    "network, 32 hidden": 32,
    "network, 128 hidden": 128,
}


class Regressor(RegressorMixin, BaseEstimator):
    """What scikit-learn needs around a function."""

    def __init__(self, function: Callable):
        self.function = function

    def fit(self, rows, target=None):
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows):
        return np.asarray(self.function(rows))


def network(weights, rows: Float[Array, "points features"]) -> Float[Array, "points"]:
    return jnp.tanh(rows @ weights[0]) @ weights[1]


def logistic(weights, rows: Float[Array, "points features"]) -> Float[Array, "points"]:
    return jax.nn.sigmoid(rows @ weights)


def model_of(width: int | None) -> Callable:
    rng = np.random.default_rng(0)
    shapes = [(FEATURES,)] if width is None else [(FEATURES, width), (width,)]
    weights = [
        jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[0]), jnp.float32) for shape in shapes
    ]
    return jax.jit(Partial(logistic, weights[0]) if width is None else Partial(network, weights))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=25)
    repeats = parser.parse_args().repeats
    table = np.random.default_rng(1).normal(size=(ROWS, FEATURES)).astype(np.float32)
    lines = []
    for name, width in WIDTHS.items():
        model = model_of(width)
        calls = {
            "model": lambda m=model: [np.asarray(m(table)) for _ in range(FEATURES * POINTS)],
            "sklearn": lambda m=model: theirs(m, table),
            "both": lambda m=model: ours(m, table),
            "pdp": lambda m=model: jaxshap.effects.pdp(
                m, table, list(range(FEATURES)), grid_resolution=POINTS
            ),
        }
        first, gap = (
            {one: _seconds(call) for one, call in calls.items()},
            _gap(calls["sklearn"](), calls["both"]()),
        )
        turns = [{one: _seconds(call) for one, call in calls.items()} for _ in range(repeats)]
        best = {one: min(turn[one] for turn in turns) for one in calls}
        gain = best["sklearn"] / best["both"]
        seconds = [f"{1000 * best[one]:.0f} ms" for one in calls]
        lines.append((name, *seconds, f"{gain:.1f}×", f"{first['both']:.1f} s", f"{gap:.0e}"))
        print(*lines[-1], sep="  ", flush=True)
    calls_of_model = f"its {FEATURES * POINTS:,} calls"
    header = (
        "model",
        calls_of_model,
        "scikit-learn",
        "jaxshap",
        "PDP alone",
        "gain",
        "first call",
        "largest gap",
    )
    notes = [
        f"{FEATURES} features × {POINTS} points × {ROWS} rows, PDP and ICE, from jaxshap with "
        "standard errors; best of",
        f"{repeats}, in turns. Calls of the model: the jitted function alone, once a grid point, "
        "the least that",
        "scikit-learn can take. First call: of jaxshap, with compilation. Largest gap: between the "
        "curves of rows.",
    ]
    title = f"Effects: PDP and ICE against scikit-learn {sklearn.__version__}"
    report.write_table(__file__, title, header, lines, notes)


def theirs(model: Callable, table: Float[np.ndarray, "rows features"]) -> list[np.ndarray]:
    estimator, how = (
        Regressor(model),
        {"kind": "both", "method": "brute", "grid_resolution": POINTS},
    )
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        found = [
            partial_dependence(estimator, table, [feature], **how) for feature in range(FEATURES)
        ]
    return [one["individual"][0] for one in found]


def ours(model: Callable, table: Float[np.ndarray, "rows features"]) -> list[np.ndarray]:
    curves = jaxshap.effects.ice(model, table, list(range(FEATURES)), grid_resolution=POINTS)
    averages = [one.average() for one in curves]
    jax.block_until_ready([(one.values, one.std_error) for one in averages])
    return [np.asarray(one.values) for one in curves]


def _gap(first: list[np.ndarray], second: list[np.ndarray]) -> float:
    return max(float(np.abs(one - other).max()) for one, other in zip(first, second, strict=True))


def _seconds(call: Callable) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
