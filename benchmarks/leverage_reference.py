"""Our Leverage against the published Leverage SHAP: errors on games with known values, over those
in reference.json.

--games names a folder with games.npz (see `peers.stored_games`) and reference.json.
"""

import argparse
import json
import pathlib

import jax
import numpy as np
import report
from peers import stored_games

import jaxshap


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = pathlib.Path(__file__).resolve().parents[1] / "games"
    parser.add_argument("--games", type=pathlib.Path, default=folder)
    parser.add_argument("--keys", type=int, default=32)
    options = parser.parse_args()
    path = report.data_file(options.games, "reference.json", "--games")
    reference = json.loads(path.read_text())
    multiples, rows, means = ("5", "10", "20"), [], []
    for name, worths, truth in stored_games(options.games):
        game = jaxshap.make_game(jaxshap.host(worths), len(truth))
        ratios = []
        for multiple in multiples:
            budget = int(multiple) * len(truth)
            values = [
                jaxshap.estimate(key, game, jaxshap.Leverage(), budget).values
                for key in range(options.keys)
            ]
            errors = ((np.asarray(values, float) - truth) ** 2).sum(1) / (truth**2).sum()
            ratios.append(errors / reference[name][multiple]["leverage"])
        means.append([ratio.mean() for ratio in ratios])
        rows.append((name, *(measured(ratio) for ratio in ratios)))
        print(*rows[-1], flush=True)
        jax.clear_caches()
    over_games = np.log(means).T
    geometric = np.exp(over_games.mean(1))
    error = geometric * over_games.std(1, ddof=1) / np.sqrt(len(rows))
    rows.append(("geometric mean", *map(report.measured, geometric.tolist(), error.tolist())))
    title = "Leverage: mean squared error over that of the published implementation"
    notes = [
        f"{options.keys} keys of ours; budgets in multiples of the number of players, v(∅) and "
        "v(N) included. ± is the standard error over our keys; the published code's own error is "
        "one number per cell, without one. That of the geometric mean is over games, and holds "
        "both.",
    ]
    report.write_table(
        __file__, title, ("game", *(f"{multiple}n" for multiple in multiples)), rows, notes
    )


def measured(ratios: np.ndarray) -> str:
    """Their mean and its standard error."""
    return report.measured(float(ratios.mean()), float(ratios.std(ddof=1) / len(ratios) ** 0.5))


if __name__ == "__main__":
    main()
