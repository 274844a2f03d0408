"""The attack of Slack et al. (2020) over many seeds: does it work, and is it found?

    python benchmarks/fooling.py [--data FOLDER] [--seeds 10]

On made-up people, and on ProPublica's. For each seed one attacked model and four honest ones; what
tells them apart is the part of the credit that moves from the marginal to the manifold game.
"""

import argparse
import functools
import pathlib
import sys

import numpy as np
import report

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
import fooling_shap as fooling


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
            percent = 100 * np.asarray(shares)
            error = percent.std(ddof=1) / np.sqrt(len(percent))
            lines.append([name, model, report.measured(percent.mean(), error), *extremes])
            print(*lines[-1], flush=True)
        overlap = "do not overlap" if fooling.are_apart(moved) else "overlap"
        notes.append(f"{name}: attacked and honest models {overlap}. {exposed(read)}\n")
    notes.append("Means are in percent, with standard errors over seeds.")
    header = ["people", "model", "mean", "least credit moved", "most"]
    title = (
        f"The attack over {options.seeds} seeds: credit that moves from the marginal to the "
        "manifold game"
    )
    report.write_table(__file__, title, header, lines, notes)


def exposed(read) -> str:
    """Of the first seed: what each game says, and how many points are recognised as no people."""
    people = read(0)
    model, right = fooling.attacked(people, 0)
    explanations = fooling.explanations(model, people)
    shares = {game: fooling.shares(explanation) for game, explanation in explanations.items()}
    race, noise = (people.names[place] for place in (people.race, people.noise))
    new = people.rows[-fooling.NUM_KEPT :]
    by_race = (np.asarray(model(new)) == new[:, people.race]).mean()
    credit = "; ".join(
        f"{game} {share[race]:.0%} and {share[noise]:.0%}" for game, share in shares.items()
    )
    outside = "; ".join(
        f"{share.overall:.0%} by {name}"
        for name, share in fooling.outside_shares(people, seed=0).items()
    )
    return (
        f"Seed 0: the detector is right about {right:.0%} of new people and mixtures, and "
        f"{by_race:.0%} of new people are decided by race. Credit of race and of noise: {credit}. "
        f"Points outside: {outside}; of people 5%."
    )


if __name__ == "__main__":
    main()
