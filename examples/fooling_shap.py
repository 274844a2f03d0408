"""A racist model that looks innocent to marginal Shapley values, and how it is found out.

    python examples/fooling_shap.py                            # people made up here
    python examples/fooling_shap.py --compas compas.csv.gz     # ProPublica's table of defendants

The attack of Slack et al. (2020): a detector learns to tell people from the mixtures of people that explainers ask about.
The model decides by race for people and by a column of noise for mixtures. What is asked about mixtures is then about
the noise. The off-manifold share says that most questions are about mixtures; the manifold game asks about those that
look like people only, and the conditional game about people alone: both see race.
"""  # fmt: skip

import argparse
import functools
import pathlib
import sys
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxshap

NUM_EXPLAINED, NUM_BACKGROUND = 20, 150


class People(NamedTuple):
    """Rows, the names of their columns, and which of these is race and which is noise."""

    rows: np.ndarray
    names: tuple[str, ...]
    race: int
    noise: int


def make_people(seed: int, count: int = 3_000) -> People:
    """Defendants whose history goes with age, race and sex, and a column of noise."""
    rng = np.random.default_rng(seed)
    race, male = rng.random(count) < 0.5, rng.random(count) < 0.8
    age = 18 + rng.gamma(2.0, 8.0, count)
    priors = rng.gamma(2.0, 2.0, count) * np.where(race, 1.2, 1.0)
    columns = {
        "age": age,
        "years since first arrest": np.maximum(age - 17 - rng.gamma(1.0, 0.7, count), 0),
        "priors": priors,
        "days in jail": 3 * priors + rng.gamma(2.0, 0.5, count),
        "male": male,
        "race": race,
        "noise": rng.random(count) < 0.5,
    }
    return People(np.stack(list(columns.values()), axis=1).astype(np.float32), tuple(columns), 5, 6)


def read_compas(path: pathlib.Path, seed: int) -> People:
    """The columns of the published attack, complete rows only, in an order of their own for each seed."""
    import pandas as pd

    table = pd.read_csv(path)
    stay = pd.to_datetime(table.c_jail_out) - pd.to_datetime(table.c_jail_in)
    columns = pd.DataFrame(
        {
            "age": table.age, "priors": table.priors_count, "juvenile offences":
            table.juv_fel_count + table.juv_misd_count + table.juv_other_count, "log days in jail":
            np.log1p(np.maximum(stay.dt.days, 0)), "felony": table.c_charge_degree == "F",
            "recidivist": table.two_year_recid, "male": table.sex == "Male",
            "race": table.race == "African-American",
        }
    ).dropna()  # fmt: skip
    rng = np.random.default_rng(seed)
    columns["noise"] = rng.random(len(columns)) < 0.5
    rows = columns.to_numpy(np.float32)
    return People(rng.permutation(rows), tuple(columns), 7, 8)


def attacked(people: People, seed: int, trees: int = 30) -> tuple[Callable, float]:
    """The model of the attack, as a JAX function, and how often its detector is right about people it has not seen."""
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(seed)
    rows, others = people.rows, people.rows[rng.permutation(len(people.rows))]
    keeps = rng.random(rows.shape) < rng.random((len(rows), 1))
    mixtures = np.where(keeps, rows, others)
    real = (mixtures == rows).all(1) | (mixtures == others).all(1)  # mixtures that are people after all
    half = len(rows) - 500
    seen = np.concatenate([rows[:half], mixtures[:half][~real[:half]]])
    labels = np.concatenate([np.ones(half), np.zeros(len(seen) - half)])
    forest = RandomForestClassifier(trees, min_samples_leaf=2, random_state=seed, n_jobs=2).fit(seen, labels)
    detector = jaxshap.read_trees(forest)
    right = np.concatenate([forest.predict(rows[half:]) == 1, forest.predict(mixtures[half:][~real[half:]]) == 0])

    def model(detector, points):
        looks_real = detector.predict(points)[:, -1] > 0.5
        return jnp.where(looks_real, points[:, people.race], points[:, people.noise])

    return jax.tree_util.Partial(model, detector), float(right.mean())


def honest(people: People, seed: int) -> dict[str, Callable]:
    """Models that are what they seem: both halves of the attack, a regression and a small network."""
    rng = np.random.default_rng(seed)
    scale = 1 / people.rows.std(0)
    weights = jnp.asarray(rng.normal(size=len(people.names)) * scale, jnp.float32)
    hidden = jnp.asarray(rng.normal(size=(len(people.names), 16)) * scale[:, None], jnp.float32)
    last = jnp.asarray(rng.normal(size=16) / 4, jnp.float32)
    mean = jnp.asarray(people.rows.mean(0))
    return {
        "by race, openly": lambda points: points[:, people.race],
        "by noise": lambda points: points[:, people.noise],
        "regression": lambda points: jax.nn.sigmoid((points - mean) @ weights),
        "network": lambda points: jnp.tanh((points - mean) @ hidden / 3) @ last,
    }


def explanations(model: Callable, people: People) -> dict[str, jaxshap.Explanation]:
    """Of people who are not in the background, by the marginal, the manifold and the conditional game."""
    rows, background = people.rows[-500:][:NUM_EXPLAINED], people.rows[-NUM_BACKGROUND:]  # unknown to the detector
    near = functools.partial(jaxshap.conditional, how=jaxshap.Nearby(0.2))
    games = {"marginal": jaxshap.marginal, "manifold": jaxshap.manifold, "conditional": near}
    return {
        name: jaxshap.explain(model, rows, background, value=game, feature_names=people.names, progress=False)
        for name, game in games.items()
    }


def shares(explanation: jaxshap.Explanation) -> dict[str, float]:
    """Each feature's part of the credit."""
    mean = explanation.summary().values
    return dict(zip(explanation.feature_names, (mean / mean.sum()).tolist(), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compas", type=pathlib.Path, help="ProPublica's compas-scores-two-years as CSV")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.compas is not None and not options.compas.exists():
        print(
            f"there is no {options.compas}: pass the path of the COMPAS table, or leave --compas away.", file=sys.stderr
        )
        return 2
    people = make_people(options.seed) if options.compas is None else read_compas(options.compas, options.seed)
    model, right = attacked(people, options.seed)
    print(f"The detector is right about {right:.0%} of new people and mixtures.\n")
    found = explanations(model, people)
    print(f"{'part of the credit':22}" + "".join(f"{name:>13}" for name in found))
    for feature in people.names:
        print(f"{feature:22}" + "".join(f"{shares(part)[feature]:13.1%}" for part in found.values()))
    outside = jaxshap.off_manifold_share(found["marginal"].data, people.rows[-NUM_BACKGROUND:])
    print(
        f"\nOff-manifold: {outside.overall:.0%} of the points of the marginal game ({outside.expected:.0%} of people)."
    )
    print("\nPart of the credit that moves from the marginal to the manifold game:")
    for name, one in {"attacked": model, **honest(people, options.seed)}.items():
        both = found if name == "attacked" else explanations(one, people)
        shift = jaxshap.attribution_shift(both["marginal"].values, both["manifold"].values)
        print(f"  {name:18}{shift:6.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
