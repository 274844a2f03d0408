"""Errors at equal model rows: coalitions × background rows is what a user pays for.

Seven models that nobody tuned on (networks, formulas and boosted trees on made-up data), drawn by
the seed; backgrounds of 1 to 100 rows, 5 and 20 evaluations per player. Each estimator's squared
error against the exact values, over that of `Leverage` with one plan for all background rows, and
the share of values within their 95 % intervals. Peers ask all background rows about the same
coalitions; for each model the best of them counts. Then a background as large as the data:
`model_rows=` against a random hundred of its rows at the same cost.
"""

import argparse
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from peers import CountedGame, shap_kernel, shap_permutation, shapiq_estimator, table_worths
from report import write_table
from sklearn.ensemble import GradientBoostingRegressor

import jaxshap
from jaxshap.games import Host

PLAYERS, ROWS = 11, 4
BACKGROUNDS = (1, 10, 30, 100)
LARGE_BACKGROUNDS = (1_000, 10_000)
MODEL_ROWS, LARGE_ROWS = 20_000, 2  # per explained row of a large background; how many of them
LARGE_MODELS = ("tanh network", "logistic", "steps", "boosted trees")
PEER_RUNS = 3  # rows that peers explain, with a single key: they take most of the time
BUDGETS = (5, 20)
ESTIMATORS = {
    "default": None,
    "OddGP, shared": jaxshap.OddGP(),
    "Scattered()": jaxshap.Scattered(),
}
PAIRED = {"pairing_trick": True}
PEERS = {
    "shap Kernel": ("shap", shap_kernel),
    "shap Permutation": ("shap", shap_permutation),
    "LeverageSHAP": ("shapiq", shapiq_estimator("LeverageSHAP")),
    "PolySHAP(2)": ("shapiq", shapiq_estimator("PolySHAP", lambda _: PAIRED | {"max_order": 2})),
    "RegressionMSR": ("shapiq", shapiq_estimator("RegressionMSR", lambda _: {"index": "SV"})),
    "ProxySHAP": ("shapiq", shapiq_estimator("ProxySHAP", lambda _: {"max_order": 1})),
    "OddSHAP": ("shapiq", shapiq_estimator("OddSHAP")),
}


class Boosted:
    """Boosted trees of depth 4, fitted to a smooth function; called in numpy."""

    def __init__(self, rng: np.random.Generator):
        rows = rng.normal(size=(2000, PLAYERS))
        targets = np.sin(rows @ rng.normal(size=(PLAYERS, 4)) / 2).sum(1)
        self.trees = GradientBoostingRegressor(max_depth=4, n_estimators=60, random_state=0)
        self.trees.fit(rows, targets)

    def __call__(self, rows):
        return self.trees.predict(rows)


