"""What Shapley values cost over the bare model: time of `estimate` over that of the jitted model on
as many rows.

The bare model runs on rows that are there already, in calls of the size that is fastest for it;
every time is the best of several rounds in which all of them take turns. The goal is 1.5.
"""

import argparse
import math
import time
from collections.abc import Callable

import jax
import numpy as np
import report
from networks import SETTINGS, Data, Setting, data_of

import jaxshap
from jaxshap.engine import ask, read_estimator, solve

POOL_BYTES = 2**28
ESTIMATORS = (jaxshap.Kernel(), jaxshap.Leverage(), jaxshap.Permutation())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for setting in SETTINGS:
        rows.append(_measure(setting, options.repeats))
        print(*rows[-1], sep="  ", flush=True)
        jax.clear_caches()
    names = (type(estimator).__name__ for estimator in ESTIMATORS)
    header = (
        "players, background, rows",
        "default",
        "bare",
        "its plan and evaluation",
        *names,
        "its solve",
    )
    notes = [
        "Times over that of the bare model, which is in seconds; compilation is not in them.",
        "Goal: at most 1.5. Beyond some hundred players the regression of Kernel and Leverage is",
        "as much work as the model: with m pairs of n players two products of m n²",
        "multiplications, 3.7e9 at n = 784, where the model takes 3.3e9 for 10 rows.",
    ]
    report.write_table(__file__, "Overhead over the bare model", header, rows, notes)


def _measure(setting: Setting, repeats: int) -> tuple:
    data = data_of(setting)
    game = jaxshap.marginal(data.network, data.rows, data.background)
    key, budget = jax.random.key(0), setting.budget
    default = read_estimator(None, game, budget)
    answers = ask(key, game, default, budget)
    tasks: dict[str, Callable] = {
        f"bare {size}": _bare(data, setting, size) for size in (2**12, 2**14, 2**16, 2**18)
    }
    tasks["default"] = lambda: ask(key, game, default, budget).worths
    for estimator in ESTIMATORS:
        tasks[repr(estimator)] = lambda estimator=estimator: jaxshap.estimate(
            0, game, estimator, budget
        )
    tasks["solve"] = lambda: solve(default, answers, game)
    best = interleaved(tasks, repeats)
    bare = min(seconds for name, seconds in best.items() if name.startswith("bare"))
    ratios = (f"{best[name] / bare:.2f}" for name in ("default", *map(repr, ESTIMATORS), "solve"))
    return ", ".join(map(str, setting)), f"`{default}`", f"{bare:.3f} s", *ratios


def _bare(data: Data, setting: Setting, size: int) -> Callable:
    """The model on as many rows as the budget asks for, `size` of them a call, out of a pool larger
    than any cache.
    """
    size = min(size, setting.points)
    pool_size = min(setting.points, max(size, POOL_BYTES // (4 * setting.players)))
    pool = jax.numpy.asarray(np.resize(data.rows, (pool_size, setting.players)))
    parts = [pool[start : start + size] for start in range(0, pool_size - size + 1, size)]
    calls = setting.points // size
    rest = pool[: setting.points - calls * size]
    model = jax.jit(type(data.network).__call__)

    def run():
        for number in range(calls):
            model(data.network, parts[number % len(parts)]).block_until_ready()
        return model(data.network, rest) if len(rest) else None

    return run


def interleaved(tasks: dict[str, Callable], repeats: int) -> dict[str, float]:
    """The best time of each task over rounds in which all of them take turns; the first round
    compiles.
    """
    best = dict.fromkeys(tasks, math.inf)
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            begin = time.perf_counter()
            jax.block_until_ready(task())
            if turn:
                best[name] = min(best[name], time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    main()
