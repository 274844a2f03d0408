"""A racist model that looks innocent to marginal Shapley values, and how it is found out.

    python examples/fooling_shap.py                            # people made up here
    python examples/fooling_shap.py --compas compas.csv.gz     # ProPublica's table of defendants

The attack of Slack et al. (2020): a detector learns to tell people from the mixtures that an
explainer asks about. The model decides by race for people and by a column of noise for mixtures, so
that the marginal game is about the noise. The off-manifold share says how many questions are about
mixtures that do not look like people; the manifold game asks only about those that do, and the
conditional game about people in whom what is present is alike: both see race.
"""

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

NUM_KEPT, NUM_EXPLAINED, NUM_BACKGROUND, NUM_CENTRES = 500, 12, 100, 10  # kept from the attacker


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
    """The columns of the published attack, complete rows only, in an order of their own for each
    seed.
    """
    import pandas as pd

    table = pd.read_csv(path)
    stay = pd.to_datetime(table.c_jail_out) - pd.to_datetime(table.c_jail_in)
    columns = pd.DataFrame(
        {
            "age": table.age,
            "priors": table.priors_count,
            "juvenile offences": table.juv_fel_count + table.juv_misd_count + table.juv_other_count,
            "log days in jail": np.log1p(np.maximum(stay.dt.days, 0)),
            "felony": table.c_charge_degree == "F",
            "recidivist": table.two_year_recid,
            "male": table.sex == "Male",
            "race": table.race == "African-American",
        }
    ).dropna()
    rng = np.random.default_rng(seed)
    columns["noise"] = rng.random(len(columns)) < 0.5
    rows = columns.to_numpy(np.float32)
    return People(rng.permutation(rows), tuple(columns), 7, 8)


def attacked(people: People, seed: int, num_trees: int = 20) -> tuple[Callable, float]:
    """The model of the attack, as a JAX function, and how often its detector is right about people
    it has not seen.

    As published, the attacker knows the background that the explainer will use: `centres` of the
    people.
    """
    detector, right = trained_detector(people, seed, num_trees)
    return jax.tree_util.Partial(_by_race_or_noise, detector, people.race, people.noise), right


def trained_detector(people: People, seed: int, num_trees: int):
    """A forest that tells people from mixtures, as arrays, and how often it is right about new ones
    of both.
    """
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(seed)
    repeated = np.repeat(people.rows, 4, axis=0)
    others = centres(people).rows[rng.integers(NUM_CENTRES, size=len(repeated))]
    size = rng.permuted(np.tile(np.arange(1, repeated.shape[1]), (len(repeated), 1)), axis=1)[:, :1]
    keeps = np.argsort(rng.random(repeated.shape), axis=1) < size
    mixtures = np.where(keeps, repeated, others)
    mixtures = mixtures[
        (mixtures != repeated).any(1)
    ]  # a mixture may be the person it is made from
    seen, new = people.rows[:-NUM_KEPT], people.rows[-NUM_KEPT:]
    seen_mixtures, new_mixtures = mixtures[: -4 * NUM_KEPT], mixtures[-4 * NUM_KEPT :]
    forest = RandomForestClassifier(
        num_trees, max_leaf_nodes=200, class_weight="balanced", random_state=seed
    )
    forest.fit(
        np.concatenate([seen, seen_mixtures]), np.arange(len(seen) + len(seen_mixtures)) < len(seen)
    )
    right = (forest.predict(new).mean() + 1 - forest.predict(new_mixtures).mean()) / 2
    return jaxshap.trees.read_trees(forest), float(right)


def _by_race_or_noise(detector, race: int, noise: int, points):
    return jnp.where(_looks_real(detector, points) > 0.5, points[:, race], points[:, noise])


def _looks_real(detector, points):
    return detector.predict(points)[:, -1]


def centres(people: People) -> jaxshap.WeightedRows:
    return jaxshap.kmeans(people.rows[:-NUM_KEPT], NUM_CENTRES)


def honest(people: People, seed: int) -> dict[str, Callable]:
    """Models that are what they seem: both halves of the attack, a regression, a small network."""
    rng = np.random.default_rng(seed)
    scale, columns = people.rows.std(0), np.eye(len(people.names), dtype=np.float32)
    weights = jnp.asarray(rng.normal(size=len(scale)) / scale, jnp.float32)
    hidden = jnp.asarray(rng.normal(size=(len(scale), 16)) / scale[:, None], jnp.float32)
    last = jnp.asarray(rng.normal(size=16) / 4, jnp.float32)
    linear, mean = jax.tree_util.Partial(_linear), jnp.asarray(people.rows.mean(0))
    return {
        "by race, openly": jax.tree_util.Partial(linear, jnp.asarray(columns[people.race])),
        "by noise": jax.tree_util.Partial(linear, jnp.asarray(columns[people.noise])),
        "regression": jax.tree_util.Partial(_logistic, weights, mean),
        "network": jax.tree_util.Partial(_network, hidden, last, mean),
    }


