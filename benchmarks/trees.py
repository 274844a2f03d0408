"""Exact values of tree ensembles against shap, XGBoost's and LightGBM's own contributions and
woodelf.

100 trees on 20 features; the time of the tables is in ours, compilation is shown apart. The other
libraries are timed on fewer rows and scaled where they would take minutes, as noted in the table;
times are the best of several turns.
"""

import argparse
import contextlib
import functools
import importlib
import io
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import report

import jaxshap

FEATURES, TREES = 20, 100


@functools.cache
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, FEATURES)).astype(np.float32)
    bent = np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + np.abs(x[:, 4]) * (x[:, 5] > 0)
    return x, 2 * x[:, 0] + bent + 0.3 * x @ rng.normal(size=FEATURES) + 0.3 * rng.normal(
        size=len(x)
    )


def models() -> dict[str, Callable[[], Any]]:
    """Fitted when asked for."""
    import lightgbm
    import xgboost
    from sklearn import ensemble

    x, y = data()
    x, y = x[:10_000], y[:10_000]

    def xgb(depth):
        return xgboost.XGBRegressor(n_estimators=TREES, max_depth=depth, n_jobs=2).fit(x, y)

    def forest(depth):
        options = {"max_depth": depth, "max_features": 0.5, "n_jobs": 2, "random_state": 0}
        return ensemble.RandomForestRegressor(TREES, **options).fit(x, y)

    return {
        "XGBoost, depth 6": lambda: xgb(6),
        "XGBoost, depth 8": lambda: xgb(8),
        "forest, depth 8": lambda: forest(8),
        "LightGBM, default": lambda: lightgbm.LGBMRegressor(
            n_estimators=TREES, n_jobs=2, verbose=-1
        ).fit(x, y),
        "forest, depth 14": lambda: forest(14),
    }


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=8, help="about how long a call of a peer may take"
    )
    parser.add_argument(
        "--model", help="only this one; used by the script itself, one process a model"
    )
    parser.add_argument(
        "--done", type=pathlib.Path, help="lines of an earlier run, whose models are not run again"
    )
    parser.add_argument(
        "--first", action="store_true", help="only its first calls; used by the script itself"
    )
    options = parser.parse_args()
    if options.first:
        _first_calls(models()[options.model]())
        return
    if options.model:
        for row in _of_model(options.model, models()[options.model](), options):
            print(*row, sep=" | ", flush=True)
        return
    rows = _lines(options.done.read_text()) if options.done else []
    for name in models():
        if name in {row[0] for row in rows}:
            continue
        command = [sys.executable, __file__, "--model", name, "--repeats", str(options.repeats)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr)
        print(run.stdout, flush=True)
        rows += _lines(run.stdout)
    rows += _with_cache("XGBoost, depth 6")
    header = ("model", "values", "rows", "ours", "first call", "other", "its time", "times faster")
    notes = [
        "Goals: interventional with 1,000 background rows 500 × shap at depth 6 and 300 × at",
        "depth 8, with 100, 50 ×; path-dependent 40 × shap at depth 6 to 8, 15 × for default",
        "LightGBM, 20 × XGBoost's own; interactions 300 ×; 5 × woodelf at 10,000 rows; a first",
        "call of at most 3 s at depth 6; deep forests not slower than shap. Peak memory is that",
        "of the process, all libraries in it. woodelf takes many minutes on a deep forest.",
    ]
    report.write_table(__file__, "Exact Shapley values of tree ensembles", header, rows, notes)


def _lines(text: str) -> list[list[str]]:
    return [line.split(" | ") for line in text.splitlines() if line.count(" | ") == 7]


