"""Is jaxshap right and fast on this device? For anybody who has a GPU or a TPU.

    pip install jaxshap && python benchmarks/on_accelerator.py

Compares values and standard errors with those that a CPU found, which are stored beside this
script; measures explanations beside the bare model; and looks at the memory that they take. Prints
a report to paste into an issue, and ends with status 1 where a number is off. On a CPU it says so.
"""

import argparse
import functools
import json
import pathlib
import platform
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap

STORED = pathlib.Path(__file__).with_suffix(".json")
VALUE_TOLERANCE = 1e-4  # of the largest value: what float32 on another device may change
ERROR_TOLERANCE = 0.01  # of each standard error
FITTED_VALUES, FITTED_ERRORS = 0.1, 0.25  # of each standard error, where a process is fitted:
# in float32 in place of float64 on one and the same CPU, its errors move by 7 %
PLAYERS, HIDDEN = 12, 32
rng = np.random.default_rng(0)
ROWS, BACKGROUND, FIRST, LAST = (
    rng.normal(size=size).astype(np.float32)
    for size in ((4, PLAYERS), (40, PLAYERS), (PLAYERS, HIDDEN), (HIDDEN, 2))
)


def network(rows, first, last):
    """In full precision, so that what differs is the library's own arithmetic."""
    hidden = jnp.tanh(jnp.dot(rows, first / 3, precision="highest"))
    return jnp.dot(hidden, last / 6, precision="highest") + 1


def model():
    return jax.tree_util.Partial(lambda last, first, rows: network(rows, first, last), LAST, FIRST)


def estimates(value, estimator=None, background=BACKGROUND, budget=300):
    game = value(model(), jnp.asarray(ROWS), jnp.asarray(background))
    return jaxshap.estimate(7, game, estimator, budget)[:2]


def in_jit(value, estimator, background=BACKGROUND):
    def run(rows, background):
        game = value(model(), rows, background)
        return jaxshap.estimate(jax.random.key(7), game, estimator, 300)[:2]

    return jax.jit(run)(jnp.asarray(ROWS), jnp.asarray(background))


def gradient():
    def size(rows):
        game = jaxshap.marginal(model(), rows, jnp.asarray(BACKGROUND))
        return (jaxshap.estimate(7, game, jaxshap.Leverage(), 300).values ** 2).sum()

    return (jax.grad(size)(jnp.asarray(ROWS)),)


def interactions():
    game = jaxshap.marginal(model(), jnp.asarray(ROWS), jnp.asarray(BACKGROUND[:5]))
    return (jaxshap.interactions.exact_interactions(game).values,)


def residuals():
    game = jaxshap.marginal(model(), jnp.asarray(ROWS), jnp.asarray(BACKGROUND[:5]))
    return (jaxshap.residuals.norms(game),)


CHECKS = {
    "default": functools.partial(estimates, jaxshap.marginal),
    "default, one background row": functools.partial(
        estimates, jaxshap.baseline, background=BACKGROUND[:1]
    ),
    "Leverage": functools.partial(estimates, jaxshap.marginal, jaxshap.Leverage()),
    "Permutation": functools.partial(estimates, jaxshap.marginal, jaxshap.Permutation()),
    "Exact": functools.partial(
        estimates, jaxshap.marginal, jaxshap.Exact(), BACKGROUND[:5], 2**PLAYERS
    ),
    "conditional": functools.partial(estimates, jaxshap.conditional, jaxshap.Leverage()),
    "manifold": functools.partial(estimates, jaxshap.manifold, jaxshap.Leverage()),
    "default in jit": functools.partial(in_jit, jaxshap.baseline, jaxshap.OddGP(), BACKGROUND[:1]),
    "Leverage in jit": functools.partial(in_jit, jaxshap.marginal, jaxshap.Leverage()),
    "gradient": gradient,
    "interactions": interactions,
    "residuals": residuals,
}


FITTED = {"default, one background row", "default in jit"}


def found(name: str) -> list[list[float]]:
    return [np.asarray(part, np.float64).ravel().tolist() for part in CHECKS[name]()]


def check(name: str, stored: list[list[float]]) -> tuple[str, float, float, str]:
    """How far values moved, as a share of the largest, and errors, as a share of themselves.

    Values of a process that is fitted may move by a part of their standard errors, and no further.
    """
    values, *errors = map(np.asarray, found(name))
    expected, *known = map(np.asarray, stored)
    moved = float(np.abs(values - expected).max() / np.abs(expected).max())
    wider = 0.0
    for now, before in zip(errors, known, strict=True):
        apart = np.abs(now - before) / np.maximum(before, VALUE_TOLERANCE * np.abs(expected).max())
        wider = max(wider, float(apart.max()))
    if name in FITTED:
        close = (np.abs(values - expected) <= FITTED_VALUES * known[0]).all()
        right = bool(close) and wider <= FITTED_ERRORS
    else:
        right = moved <= VALUE_TOLERANCE and wider <= ERROR_TOLERANCE  # NaN is not
    return name, moved, wider, "right" if right else "WRONG"


