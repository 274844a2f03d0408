"""How many kernels each stage of an explanation would launch on an accelerator, under jit.

100 rows of one output, 20 players, 100 background rows, the default budget of 512 evaluations.
Counted in the compiled programs: every instruction of XLA's optimised program that computes
something, those in a loop as often as it turns, of two branches the longer one. Programs are
compiled for a CPU, whose fusions are about those of a GPU; a factorisation counts as one launch.
"one by one" is what runs on a CPU, and ran everywhere before; "batched" is what runs elsewhere.
"""

import argparse
import functools
import re
import sys
from collections.abc import Callable
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap
from jaxshap.estimators import Balanced, BoostedTrees, OddGP, RegressionAdjusted, Scattered

ROWS, PLAYERS, BUDGET, STRATA = 100, 20, 512, 100
MAX_LAUNCHES = 3_000
FREE = {
    "parameter",
    "constant",
    "tuple",
    "get-tuple-element",
    "bitcast",
    "after-all",
    "opt-barrier",
}
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = .*? ([a-z][\w\-]*)\(")
CALLED = {
    "call": re.compile(r"to_apply=%?([\w.\-]+)"),
    "while": re.compile(r"(?:body|condition)=%?([\w.\-]+)"),
}
TURNS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}|(?:true|false)_computation=%?([\w.\-]+)")


def launches(text: str) -> tuple[int, int]:
    """Of an optimised HLO module, and how many loops turn a number of times that only data tells;
    these count as a single turn.
    """
    bodies, entry, name = {}, "", ""
    for line in text.splitlines():
        opened = re.match(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$", line)
        if opened:
            name = opened[2]
            bodies[name] = []
            entry = name if opened[1] else entry
        elif name and INSTRUCTION.match(line):
            bodies[name].append(line)

    @functools.cache
    def cost(name: str) -> tuple[int, int]:
        each = [of_instruction(line) for line in bodies[name]]
        return sum(count for count, _ in each), sum(unknown for _, unknown in each)

    def of_instruction(line: str) -> tuple[int, int]:
        kind = INSTRUCTION.match(line)[1]
        if kind in FREE:
            return 0, 0
        if kind == "conditional":
            names = [found[0] or found[1] for found in BRANCHES.findall(line)]
            names = [name.strip().lstrip("%") for some in names for name in some.split(",")]
            return max(cost(name) for name in names)
        if kind not in CALLED:
            return 1, 0
        parts = [cost(name) for name in CALLED[kind].findall(line)]
        count, unknown = sum(count for count, _ in parts), sum(more for _, more in parts)
        if kind == "call":
            return count, unknown
        known = TURNS.search(line)
        return count * int(known[1]) if known else count, unknown + (known is None)

    return cost(entry)


def planned(estimator) -> tuple[Callable, tuple]:
    strata = (STRATA,) if isinstance(estimator, Scattered) else ()

    def plan(key):
        made = estimator.plan(key, PLAYERS, BUDGET, *strata)
        return made.coalitions, made.detail

    return plan, (jax.random.key(0),)


def solved(estimator) -> tuple[Callable, tuple]:
    strata = (STRATA,) if isinstance(estimator, Scattered) else ()
    plan = estimator.plan(jax.random.key(0), PLAYERS, BUDGET, *strata)

    def solve(coalitions, detail, worths, empty, full):
        own = plan._replace(coalitions=coalitions, detail=detail)
        return estimator.solve(own, worths, empty, full)

    shapes = (len(plan.coalitions), *strata, ROWS), (*strata, ROWS), (*strata, ROWS)
    return solve, (plan.coalitions, plan.detail, *(jnp.ones(shape) for shape in shapes))


def separate() -> tuple[Callable, tuple]:
    """All of an explanation whose rows have draws of their own, the model's kernels too."""
    from jaxshap.explaining.separate import row_by_row

    def network(weights, rows):
        return jnp.tanh(rows @ weights)

    def explained(key, weights, rows, references):
        model = jax.tree_util.Partial(network, weights)
        how = jaxshap.marginal, None, None, OddGP(), BUDGET, "auto"
        return row_by_row(*how, key, model, rows, references, {})

    shapes = (PLAYERS, 4), (ROWS, PLAYERS), (1, PLAYERS)
    return explained, (jax.random.key(0), *(jnp.ones(shape) for shape in shapes))


STAGES = {
    "OddGP, plan": functools.partial(planned, OddGP()),
    "OddGP, solve": functools.partial(solved, OddGP(fit_each=False)),
    "OddGP(fit_each=True), solve": functools.partial(solved, OddGP(fit_each=True)),
    "Scattered(Balanced()), plan": functools.partial(planned, Scattered(Balanced())),
    "Scattered(Balanced()), solve": functools.partial(solved, Scattered(Balanced())),
    "boosted trees, solve": functools.partial(solved, RegressionAdjusted(BoostedTrees())),
    "separate draws of OddGP, all": separate,
}


def counted(stage: Callable, on_cpu: bool) -> tuple[int, int]:
    jax.clear_caches()
    with mock.patch("jaxshap.games.devices.platform", return_value="cpu" if on_cpu else "gpu"):
        function, arguments = stage()
        return launches(jax.jit(function).lower(*arguments).compile().as_text())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="stages whose name holds this; stores nothing")
    parser.add_argument("--batched", action="store_true", help="only as off the CPU; the same")
    options = parser.parse_args()
    rows, most = [], 0
    for name, stage in STAGES.items():
        if options.only not in name:
            continue
        before = (0, 0) if options.batched else counted(stage, True)
        after = counted(stage, False)
        most = max(most, after[0])
        cells = (f"{count:,}" + " +" * (unknown > 0) for count, unknown in (before, after))
        rows.append((name, *cells))
        print(*rows[-1], file=sys.stderr, flush=True)
    notes = [
        "+: with loops that turn as often as data say, counted as one turn.",
        f"Goal: at most {MAX_LAUNCHES:,} batched; "
        + ("met." if most <= MAX_LAUNCHES else f"missed, {most:,}."),
        f"JAX {jax.__version__}; {np.__name__} {np.__version__}.",
    ]
    header = "kernels launched under jit", "one by one", "batched"
    store = not (options.only or options.batched)
    report.write_table(__file__, "Launches", header, rows, notes, store=store)


if __name__ == "__main__":
    main()
