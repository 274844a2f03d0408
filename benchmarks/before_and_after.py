"""Whether a change made anything slower: two checkouts take turns at the same calls.

`git worktree add FOLDER COMMIT` makes the other checkout. One process a checkout stays alive; the
parent asks them for one case after the other, so that a busy moment of the machine hits both. The
ratio is the median over turns of the ratios of neighbouring turns.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from report import commit, write_table

NETWORKS = ((16, 1, 20), (30, 100, 20), (100, 100, 5), (300, 1, 5))  # players, background, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="the other checkout, a folder with jaxshap/ in it")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.before is None or not (pathlib.Path(options.before) / "jaxshap").is_dir():
        parser.error("--before FOLDER is needed: `git worktree add FOLDER COMMIT` makes one.")
    here = pathlib.Path(__file__).resolve().parents[1]
    checkouts = [pathlib.Path(options.before).resolve(), here]
    processes = [start(checkout) for checkout in checkouts]
    names = [name for name in ask(processes[1], "names") if options.only in name]
    lines = [line(name, processes, options.turns) for name in names]
    notes = [
        f"Before: {commit(checkouts[0])}. Seconds; the first call of a case compiles, `later` is",
        f"the best of {options.turns} turns, and the ratio is after over before in neighbouring",
        "turns: median, quartiles.",
    ]
    header = ("case", "first, before", "first, after", "later, before", "later, after", "ratio")
    write_table(__file__, "Time before and after a change", header, lines, notes)


def start(checkout: pathlib.Path) -> subprocess.Popen:
    """A process that imports jaxshap from this checkout and waits for the names of cases."""
    command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--serve"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(checkout)}, cwd=checkout, **pipes
    )


def ask(process: subprocess.Popen, name: str):
    """What a process answers: the seconds of a case, or None where its checkout cannot run it."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def line(name: str, processes: list[subprocess.Popen], turns: int) -> tuple:
    first = [ask(process, name) for process in processes]
    if None in first:
        return (name, *(mark(seconds) for seconds in first), "–", "–", "–")
    later = np.array([[ask(process, name) for process in processes] for _ in range(turns)])
    ratios = later[:, 1] / later[:, 0]
    low, high = np.quantile(ratios, [0.25, 0.75])
    ratio = f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})"
    row = (name, *map(mark, first), *map(mark, later.min(0)), ratio)
    print(*row, sep="  ", flush=True)
    return row


def mark(seconds: float | None) -> str:
    return "–" if seconds is None or math.isnan(seconds) else f"{seconds:.3f}"


def serve() -> None:
    """Run the cases that are asked for, in this process, and answer their seconds."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not mix with the answers
    made: dict[str, Callable[[], object]] = {}
    makers = cases()
    for name in map(str.strip, sys.stdin):
        answer: object = list(makers)
        if name != "names":
            answer = seconds_of(name, makers, made)
        print(json.dumps(answer), file=answers, flush=True)


def seconds_of(name: str, makers: dict, made: dict) -> float | None:
    try:
        if name not in made:
            made[name] = makers[name]()
        begin = time.perf_counter()
        made[name]()
        return time.perf_counter() - begin
    except Exception as error:
        print(f"{name}: {error!r}", file=sys.stderr)
        return None


def cases() -> dict[str, Callable[[], Callable[[], object]]]:
    """Names and what makes a call ready, with all it needs."""
    import jaxshap
    from jaxshap import Leverage, OddGP, Permutation

    estimators = {"default": None, "OddGP": OddGP(), "Leverage": Leverage()}
    estimators |= {"Permutation": Permutation()}

    def network(setting: tuple[int, int, int], estimator):
        def ready():
            from networks import Setting, data_of

            data = data_of(Setting(*setting))

            def call():
                options = {"budget": 1024, "estimator": estimator, "progress": False}
                jaxshap.explain(data.network, data.rows, data.background, **options)

            return call

        return ready

    def trees(background: bool, depth: int):
        def ready():
            import xgboost

            x = np.random.default_rng(0).normal(size=(4000, 20)).astype(np.float32)
            y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + x[:, 3]
            model = xgboost.XGBRegressor(n_estimators=100, max_depth=depth, n_jobs=1).fit(x, y)
            tables = (x[:500], x[:100]) if background else (x[:1000],)
            return lambda: jaxshap.explain(model, *tables)

        return ready

    named: dict[str, Callable] = {}
    for setting in NETWORKS:
        for name, estimator in estimators.items():
            named[f"network {', '.join(map(str, setting))}: {name}"] = network(setting, estimator)
    for depth in (6, 8):
        named[f"trees of depth {depth}, path-dependent"] = trees(False, depth)
        named[f"trees of depth {depth}, interventional"] = trees(True, depth)
    return named


if __name__ == "__main__":
    main()
