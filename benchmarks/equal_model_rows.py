"""Errors at equal model rows: coalitions × background rows is what a user pays for.

Six models that nobody tuned on (networks and boosted trees on made-up data), backgrounds of 1 to
100 rows, budgets of 5, 10 and 20 evaluations per player. Each estimator's squared error against the
exact values, over that of `Leverage` with one plan for all background rows, and the share of values
within 1.96 standard errors. Then a background as large as the data: `model_rows=` against a random
hundred of its rows at the same cost.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from report import write_table

import jaxshap

PLAYERS, ROWS = 11, 4
BACKGROUNDS = (1, 10, 30, 100)
BUDGETS = (5, 10, 20)
ESTIMATORS = {
    "default": None,
    "OddGP, shared": jaxshap.OddGP(),
    "Scattered()": jaxshap.Scattered(),
    "Scattered(Leverage())": jaxshap.Scattered(jaxshap.Leverage()),
}


def models(seed: int) -> dict:
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
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keys", type=int, default=3)
    options.add_argument("--seed", type=int, default=0)
    keys, seed = vars(options.parse_args()).values()
    rng = np.random.default_rng(seed + 1)
    table = rng.normal(size=(ROWS + 4000, PLAYERS)).astype(np.float32)
    rows, pool = table[:ROWS], table[ROWS:]
    lines = []
    for count in BACKGROUNDS:
        for budget in BUDGETS:
            cells = [
                _cell(model, rows, pool[:count], budget * PLAYERS, keys)
                for model in models(seed).values()
            ]
            lines.append([count, f"{budget}n", *_summary(cells)])
    header = ["background", "budget"]
    header += [f"{name}: {what}" for name in ESTIMATORS for what in ("error", "worst", "covered")]
    notes = [*_large_background(models(seed), rows, pool, keys)]
    write_table(
        __file__, "Squared error over shared Leverage's at equal model rows", header, lines, notes
    )


def _cell(model, rows, background, budget: int, keys: int) -> dict:
    """Mean squared error and coverage of each estimator on one model."""
    game = jaxshap.marginal(model, rows, background)
    truth = np.asarray(jaxshap.shapley_values(game))
    measured = {}
    for name, estimator in {"Leverage": jaxshap.Leverage(), **ESTIMATORS}.items():
        found = [jaxshap.estimate(key, game, estimator, budget) for key in range(keys)]
        errors = np.stack([np.asarray(estimate.values) - truth for estimate in found])
        inside = np.abs(errors) <= 1.96 * np.stack([np.asarray(e.std_error) for e in found])
        measured[name] = (errors**2).mean(), inside.mean()
    return measured


def _summary(cells: list[dict]) -> list[float]:
    """The geometric mean over models of the ratio to Leverage, the worst, and the mean coverage."""
    summary = []
    for name in ESTIMATORS:
        ratios = [cell[name][0] / cell["Leverage"][0] for cell in cells]
        covered = float(np.mean([cell[name][1] for cell in cells]))
        summary += [float(np.exp(np.mean(np.log(ratios)))), float(max(ratios)), covered]
    return summary


def _large_background(functions: dict, rows, pool, keys: int):
    """Per model: the error of `model_rows=` over that of a hundred rows at the same cost."""
    for name, model in functions.items():
        truth = np.asarray(jaxshap.shapley_values(jaxshap.marginal(model, rows, pool))).T
        large, few, inside = [], [], []
        for key in range(keys):
            spread = jaxshap.explain(model, rows, pool, model_rows=20_000, key=key)
            large.append(((spread.values - truth) ** 2).mean())
            inside.append(np.abs(spread.values - truth) <= 1.96 * spread.std_error)
            sample = pool[np.random.default_rng(key).choice(len(pool), 100, replace=False)]
            hundred = jaxshap.explain(model, rows, sample, budget=200, key=key)
            few.append(((hundred.values - truth) ** 2).mean())
        ratio, covered = np.mean(large) / np.mean(few), np.mean(inside)
        cost = "4,000 background rows, 20,000 model rows"
        yield f"- {name}: {cost}: {ratio:.3f} of the error of 100 rows, covered {covered:.2f}"


if __name__ == "__main__":
    main()