def speed(num_rows: int, references: int) -> tuple[str, str, str, str, str]:
    """A wide network on the device: the first call, a later one, and the bare model."""
    sizes = (num_rows, 20), (references, 20), (20, 1024), (1024, 1024), (1024, 1)
    rows, background, *layers = (rng.normal(size=size).astype(np.float32) / 4 for size in sizes)

    def wide(layers, inputs):
        first, middle, last = layers
        return (jnp.tanh(jnp.tanh(inputs @ first) @ middle) @ last)[:, 0]

    predict = jax.tree_util.Partial(wide, jax.device_put(layers))
    settings = {"key": 3, "progress": False}
    first, explanation = _seconds(lambda: jaxshap.explain(predict, rows, background, **settings))
    later = _seconds(lambda: jaxshap.explain(predict, rows, background, **settings))[0]
    points = explanation.num_evaluations * num_rows * references
    batch = min(points, 2**16)
    inputs = jnp.ones((batch, 20), jnp.float32)
    bare = jax.jit(wide)
    bare(predict.args[0], inputs).block_until_ready()
    alone = _seconds(lambda: bare(predict.args[0], inputs).block_until_ready())[0]
    alone *= points / batch
    return (
        f"{num_rows} × {references}",
        f"{first:.2f} s",
        f"{later:.3f} s",
        f"{alone:.3f} s",
        f"{later / alone:.2f}",
    )


def memory(references: int) -> tuple[int, str, str]:
    """The most that the device held during an explanation with so many background rows."""
    rows, background = (rng.normal(size=(k, 50)).astype(np.float32) for k in (10, references))
    weights = rng.normal(size=(50, 256)).astype(np.float32)
    predict = jax.tree_util.Partial(lambda w, x: jnp.tanh(x @ w).sum(1), jax.device_put(weights))
    try:
        jaxshap.explain(predict, rows, background, estimator=jaxshap.Permutation(), budget=102)
    except jax.errors.JaxRuntimeError as error:
        return references, str(error).splitlines()[0][:80], "FAILED"
    held = jax.devices()[0].memory_stats() or {}
    if "peak_bytes_in_use" not in held:
        return references, "not known on this device", "fits"
    limit = held.get("bytes_limit", 0)
    shown = f"{held['peak_bytes_in_use'] / 2**30:.2f} of {limit / 2**30:.1f} GB since the start"
    return references, shown, "fits"


def _seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", action="store_true", help="store the values of this CPU")
    parser.add_argument("--quick", action="store_true", help="checks alone, no speed or memory")
    options = parser.parse_args()
    device, on_cpu = jax.devices()[0], jax.default_backend() == "cpu"
    if options.store:
        if not on_cpu:
            print("--store is for a CPU, whose values others are compared with.", file=sys.stderr)
            return 2
        STORED.write_text(json.dumps({name: found(name) for name in CHECKS}) + "\n")
        return 0
    print(
        f"\n{jax.device_count()} × {device.device_kind} ({device.platform}), "
        f"jaxshap {jaxshap.__version__}"
    )
    print(f"JAX {jax.__version__}, Python {platform.python_version()}, {platform.system()}")
    if on_cpu:
        print("This is a CPU: JAX found no GPU or TPU. The report shows that all runs, no more.")
    stored = json.loads(STORED.read_text())
    checks = [check(name, stored[name]) for name in CHECKS]
    header = "check", "values moved by", "errors by", ""
    print(report.table(header, checks), "\n")
    outcomes = [row[-1] for row in checks]
    if not options.quick:
        header = "rows × background", "first call", "later", "model alone", "ratio"
        sizes = ((10, 100), (100, 100)) if not on_cpu else ((2, 10),)
        print(report.table(header, [speed(*size) for size in sizes]), "\n")
        counts = (100, 1_000, 10_000, 100_000) if not on_cpu else (100, 1_000)
        rows = [memory(count) for count in counts]
        print(report.table(("background rows", "peak memory", ""), rows), "\n")
        outcomes += [row[-1] for row in rows]
    failed = len([one for one in outcomes if one in ("WRONG", "FAILED")])
    print(f"{failed} of {len(outcomes)} are off: please open an issue." if failed else "All right.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
