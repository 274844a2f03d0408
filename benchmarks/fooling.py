"""The attack of Slack et al. (2020) over many seeds: does it work, and is it found?

    python benchmarks/fooling.py [--data FOLDER] [--seeds 10]

On made-up people, and on ProPublica's. For each seed one attacked model and four honest ones; what
tells them apart is the part of the credit that moves from the marginal to the manifold game.
"""

import argparse
import functools
import pathlib
import sys
from collections.abc import Callable

import numpy as np
import report

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
import fooling_shap as fooling

EXPOSED = 5  # seeds of which every figure is shown: each explains in three games


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    compas = functools.partial(fooling.read_compas, report.data_file(options.data, "compas.csv.gz"))
    sources = {"made up": fooling.make_people, "COMPAS": compas}
    lines, notes = [], []
    for name, read in sources.items():
        moved = fooling.credit_moved(read, options.seeds)
        for model, shares in moved.items():
            extremes = (f"{100 * share:.0f} %" for share in (min(shares), max(shares)))
            lines.append([name, model, percent(shares), *extremes])
            print(*lines[-1], flush=True)
        overlap = "do not overlap" if fooling.are_apart(moved) else "overlap"
        seeds = min(EXPOSED, options.seeds)
        seen = [exposed(read, seed) for seed in range(seeds)]
        shown = {what: f"{percent([one[what] for one in seen])} %" for what in seen[0]}
        figures = "; ".join(f"{what} {figure}" for what, figure in shown.items())
        notes.append(f"{name}: attacked and honest models {overlap}. {seeds} seeds: {figures}.\n")
    notes.append("Means are in percent, with standard errors over seeds.")
    header = ["people", "model", "mean", "least credit moved", "most"]
    title = (
        f"The attack over {options.seeds} seeds: credit that moves from the marginal to the "
        "manifold game"
    )
    report.write_table(__file__, title, header, lines, notes)


def percent(shares: list[float]) -> str:
    """Their mean and its standard error, of all seeds."""
    percents = 100 * np.asarray(shares, float)
    return report.measured(float(percents.mean()), float(percents.std(ddof=1) / len(shares) ** 0.5))


def exposed(read: Callable[[int], fooling.People], seed: int) -> dict[str, float]:
    """What each game says, and how many points are recognised as no people."""
    people = read(seed)
    model, right = fooling.attacked(people, seed)
    explanations = fooling.explanations(model, people)
    race, noise = (people.names[place] for place in (people.race, people.noise))
    new = people.rows[-fooling.NUM_KEPT :]
    by_race = (np.asarray(model(new)) == new[:, people.race]).mean()
    figures = {
        "the detector is right about new people and mixtures in": right,
        "new people decided by race": float(by_race),
    }
    for game, explanation in explanations.items():
        shares = fooling.shares(explanation)
        figures[f"credit of race in the {game} game"] = shares[race]
        figures[f"of noise in the {game} game"] = shares[noise]
    for name, share in fooling.outside_shares(people, seed=seed).items():
        figures[f"points outside by {name}"] = share.overall
    return figures


if __name__ == "__main__":
    main()
