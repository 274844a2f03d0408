"""Figure 1 of Grah & Thouvenot (2020): why a person of COMPAS is predicted to reoffend.

    python benchmarks/compas_figure.py --data FOLDER

As there: a person with a probability of about 0.75 against people who are predicted not to
reoffend. The paper leaves open what the model learns, and both readings are shown: whether a person
did reoffend within two years, and whether COMPAS scored the person medium or high. Legal and
custody status are not in ProPublica's table of two years. The model is a random forest of people
other than those explained. Every estimate is beside the exact value, ± its error over keys.
"""

import argparse
import functools
import pathlib
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import report
from jaxtyping import Array, Float

import jaxshap
from jaxshap.estimators import Castro, Permutation, ProjectedSGD, RootStep

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
import fooling_shap

PROBABILITY = 0.75  # of the person in the figure
KEPT = 1_000  # people whom the model does not learn from
REFERENCES = 200
METHODS = {
    "classical Monte Carlo": Castro(),
    "optimised Monte Carlo": Permutation(antithetic=False),
    "projected SGD": ProjectedSGD(RootStep(0.05), bound=1.0),  # printed 0.1/√t, along F/2
}


class Case(NamedTuple):
    """A model of people, as a JAX function, with people it has not seen."""

    model: jax.tree_util.Partial
    rows: Float[np.ndarray, "people features"]
    names: tuple[str, ...]
    accuracy: float


def read_case(path: pathlib.Path, reading: str) -> Case:
    """The forest that predicts one of the two targets from seven features."""
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier

    people = fooling_shap.read_compas(path, 0)
    names = [name for name in people.names if name not in ("recidivist", "noise")]
    rows = people.rows[:, [people.names.index(name) for name in names]]
    if reading == "did reoffend":
        target = people.rows[:, people.names.index("recidivist")]
    else:  # in the order of the rows: complete rows alone, permuted as there
        table = pd.read_csv(path).dropna(subset=["c_jail_in", "c_jail_out"])
        rng = np.random.default_rng(0)
        rng.random(len(table))  # the column of noise is drawn first
        target = rng.permutation((table.score_text != "Low").to_numpy(float))
        if len(target) != len(rows):
            raise SystemExit("the table has other missing entries than the columns that are read")
    forest = RandomForestClassifier(100, max_leaf_nodes=50, random_state=0)
    forest.fit(rows[KEPT:], target[KEPT:])
    accuracy = float((forest.predict(rows[:KEPT]) == target[:KEPT]).mean())
    model = jax.tree_util.Partial(_probability, jaxshap.trees.read_trees(forest))
    return Case(model, rows[:KEPT], tuple(names), accuracy)


def _probability(trees, rows: Float[Array, "rows features"]) -> Float[Array, "rows"]:
    return trees.predict(rows)[:, -1]


def explained(case: Case, keys: int, budget: int) -> tuple[jaxshap.Explanation, dict]:
    """The exact explanation of the person, and the estimates of each method by key."""
    predicted = np.asarray(case.model(jnp.asarray(case.rows)))
    person = case.rows[[np.abs(predicted - PROBABILITY).argmin()]]
    references = case.rows[predicted < 0.5][:REFERENCES]
    look = {"feature_names": case.names, "progress": False}
    exact = jaxshap.explain(case.model, person, references, estimator=jaxshap.Exact(), **look)
    worths = jaxshap.evaluate(
        jaxshap.marginal(case.model, person, references), _all(len(case.names))
    )
    game = jaxshap.table(worths[:, 0])

    def run(method):
        estimate = functools.partial(
            jaxshap.estimate, game=game, estimator=method, budget=budget, progress=False
        )
        found = [estimate(key).values for key in jax.random.split(jax.random.key(1), keys)]
        return np.asarray(found, float)

    return exact, {name: run(method) for name, method in METHODS.items()}


def _all(number: int) -> np.ndarray:
    """S stands at index Σ_{i∈S} 2**i."""
    return np.arange(2**number)[:, None] >> np.arange(number) & 1 == 1


def draw(exact: dict[str, jaxshap.Explanation]) -> None:
    figure, axes = plt.subplots(1, len(exact), figsize=(14, 4.6), layout="constrained")
    for axis, (reading, explanation) in zip(axes, exact.items(), strict=True):
        jaxshap.plots.waterfall(explanation, ax=axis)
        axis.set_title(f"target: {reading}")
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--budget", type=int, default=7002)
    options = parser.parse_args()
    path = report.data_file(options.data, "compas.csv.gz")
    rows, notes, exact = [], [], {}
    for reading in ("did reoffend", "scored medium or high"):
        case = read_case(path, reading)
        exact[reading], estimates = explained(case, options.keys, options.budget)
        of_person = exact[reading]
        values = np.asarray(of_person.values[0], float)
        for i in np.argsort(-np.abs(values)):
            shown = [
                report.measured(found[:, i].mean(), found[:, i].std(ddof=1) / len(found) ** 0.5)
                for found in estimates.values()
            ]
            data = f"{float(of_person.data[0, i]):.3g}"
            rows.append([reading, case.names[i], data, float(values[i]), *shown])
        base = float(of_person.base_values[0])
        notes.append(
            f"{reading}: accuracy {case.accuracy:.3f} on people kept apart; probability "
            f"{base + values.sum():.3f}, mean of {REFERENCES} references {base:.3f}; published "
            "0.75 and 0.13. "
        )
    notes.append(f"Estimates: means over {options.keys} keys of {options.budget} evaluations, ± ")
    notes[-1] += "standard errors. Values are exact from all 128 coalitions."
    header = ["target", "feature", "of the person", "exact", *METHODS]
    title = "A person of COMPAS, after figure 1 of Grah & Thouvenot (2020)"
    report.write_table(__file__, title, header, rows, notes)
    draw(exact)


if __name__ == "__main__":
    main()
