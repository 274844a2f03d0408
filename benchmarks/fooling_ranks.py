"""The figure of Slack et al. (2020) on COMPAS: who comes first, without an attack and with two.

    python benchmarks/fooling_ranks.py --data FOLDER

Three panels: a model that decides by race, the same behind an attack with one decoy, and behind one
with two decoys. Bars say in how many people a feature comes first, second and third by |Shapley
value| of the marginal game, exact, against the ten centres that the attacker knows. With two decoys
the innocent model is their exclusive or, as published; their mean is shown as another reading.
"""

import argparse
import pathlib
import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import report
from jaxtyping import Array, Float

import jaxshap
from jaxshap.plots.style import LINES

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
import fooling_shap as fooling

SHOWN = ("race", "decoy", "second decoy", "another feature")
PANELS = ("no attack", "one decoy", "two decoys, exclusive or", "two decoys, mean")


def make_people(path: pathlib.Path, seed: int, panel: str) -> fooling.People:
    """Those of the published attack, their noise being the decoy, with a second one if asked."""
    people = fooling.read_compas(path, seed)
    if not panel.startswith("two"):
        return people
    second = np.random.default_rng(seed + 100).random(len(people.rows)) < 0.5
    rows = np.column_stack([people.rows, second]).astype(np.float32)
    return people._replace(rows=rows, names=(*people.names, "second noise"))


def make_model(people: fooling.People, seed: int, panel: str):
    if panel == PANELS[0]:
        return jax.tree_util.Partial(_by_race, people.race)
    detector, _ = fooling.trained_detector(people, seed, num_trees=20)
    decide = _one if panel == PANELS[1] else _exclusive if panel == PANELS[2] else _mean
    return jax.tree_util.Partial(_attacked, decide, detector, people.race, people.noise)


def _by_race(race: int, points: Float[Array, "points features"]) -> Float[Array, "points"]:
    return points[:, race]


def _attacked(decide, detector, race: int, noise: int, points):
    looks_real = detector.predict(points)[:, -1] > 0.5
    return jnp.where(looks_real, points[:, race], decide(points[:, noise], points[:, -1]))


def _one(first, last):
    return first


def _exclusive(first, last):
    return jnp.abs(jnp.round(first) - jnp.round(last))


def _mean(first, last):
    return (first + last) / 2


def places(path: pathlib.Path, seed: int, panel: str, count: int) -> Float[np.ndarray, "kinds 3"]:
    """In what share of people each kind of feature comes first, second and third."""
    people = make_people(path, seed, panel)
    model = make_model(people, seed, panel)
    centres = fooling.centres(people)
    game = jaxshap.marginal(model, people.rows[-count:], centres.rows, weights=centres.weights)
    sizes = np.abs(np.asarray(jaxshap.shapley_values(game)))  # (features, people)
    kind = np.full(len(people.names), 3)
    kind[people.race], kind[people.noise] = 0, 1
    if panel.startswith("two"):
        kind[-1] = 2
    order = np.argsort(-sizes, axis=0)[:3]
    there = np.take_along_axis(sizes, order, 0) > 1e-6  # a feature without value has no place
    return np.stack([((kind[order] == k) & there).mean(1) for k in range(len(SHOWN))])


def draw(shares: dict[str, np.ndarray]) -> None:
    figure, axes = plt.subplots(
        1, len(PANELS), figsize=(14, 3.6), sharey=True, layout="constrained"
    )
    for axis, (panel, of_seeds) in zip(axes, shares.items(), strict=True):
        mean = 100 * of_seeds.mean(0)
        error = 196 * of_seeds.std(0, ddof=1) / len(of_seeds) ** 0.5
        below = np.zeros(3)
        for kind, name in enumerate(SHOWN):
            look = {"color": LINES[kind], "label": name, "edgecolor": "white", "capsize": 2}
            axis.bar(range(3), mean[kind], bottom=below, yerr=error[kind], **look)
            below += mean[kind]
        axis.set(title=panel, xticks=range(3))
        axis.set_xticklabels(["first", "second", "third"])
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("% of people, 95 % intervals")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--people", type=int, default=100)
    options = parser.parse_args()
    path = report.data_file(options.data, "compas.csv.gz")
    rows, shares = [], {}
    for panel in PANELS:
        found = [places(path, seed, panel, options.people) for seed in range(options.seeds)]
        shares[panel] = of_seeds = np.asarray(found)
        for kind, name in enumerate(SHOWN):
            mean = 100 * of_seeds[:, kind].mean(0)
            error = 100 * of_seeds[:, kind].std(0, ddof=1) / options.seeds**0.5
            cells = [report.measured(*map(float, pair)) for pair in zip(mean, error, strict=True)]
            rows.append([panel, name, *cells])
            print(*rows[-1], flush=True)
    notes = [
        f"Percent of {options.people} people whom the attacker has not seen, ± standard errors "
        f"over {options.seeds} seeds (data, decoys, detector). Values are exact; a feature whose "
        "value is 0 has no place.",
    ]
    title = "Who comes first on COMPAS, after Slack et al. (2020)"
    header = ["panel", "feature", "first, %", "second, %", "third, %"]
    report.write_table(__file__, title, header, rows, notes)
    draw(shares)


if __name__ == "__main__":
    main()