def models(seed: int) -> dict[str, Callable]:
    """Functions of rows, drawn by the seed."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(PLAYERS, 24)), rng.normal(size=24) / 5
    slopes, centres = rng.normal(size=PLAYERS), rng.normal(size=(6, PLAYERS))
    deep = rng.normal(size=(24, 24)) / 4
    return {
        "tanh network": lambda x: jnp.tanh(x @ first / 2) @ second,
        "deep network": lambda x: jax.nn.softplus(jax.nn.relu(x @ first / 2) @ deep) @ second,
        "sines": lambda x: jnp.sin(x @ first) @ second,
        "logistic": lambda x: jax.nn.sigmoid(2 * x @ slopes),
        "clusters": lambda x: jnp.exp(-((x[:, None] - centres) ** 2).mean(2)) @ second[:6],
        "steps": lambda x: ((x @ first) > 0.5).astype(x.dtype) @ second,
        "boosted trees": jaxshap.host(Boosted(rng)),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keys", type=int, default=6)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--no-peers", action="store_true")
    options.add_argument("--no-store", action="store_true", help="print the table only")
    options = options.parse_args()
    drawn, keys = models(options.seed), options.keys
    rng = np.random.default_rng(options.seed + 1)
    table = rng.normal(size=(ROWS + max(LARGE_BACKGROUNDS), PLAYERS)).astype(np.float32)
    rows, pool = table[:ROWS], table[ROWS:]
    peers = {} if options.no_peers else _installed()
    lines = []
    for count in BACKGROUNDS:
        games = [_known(model, rows, pool[:count]) for model in drawn.values()]
        for budget in BUDGETS:
            cells = [_cell(*game, budget * PLAYERS, keys, peers) for game in games]
            lines.append([count, f"{budget}n", *_summary(cells, peers)])
            print(*lines[-1], flush=True)
    header = ["background", "budget"]
    header += [f"{name}: {what}" for name in ESTIMATORS for what in ("error", "worst", "covered")]
    header += ["best peer: error", "smallest"] if peers else []
    notes = [
        f"Seed {options.seed}, {keys} keys, {PLAYERS} players, {ROWS} rows, {len(drawn)} models: "
        "geometric mean over models of the ratio, the worst model (for peers the smallest ratio), "
        "and the coverage of the models, least and most."
    ]
    if peers:
        notes[0] += f" Peers, {PEER_RUNS} rows and one key each: {', '.join(peers)}."
    notes += ["", *_large_backgrounds(drawn, rows[:LARGE_ROWS], pool, keys)]
    title = "Squared error over shared Leverage's at equal model rows"
    write_table(__file__, title, header, lines, notes, store=not options.no_store)


def _installed() -> dict[str, Callable]:
    """Peers bound to their library; whoever has none of them passes --no-peers."""
    import shap
    import shapiq

    libraries = {"shap": shap, "shapiq": shapiq}
    return {
        f"{name} ({where} {libraries[where].__version__})": functools.partial(ask, libraries[where])
        for name, (where, ask) in PEERS.items()
    }


def _known(model, rows, background):
    """The game, its table of worths `(2**n, rows)` and its values `(n, rows)`."""
    game = jaxshap.marginal(model, rows, background)
    coalitions = np.arange(2**PLAYERS)[:, None] >> np.arange(PLAYERS) & 1 == 1
    worths = np.asarray(jaxshap.evaluate(game, coalitions), np.float64)
    return game, worths, np.asarray(jaxshap.shapley_values(jaxshap.table(worths)))


def _cell(game, worths, truth, budget: int, keys: int, peers: dict) -> dict:
    """Mean squared error and coverage of each estimator on one model."""
    measured = {}
    for name, estimator in {"Leverage": jaxshap.Leverage(), **ESTIMATORS}.items():
        found = [jaxshap.estimate(key, game, estimator, budget) for key in range(keys)]
        errors = np.stack([np.asarray(estimate.values) - truth for estimate in found])
        inside = np.abs(errors) <= np.stack([_half_width(estimate) for estimate in found])
        measured[name] = (errors**2).mean(), inside.mean()
    for name, ask in peers.items():
        measured[name] = _peer_error(ask, worths, truth, budget), None
    return measured


def _half_width(estimate) -> np.ndarray:
    return scipy.stats.t.ppf(0.975, np.asarray(estimate.degrees)) * np.asarray(estimate.std_error)


def _peer_error(ask: Callable, worths, truth, budget: int) -> float:
    """Each row is a game of its own."""
    squares = []
    for row in range(PEER_RUNS):
        counted = CountedGame(table_worths(worths[:, row]), PLAYERS)
        with warnings.catch_warnings(action="ignore"):
            squares.append((ask(counted, budget, row) - truth[:, row]) ** 2)
    return float(np.mean(squares))


def _summary(cells: list[dict], peers: dict) -> list[float | str]:
    """The geometric mean over models of the ratio to Leverage, the worst, and the coverage."""
    summary: list[float | str] = []
    for name in ESTIMATORS:
        ratios = [cell[name][0] / cell["Leverage"][0] for cell in cells]
        covered = [cell[name][1] for cell in cells]
        summary += [_mean(ratios), float(max(ratios)), f"{min(covered):.2f}–{max(covered):.2f}"]
    if peers:
        best = [min(cell[name][0] for name in peers) / cell["Leverage"][0] for cell in cells]
        summary += [_mean(best), float(min(best))]
    return summary


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _large_backgrounds(drawn: dict, rows, pool, keys: int) -> Iterator[str]:
    """Per model: the error of `model_rows=` over that of a hundred rows at the same cost."""
    for count in LARGE_BACKGROUNDS:
        ratios = []
        for name in LARGE_MODELS:
            ratio, covered = _large_background(drawn[name], rows, pool[:count], keys)
            ratios.append(ratio)
            yield (
                f"- {name}: {count:,} background rows, {MODEL_ROWS:,} model rows: {ratio:.3f} of "
                f"the squared error of 100 rows, covered {covered:.2f}"
            )
        yield f"- geometric mean, {count:,} background rows: {_mean(ratios):.3f}"


def _large_background(model, rows, background, keys: int) -> tuple[float, float]:
    truth = _exact_values(model, rows, background)
    large, few, inside = [], [], []
    for key in range(keys):
        spread = jaxshap.explain(model, rows, background, model_rows=MODEL_ROWS, key=key)
        low, high = spread.interval(0.95)
        large.append(((spread.values - truth) ** 2).mean())
        inside.append((low <= truth) & (truth <= high))
        some = np.random.default_rng(key).choice(len(background), 100, replace=False)
        hundred = jaxshap.explain(model, rows, background[some], budget=MODEL_ROWS // 100, key=key)
        few.append(((hundred.values - truth) ** 2).mean())
    return float(np.mean(large) / np.mean(few)), float(np.mean(inside))


def _exact_values(model, rows, background) -> np.ndarray:
    if isinstance(model, Host):
        boosted: Any = model.function
        return jaxshap.explain(boosted.trees, rows, background).values
    game = jaxshap.marginal(model, rows, background)
    return np.asarray(jaxshap.shapley_values(game)).T


if __name__ == "__main__":
    main()
