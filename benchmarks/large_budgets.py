"""The default beyond the 4,000 pairs that its process takes: squared error, stated error, and
Leverage's, by budget.

    python benchmarks/large_budgets.py --games FOLDER

FOLDER holds games.npz (see `peers.stored_games`); those of 14 players and more are taken, where
2**n is not affordable.
"""

import argparse
import pathlib

import jax
import numpy as np
import report
from peers import stored_games

import jaxshap

BUDGETS = (7_500, 8_200, 16_000, 40_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=pathlib.Path, required=True)
    parser.add_argument("--keys", type=int, default=4)
    options = parser.parse_args()
    rows = []
    for name, worths, truth in stored_games(options.games):
        if len(truth) < 14:
            continue
        game = jaxshap.make_game(jaxshap.host(worths), len(truth))
        cells = [
            _cell(game, truth, budget, options.keys) if budget < 2 ** len(truth) else "–"
            for budget in BUDGETS
        ]
        rows.append([name, len(truth), *cells])
        print(*rows[-1], sep="  ", flush=True)
        jax.clear_caches()
    notes = [
        f"{options.keys} keys, float32. Each cell: ‖φ̂ − φ‖² / ‖φ‖² of the default · mean square "
        "of its stated errors over that of its true ones (1 would be right) · its squared error "
        "over Leverage's.",
    ]
    header = ["game", "players", *(f"{budget:,}" for budget in BUDGETS)]
    report.write_table(__file__, "The default at large budgets", header, rows, notes)


def _cell(game: jaxshap.Game, truth: np.ndarray, budget: int, keys: int) -> str:
    found, others = (
        [jaxshap.estimate(key, game, estimator, budget) for key in range(keys)]
        for estimator in (jaxshap.OddGP(), jaxshap.Leverage())
    )
    ours, theirs = (
        np.mean([((np.asarray(one.values, float) - truth) ** 2).sum() for one in runs])
        for runs in (found, others)
    )
    stated = np.mean([(np.asarray(one.std_error, float) ** 2).sum() for one in found])
    return f"{ours / (truth**2).sum():.1e} · {stated / ours:.2g} · {ours / theirs:.2g}"


if __name__ == "__main__":
    main()
