"""The figure of BayesSHAP on COMPAS: credible intervals, and how often they hold.

    python benchmarks/bayes_shap_compas.py --data FOLDER

After Slack et al. (2021): intervals of one person's values with few and with many perturbations.
The model is the forest of `compas_figure.py`, whose games have 128 coalitions, so that all values
are exact. The unconstrained regression, as printed, has another limit than the Shapley values; the
constrained one has them as its limit. Shares are over people and keys, with standard errors over
people, whose features and keys go together.
"""

import argparse
import functools
import pathlib

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import report
from compas_figure import read_case
from jaxtyping import Array, Bool, Float, Key

import jaxshap
from jaxshap.games import kernel_mass
from jaxshap.trust import bayes_shap, efficient_bayes_shap

BUDGETS = (50, 100, 500, 2000)
SHOWN = (100, 2000)  # in the picture


def unconstrained_limit(worths: Float[np.ndarray, "size people"]) -> Float[np.ndarray, "n people"]:
    """What the printed regression tends to: least squares over all coalitions by their chance."""
    number = len(worths).bit_length() - 1
    members = (np.arange(1, len(worths) - 1)[:, None] >> np.arange(number) & 1).astype(float)
    sizes = members.sum(1).astype(int)
    mass = np.asarray(kernel_mass(number))[sizes - 1] / np.bincount(sizes)[sizes]
    root = np.sqrt(mass)[:, None]
    return np.linalg.lstsq(root * members, root * (worths[1:-1] - worths[0]), rcond=None)[0]


@functools.partial(jax.jit, static_argnums=(0, 1))
def intervals(
    method, budget: int, keys: Key[Array, "keys"], worths: Float[Array, "size people"]
) -> Float[Array, "keys 2 n people"]:
    game = jaxshap.table(worths)
    return jax.lax.map(lambda key: jnp.stack(method(key, game, budget).interval()), keys)


def share(held: Bool[np.ndarray, "keys n people"]) -> str:
    """In percent, with a standard error over people."""
    by_person = 100 * held.mean((0, 1))
    return report.measured(by_person.mean(), by_person.std(ddof=1) / len(by_person) ** 0.5)


def draw(worths: Float[np.ndarray, "size"], truth, limit, names: tuple[str, ...]) -> None:
    figure, grid = plt.subplots(2, 2, figsize=(13, 7), sharex=True, layout="constrained")
    kinds = {"as printed": bayes_shap, "constrained to the gain": efficient_bayes_shap}
    for row, (kind, method) in zip(grid, kinds.items(), strict=True):
        for axis, budget in zip(row, SHOWN, strict=True):
            posterior = method(3, jaxshap.table(worths), budget)
            jaxshap.plots.credible_intervals(posterior, names, ax=axis)
            order = [names.index(label.get_text()) for label in axis.get_yticklabels()]
            places = axis.get_yticks()
            axis.plot(truth[order], places, "x", color="black", label="Shapley value")
            axis.plot(limit[order], places, "|", color="0.4", markersize=14, label="limit")
            axis.set_title(f"{kind}, {budget:,} evaluations")
    grid[0, 0].legend(frameon=False, loc="lower right")
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--keys", type=int, default=50, help="for each person")
    options = parser.parse_args()
    case = read_case(report.data_file(options.data, "compas.csv.gz"), "did reoffend")
    number = len(case.names)
    everybody = np.arange(2**number)[:, None] >> np.arange(number) & 1 == 1
    game = jaxshap.marginal(case.model, case.rows[: options.people], case.rows[-100:])
    worths = np.asarray(jaxshap.evaluate(game, everybody), np.float64)
    truth = np.asarray(jaxshap.shapley_values(jaxshap.table(worths)))
    limit = unconstrained_limit(worths)
    keys = jax.random.split(jax.random.key(0), options.keys)
    rows = []
    for budget in BUDGETS:
        for name, method in (("as printed", bayes_shap), ("constrained", efficient_bayes_shap)):
            found = np.asarray(intervals(method, budget, keys, jnp.asarray(worths)))
            lower, upper = found[:, 0], found[:, 1]
            own = limit if method is bayes_shap else truth
            width = (upper - lower).mean((0, 1))
            cells = [share((lower <= to) & (to <= upper)) for to in (truth, own)]
            error = width.std(ddof=1) / len(width) ** 0.5
            rows.append([budget, name, *cells, report.measured(width.mean(), error)])
            print(*rows[-1], flush=True)
    notes = [
        f"95 % intervals of {number} values of {options.people} people, {options.keys} keys each; "
        f"the forest is right about {100 * case.accuracy:.0f} % of people kept apart. The limit of "
        "the regression as printed is exact, from all coalitions; that of the constrained one is "
        "the Shapley values. Errors are standard errors over people.",
    ]
    header = ["evaluations", "regression", "cover the Shapley value, %", "cover their limit, %"]
    title = "BayesSHAP on COMPAS, after Slack et al. (2021)"
    report.write_table(__file__, title, [*header, "mean width"], rows, notes)
    draw(worths[:, 0], truth[:, 0], limit[:, 0], case.names)


if __name__ == "__main__":
    main()
