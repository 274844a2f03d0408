"""Solving on the host with one BLAS thread in float64, against float32 on the device as in jit:
alone on the machine, and beside neighbours that keep every core busy.

12 players, 5 rows, the default budget. A solve is hundreds of small factorisations, in which the
threads of OpenBLAS wait for each other; where a neighbour holds a core, they spin for its turn.
Each pair is timed in turns. Both solve the same worths; what float32 loses is told as well.
"""

import argparse
import contextlib
import functools
import multiprocessing
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap
from jaxshap.engine import Answers, default_budget, make_plan, solve
from jaxshap.engine.runner import traced_solve

PLAYERS, ROWS = 12, 5
ESTIMATORS = jaxshap.OddGP(), jaxshap.Leverage()


def spin(stop) -> None:
    while not stop.is_set():
        sum(range(10_000))


@contextlib.contextmanager
def neighbours(count: int):
    """So many processes that compute without a pause."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    busy = [context.Process(target=spin, args=(stop,), daemon=True) for _ in range(count)]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        stop.set()
        for process in busy:
            process.join()


def problem(estimator):
    """A game, the plan and its worths, which are computed beforehand."""
    rng = np.random.default_rng(0)
    rows, background, first, last = (
        rng.normal(size=size).astype(np.float32)
        for size in ((ROWS, PLAYERS), (1, PLAYERS), (PLAYERS, 32), (32,))
    )
    game = jaxshap.marginal(lambda x: jnp.tanh(x @ first / 3) @ last / 6 + 1, rows, background)
    budget = default_budget(PLAYERS)
    plan, coalitions = make_plan(jax.random.key(0), PLAYERS, estimator, budget)
    worths = np.asarray(jaxshap.evaluate(game, coalitions, progress=False))
    return game, Answers(plan, worths)


def ways(estimator):
    """Solving as the library does outside of jit, and as it did before and does in jit."""
    game, answers = problem(estimator)
    live = answers.plan._replace(
        coalitions=answers.plan.coalitions[: len(answers.worths)], constants=()
    )
    run = jax.jit(functools.partial(traced_solve, estimator, live))
    on_device = jax.device_put((answers.worths, game.empty, game.full))
    return (
        lambda: solve(estimator, answers, game),
        lambda: jax.block_until_ready(run(*on_device)),
    )


def timed(functions, repeats: int) -> list[list[float]]:
    """Seconds of each, in turns."""
    seconds = [[] for _ in functions]
    for _ in range(repeats):
        for function, each in zip(functions, seconds, strict=True):
            begin = time.perf_counter()
            function()
            each.append(time.perf_counter() - begin)
    return seconds


def lost(host, device) -> str:
    """How far float32 is off, as a share of the largest value, and how many of its errors are 0."""
    values, errors = (np.asarray(part, np.float64) for part in device[:2])
    apart = np.abs(values - np.asarray(host.values)).max() / np.abs(np.asarray(host.values)).max()
    wider = np.abs(errors / np.asarray(host.std_error) - 1).max()
    return f"values off by {apart:.1e}, errors by {wider:.1%}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--try", action="store_true", dest="trial", help="store nothing")
    options = parser.parse_args()
    cores, rows, notes = os.cpu_count() or 1, [], []
    for estimator in ESTIMATORS:
        functions = ways(estimator)
        notes.append(f"{estimator!r} in float32: {lost(*(way() for way in functions))}.")
        for count in (0, cores):
            with neighbours(count):
                seconds = timed(functions, options.repeats)
            for name, each in zip(("host, float64", "device, float32"), seconds, strict=True):
                middle, worst = np.median(each), max(each)
                rows.append((repr(estimator), name, count, f"{middle:.3f} s", f"{worst:.3f} s"))
    header = "estimator", "solved on", "busy neighbours", "median", "worst"
    notes.append(f"{cores} cores; OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS')}.")
    title = "A solve beside busy neighbours"
    report.write_table(__file__, title, header, rows, notes, store=not options.trial)


if __name__ == "__main__":
    main()
