"""The attack of Slack et al. (2020) over many seeds: does it work, and is it found?

    python benchmarks/fooling.py [--data FOLDER] [--seeds 10]

On made-up people, and on ProPublica's where FOLDER holds compas.csv.gz. For each seed one attacked
model and four honest ones; what tells them apart is the part of the credit that moves from the
marginal to the manifold game.
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
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--data", help="folder with compas.csv.gz; without it, made-up people only"
    )
    options.add_argument("--seeds", type=int, default=10)
    options = options.parse_args()
    sources = {"made up": fooling.make_people}
    if options.data:
        sources["COMPAS"] = functools.partial(
            fooling.read_compas, report.data_file(options, "compas.csv.gz")
        )
    lines, notes = [], []
    for name, read in sources.items():
        moved = fooling.credit_moved(read, options.seeds)
        for model, shares in moved.items():
            lines.append(
                [name, model, *(f"{100 * part:.0f} %" for part in (min(shares), max(shares)))]
            )
            print(*lines[-1], flush=True)
        apart = fooling.are_apart(moved)
        notes.append(
            f"{name}: attacked and honest models {'do not overlap' if apart else 'overlap'}. "
            f"{exposed(read)}\n"
        )
    header = ["people", "model", "least credit moved", "most"]
    moves = "credit that moves from the marginal to the manifold game"
    title = f"The attack over {options.seeds} seeds: {moves}"
    report.write_table(__file__, title, header, lines, notes)


def exposed(read) -> str:
    """Of the first seed: what each game says, and how many points are recognised as no people."""
    people = read(0)
    model, right = fooling.attacked(people, 0)
    parts = {
        name: fooling.shares(found) for name, found in fooling.explanations(model, people).items()
    }
    race, noise = (people.names[place] for place in (people.race, people.noise))
    new = people.rows[-fooling.NUM_KEPT :]
    by_race = (np.asarray(model(new)) == new[:, people.race]).mean()
    games = "; ".join(
        f"{name} {part[race]:.0%} and {part[noise]:.0%}" for name, part in parts.items()
    )
    outside = "; ".join(
        f"{found.overall:.0%} by {name}"
        for name, found in fooling.outside_shares(people, seed=0).items()
    )
    return (
        f"Seed 0: the detector is right about {right:.0%} of new people and mixtures, and "
        f"{by_race:.0%} of new people "
        f"are decided by race. Credit of race and of noise: {games}. Points outside: {outside}; of "
        "people 5%."
    )


if __name__ == "__main__":
    main()
