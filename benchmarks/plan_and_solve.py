"""Time that the default's plan and solve take, without the model, in a fresh process and again.

30 players, 100 background rows, 10 explained rows, the default budget. The goal is 1.5 seconds
cold, compilation and read-out included, and 0.5 seconds warm, on two cores.
"""

import argparse
import subprocess
import sys
import time

import numpy as np
import report


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--players", type=int, default=30)
    options.add_argument("--background", type=int, default=100)
    options.add_argument("--rows", type=int, default=10)
    options.add_argument("--processes", type=int, default=5)
    options.add_argument("--measure", action="store_true", help="used by the script itself")
    options = options.parse_args()
    if options.measure:
        _measure(options)
        return
    sizes = options.players, options.background, options.rows
    command = [sys.executable, __file__, "--measure"]
    for name, size in zip(("--players", "--background", "--rows"), sizes, strict=True):
        command += [name, str(size)]
    runs, estimator = [], ""
    for _ in range(options.processes):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr)
        estimator, *seconds = run.stdout.strip().splitlines()[-1].split("|")
        runs.append([float(number) for number in seconds])
        print(estimator, *seconds, flush=True)
    cold, warm = np.median(runs, axis=0)
    header = ["players", "background", "rows", "estimator", "cold, s", "warm, s"]
    line = [*sizes, estimator, f"{cold:.2f}", f"{warm:.3f}"]
    notes = [f"Medians over {options.processes} processes."]
    report.write_table(__file__, "Plan and solve of the default", header, [line], notes)


def _measure(options: argparse.Namespace) -> None:
    import jax
    import jax.numpy as jnp

    import jaxshap
    from jaxshap.engine import Answers, default_budget, make_plan, read_estimator, solve

    rng, n = np.random.default_rng(0), options.players
    sizes = options.rows, options.background
    rows, background = (rng.normal(size=(size, n)).astype(np.float32) for size in sizes)
    game = jaxshap.marginal(lambda x: jnp.tanh(x).sum(1), rows, background)
    budget = default_budget(n)
    estimator = read_estimator(None, game, budget)
    shape = budget - 2, game.num_strata, options.rows
    worths = rng.normal(size=shape).astype(np.float32) / options.background
    game.strata_ends()  # part of the evaluation
    seconds = []
    for key in (0, 1, 2):
        begin = time.perf_counter()
        plan, coalitions = make_plan(jax.random.key(key), n, estimator, budget, game.num_strata)
        solve(estimator, Answers(plan, worths[: len(coalitions)]), game)
        seconds.append(time.perf_counter() - begin)
    print(f"{estimator}|{seconds[0]:.3f}|{min(seconds[1:]):.3f}")


if __name__ == "__main__":
    main()