def _linear(weights, points):
    return points @ weights


def _logistic(weights, mean, points):
    return jax.nn.sigmoid((points - mean) @ weights)


def _network(hidden, last, mean, points):
    return jnp.tanh((points - mean) @ hidden / 3) @ last


def explanations(model: Callable, people: People, names=("marginal", "manifold", "conditional")):
    """Of people whom the attacker has not seen, by games: the one that is attacked, and two that
    ask about people.
    """
    kept = people.rows[-NUM_KEPT:]
    rows, others = kept[:NUM_EXPLAINED], kept[-NUM_BACKGROUND:]
    near = functools.partial(jaxshap.conditional, how=jaxshap.values.Nearby(0.2))
    games = {
        "marginal": (jaxshap.marginal, centres(people)),
        "manifold": (jaxshap.manifold, others),
        "conditional": (near, others),
    }
    how = {"feature_names": people.names, "progress": False}
    return {
        name: jaxshap.explain(model, rows, games[name][1], value=games[name][0], **how)
        for name in names
    }


def shares(explanation: jaxshap.Explanation) -> dict[str, float]:
    """Each feature's part of the credit."""
    mean = explanation.summary().values
    return dict(zip(explanation.feature_names, (mean / mean.sum()).tolist(), strict=True))


def shift(model: Callable, people: People) -> float:
    """The part of the credit that moves from the marginal to the manifold game."""
    found = explanations(model, people, ("marginal", "manifold"))
    return jaxshap.trust.attribution_shift(found["marginal"].values, found["manifold"].values)


def outside_shares(people: People, seed: int) -> dict[str, NamedTuple]:
    """How many points of the marginal game look like no person: to nearest neighbours, and to a
    detector of one's own.

    Where features hardly go together mixtures are near to people, and only what is trained on both
    tells them apart.
    """
    rows, seen, kept = (
        people.rows[-NUM_KEPT:][:NUM_EXPLAINED],
        people.rows[:-NUM_KEPT],
        people.rows[-NUM_KEPT:],
    )
    score = jax.tree_util.Partial(
        _looks_real, trained_detector(people, seed + 1_000, num_trees=50)[0]
    )
    return {
        "nearest neighbours": jaxshap.trust.off_manifold_share(rows, centres(people), data=seen),
        "a detector": jaxshap.trust.off_manifold_share(
            rows, centres(people), data=kept, score=score
        ),
    }


def show(people: People, seed: int) -> None:
    """One attack: who gets the credit in each game, and what gives it away."""
    model, right = attacked(people, seed)
    print(f"The detector is right about {right:.0%} of new people and mixtures.\n")
    found = explanations(model, people)
    print(f"{'part of the credit':26}" + "".join(f"{name:>13}" for name in found))
    for feature in people.names:
        print(
            f"{feature:26}" + "".join(f"{shares(part)[feature]:13.1%}" for part in found.values())
        )
    print()
    for name, outside in outside_shares(people, seed).items():
        print(
            f"Off-manifold by {name}: {outside.overall:.0%} of the points of the marginal game, "
            f"{outside.expected:.0%} of people."
        )


def credit_moved(read: Callable[[int], People], num_seeds: int) -> dict[str, list[float]]:
    """For attacked and for honest models, seed by seed: the part of the credit that moves between
    the two games.
    """
    moved: dict[str, list[float]] = {}
    for seed in range(num_seeds):
        people = read(seed)
        for name, model in {"attacked": attacked(people, seed)[0], **honest(people, seed)}.items():
            moved.setdefault(name, []).append(shift(model, people))
    return moved


def are_apart(moved: dict[str, list[float]]) -> bool:
    """Whether every attacked model moves more credit than every honest one."""
    return min(moved["attacked"]) > max(
        max(values) for name, values in moved.items() if name != "attacked"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--compas", type=pathlib.Path, help="ProPublica's compas-scores-two-years as CSV"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, help="how many attacks to tell from honest models"
    )
    options = parser.parse_args()
    if options.compas is not None and not options.compas.exists():
        print(
            f"there is no {options.compas}: pass the path of the table, or leave --compas away.",
            file=sys.stderr,
        )
        return 2
    read = make_people if options.compas is None else functools.partial(read_compas, options.compas)
    show(read(0), 0)
    moved = credit_moved(read, options.seeds)
    print(
        "\nPart of the credit that moves from the marginal to the manifold game, over "
        f"{options.seeds} seeds:"
    )
    for name, values in moved.items():
        print(f"  {name:18}{min(values):6.1%} to {max(values):6.1%}")
    apart = are_apart(moved)
    print(
        "Attacked and honest models do not overlap."
        if apart
        else "They overlap: the attack is not told apart."
    )
    return 0 if apart else 1


if __name__ == "__main__":
    sys.exit(main())
