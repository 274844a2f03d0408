"""How time and memory grow with players, rows, background, outputs and budget; and the largest
table we promise.

Every point runs in a process of its own. Exponents are fitted to the last three points of a ladder
of doublings.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import report


class Point(NamedTuple):
    players: int = 32
    rows: int = 16
    background: int = 32
    outputs: int = 4
    budget: int = 1024


LADDERS = {
    "players": (16, 32, 64, 128, 256),
    "rows": (4, 16, 64, 256, 1024),
    "background": (8, 32, 128, 512, 2048),
    "outputs": (1, 4, 16, 64, 256),
    "budget": (256, 512, 1024, 2048, 4096),
}
MEASURES = ("evaluation", "Leverage's solve", "OddGP's solve", "peak memory")
LARGEST = Point(players=100, rows=1000, background=100_000, outputs=1, budget=4)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--point",
        nargs=5,
        type=int,
        help="measure one point and print it: used by the script itself",
    )
    options = parser.parse_args()
    if options.point:
        print(json.dumps(_measure(Point(*options.point))))
        return
    found = {
        axis: [_in_own_process(Point()._replace(**{axis: size})) for size in ladder]
        for axis, ladder in LADDERS.items()
    }
    rows = []
    for axis, ladder in LADDERS.items():
        for measure in MEASURES:
            numbers = [point[measure] for point in found[axis]]
            exponent = np.polyfit(np.log(ladder[-3:]), np.log(numbers[-3:]), 1)[0]
            unit = "MB" if "memory" in measure else "s"
            rows.append(
                (axis, measure, *(f"{number:.3g} {unit}" for number in numbers), f"{exponent:.2f}")
            )
    largest = _in_own_process(LARGEST)
    each = largest["evaluation"] / LARGEST.budget
    header = ("along", "measured", *(f"step {step}" for step in range(1, 6)), "exponent")
    notes = [
        *(
            f"Steps along {axis}: {', '.join(map(str, ladder))}."
            for axis, ladder in LADDERS.items()
        ),
        f"Elsewhere {', '.join(f'{name} {size}' for name, size in Point()._asdict().items())}; 64",
        "hidden units. Where a process for each output is too much work, OddGP's outputs share",
        f"one, and its time falls. 100,000 background rows × 1,000 rows × 100 players: {each:.1f}",
        f"s a coalition, peak memory {largest['peak memory'] / 1000:.2f} GB (goal: under 4 GB).",
    ]
    report.write_table(__file__, "How cost grows", header, rows, notes)
    _draw(found)


def _in_own_process(point: Point) -> dict[str, float]:
    command = [sys.executable, __file__, "--point", *map(str, point)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    print(*point, run.stdout.strip(), flush=True)
    return json.loads(run.stdout.splitlines()[-1])


def _measure(point: Point) -> dict[str, float]:
    import jax
    import jax.numpy as jnp

    import jaxshap
    from jaxshap.engine import Answers, make_plan, solve

    rng = np.random.default_rng(0)
    sizes = (
        (point.rows, point.players),
        (point.background, point.players),
        (point.players, 64),
        (64, point.outputs),
    )
    rows, background, first, second = (rng.normal(size=size).astype(np.float32) for size in sizes)
    game = jaxshap.marginal(lambda x: jnp.tanh(x @ first / 4) @ second, rows, background)
    if point == LARGEST:
        coalitions = rng.random((point.budget, point.players)) < 0.5
        return {
            "evaluation": _best(lambda: jaxshap.evaluate(game, coalitions), 1),
            "peak memory": _peak(),
        }
    seconds = {}
    for estimator in (jaxshap.Leverage(), jaxshap.OddGP()):
        plan, coalitions = make_plan(jax.random.key(0), point.players, estimator, point.budget)
        seconds["evaluation"] = _best(
            lambda coalitions=coalitions: jaxshap.evaluate(game, coalitions)
        )
        worths = np.asarray(jaxshap.evaluate(game, coalitions))
        name = f"{type(estimator).__name__}'s solve"
        seconds[name] = _best(
            lambda one=estimator, plan=plan, worths=worths: solve(one, Answers(plan, worths), game)
        )
    return seconds | {"peak memory": _peak()}


def _best(task, repeats: int = 3) -> float:
    """Seconds of the best of several calls after one that compiles."""
    import jax

    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        jax.block_until_ready(task())
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def _peak() -> float:
    """The most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def _draw(found: dict[str, list[dict[str, float]]]) -> None:
    import pathlib

    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(LADDERS), figsize=(15, 6), sharex="col", sharey="row", layout="constrained"
    )
    for column, (axis, ladder) in enumerate(LADDERS.items()):
        for measure in MEASURES:
            panel = axes[int("memory" in measure), column]
            panel.plot(ladder, [point[measure] for point in found[axis]], marker="o", label=measure)
            panel.grid(alpha=0.3)
            panel.set(xscale="log", yscale="linear" if "memory" in measure else "log")
            panel.set_xticks(ladder, [f"{size:,}" for size in ladder])
            panel.minorticks_off()
        axes[1, column].set_xlabel(axis)
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set(ylabel="MB", ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=120)


if __name__ == "__main__":
    main()