def _with_cache(name: str) -> list[tuple]:
    """First calls in fresh processes, before and after the compilation cache is filled."""
    command = [sys.executable, __file__, "--model", name, "--first"]
    with tempfile.TemporaryDirectory() as folder:
        kept = {
            "JAX_COMPILATION_CACHE_DIR": folder,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        runs = [
            subprocess.run(
                command, capture_output=True, text=True, check=True, env=os.environ | kept
            )
            for _ in range(3)
        ]
    rows = []
    for lines in zip(*(run.stdout.splitlines() for run in runs), strict=True):
        values, *seconds = (
            lines[0].split(" | ")[0],
            *(float(line.split(" | ")[1]) for line in lines),
        )
        label = f"{values}, with a filled cache"
        rows.append(
            (
                name,
                label,
                "1000",
                "",
                f"{min(seconds[1:]):.2f} s",
                "cache empty",
                f"{seconds[0]:.2f} s",
                "",
            )
        )
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def _first_calls(model: Any) -> None:
    x, _ = data()
    trees = jaxshap.trees.read_trees(model)
    calls = {
        "path-dependent": lambda: jaxshap.trees.path_dependent(trees, x[10_000:11_000]),
        "interventional, 100": lambda: jaxshap.trees.interventional(
            trees, x[10_000:11_000], x[:100]
        ),
    }
    for values, call in calls.items():
        print(f"{values} | {_seconds(lambda call=call: jax.block_until_ready(call()))}")


def _of_model(name: str, model: Any, options) -> list[tuple]:
    x, _ = data()
    explained = x[10_000:]
    trees = jaxshap.trees.read_trees(model)
    lines = []

    def compare(values: str, count: int, ours: Callable, others: dict[str, Callable[[int], Any]]):
        begin = time.perf_counter()
        jax.block_until_ready(ours(explained[:count]))
        first = time.perf_counter() - begin
        best, peers = np.inf, dict.fromkeys(others, np.inf)
        sizes = {other: _affordable(call, count, options.seconds) for other, call in others.items()}
        sizes |= {
            "woodelf": count
        }  # most of its time does not grow with the rows, so it cannot be scaled
        for _ in range(options.repeats):
            for _ in range(2):
                best = min(best, _seconds(lambda: jax.block_until_ready(ours(explained[:count]))))
            for other, call in others.items():
                size = sizes[other]
                peers[other] = min(
                    peers[other], _seconds(lambda call=call, size=size: call(size)) * count / size
                )
        for other, seconds in peers.items() or {"": np.nan}.items():
            scaled = f" (from {sizes[other]} rows)" if sizes[other] < count else ""
            line = (
                name,
                values,
                count,
                f"{best:.3f} s",
                f"{first:.1f} s",
                other + scaled,
                f"{seconds:.2f} s",
                f"{seconds / best:.0f}",
            )
            lines.append(tuple(map(str, line)))
            print(*lines[-1], file=sys.stderr, flush=True)

    own = _own_contributions(model, explained)
    shallow = trees.structure.depth <= 8
    for count in (1_000, 10_000) if shallow or "forest" not in name else (1_000,):
        peers = (
            {"shap": _shap(model, explained)}
            | own
            | (_woodelf(model, explained) if "forest" not in name else {})
        )
        compare(
            "path-dependent", count, lambda rows: jaxshap.trees.path_dependent(trees, rows), peers
        )
    for size in (100, 1_000) if shallow or "forest" not in name else (100,):
        peers = {"shap": _shap(model, explained, x[:size])}
        if shallow or "forest" not in name:  # a deep forest takes it many minutes
            peers |= _woodelf(model, explained, x[:size])
        compare(
            f"interventional, {size}",
            1_000,
            lambda rows, z=x[:size]: jaxshap.trees.interventional(trees, rows, z),
            peers,
        )
    if shallow:
        peers = {"shap": _shap(model, explained, interactions=True)}
        compare(
            "interactions",
            1_000,
            lambda rows: jaxshap.trees.path_dependent_interactions(trees, rows),
            peers,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lines.append((name, "peak memory", "", f"{peak:.2f} GB", "", "", "", ""))
    return lines


def _shap(model, explained, background=None, interactions: bool = False) -> Callable[[int], Any]:
    import shap

    if background is None:
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    else:
        explainer = shap.TreeExplainer(
            model, shap.maskers.Independent(background, max_samples=len(background))
        )
    if interactions:
        return lambda count: explainer.shap_interaction_values(explained[:count])
    return lambda count: explainer.shap_values(explained[:count], check_additivity=False)


def _own_contributions(model, explained) -> dict[str, Callable[[int], Any]]:
    if type(model).__name__ == "XGBRegressor":
        import xgboost

        booster = model.get_booster()
        return {
            "XGBoost": lambda count: booster.predict(
                xgboost.DMatrix(explained[:count]), pred_contribs=True
            )
        }
    if type(model).__name__ == "LGBMRegressor":
        return {"LightGBM": lambda count: model.predict(explained[:count], pred_contrib=True)}
    return {}


def _woodelf(model, explained, background=None) -> dict[str, Callable[[int], Any]]:
    try:
        woodelf = importlib.import_module("woodelf")
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        print(f"woodelf is left out: {error}", file=sys.stderr)
        return {}
    table = pandas.DataFrame(explained)
    try:
        if background is None:
            explainer = woodelf.WoodelfExplainer(model, feature_perturbation="tree_path_dependent")
        else:
            explainer = woodelf.WoodelfExplainer(model, pandas.DataFrame(background))
        explainer.shap_values(table[:50])
    except Exception as error:
        print(f"woodelf is left out: {error!r}", file=sys.stderr)
        return {}

    def values(count: int):
        with contextlib.redirect_stdout(io.StringIO()):
            return explainer.shap_values(table[:count])

    return {"woodelf": values}


def _affordable(call: Callable[[int], Any], count: int, seconds: float) -> int:
    """As many rows as it explains in about this time, or all of them."""
    size = 10
    call(size)
    while size < count and _seconds(lambda size=size: call(size)) < seconds / 10:
        size *= 10
    return min(size, count)


def _seconds(task: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
