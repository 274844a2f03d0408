"""Residuals of age and sex on NHANES, after Kumar et al. (2021) and Ngo.

    python benchmarks/nhanes_residuals.py --data FOLDER

Boosted trees predict the log-odds of death within the follow-up. What sex adds depends on age: one
number per feature cannot say so, and the residual of sex shows. Which features the figure has was
left open, so two readings are shown: six features, with exact values and residuals, and all
eighteen, with residuals sampled by noise stability. Missing entries are replaced by medians.
"""

import argparse
import pathlib

import jax
import matplotlib.pyplot as plt
import numpy as np
import report
from jaxtyping import Array, Float
from scipy.linalg import hadamard
from scipy.stats import spearmanr

import jaxshap
from jaxshap.plots.style import LINES

SIX = ("Age", "Sex", "Systolic BP", "Serum Cholesterol", "BMI", "White blood cells")
KEPT = 1_000  # people whom the model does not learn from


def read(path: pathlib.Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Rows without gaps, whether a person died, and the names, in a random order."""
    data = np.load(path)
    order = np.random.default_rng(0).permutation(len(data["X"]))
    rows, died = data["X"][order], data["y"][order] > 0
    rows = np.where(np.isnan(rows), np.nanmedian(rows, axis=0), rows)
    return rows.astype(np.float32), died, data["feature_names"].tolist()


def fitted(rows: np.ndarray, died: np.ndarray) -> tuple[jax.tree_util.Partial, float]:
    """The log-odds of boosted trees as a JAX function, and their area under the curve."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    options = {"n_estimators": 150, "max_depth": 4, "subsample": 0.7, "random_state": 0}
    model = GradientBoostingClassifier(**options).fit(rows[KEPT:], died[KEPT:])
    area = roc_auc_score(died[:KEPT], model.decision_function(rows[:KEPT]))
    return jax.tree_util.Partial(_log_odds, jaxshap.trees.read_trees(model)), float(area)


def _log_odds(trees, rows: Float[Array, "rows features"]) -> Float[Array, "rows"]:
    return trees.predict(rows)[:, -1]


def exact(game: jaxshap.Game) -> tuple[np.ndarray, np.ndarray]:
    """Shares of residuals (n, people), and what each pair's interaction adds (n, n, people)."""
    number = game.num_players
    members = np.arange(2**number)[:, None] >> np.arange(number) & 1 == 1
    worths = np.asarray(jaxshap.evaluate(game, members), np.float64)
    squares = (hadamard(2**number) @ worths / 2**number) ** 2
    gradients = members.T.astype(float) @ squares
    left = np.where(members.any(1), 1 - 1 / np.maximum(members.sum(1), 1), 0)
    residuals = members.T.astype(float) @ (left[:, None] * squares)
    pairs = np.zeros((number, *residuals.shape))
    for i in range(number):
        for j in range(number):
            if i != j:
                pairs[i, j] = squares[2**i + 2**j] / 2
    return residuals / gradients, pairs / gradients[:, None]


def mean(values: np.ndarray) -> str:
    return report.measured(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5))


def correlated(age: np.ndarray, values: np.ndarray) -> str:
    """Spearman's correlation with its standard error by the bootstrap over people."""
    rng = np.random.default_rng(0)
    picks = rng.integers(len(age), size=(400, len(age)))
    spread = np.std([spearmanr(age[pick], values[pick]).statistic for pick in picks])
    return report.measured(float(spearmanr(age, values).statistic), float(spread))


def draw(age, men, values, shares, of_age) -> None:
    """Values of sex, residual shares of sex, and what of these is the pair with age, by age."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    titles = "Shapley value of sex", "residual share of sex", "… from the pair with age"
    for axis, title, numbers in zip(axes, titles, (values, shares, of_age), strict=True):
        for group, colour, mark, name in (
            (men, LINES[0], "o", "men"),
            (~men, LINES[1], "^", "women"),
        ):
            axis.scatter(age[group], numbers[group], s=9, color=colour, marker=mark, label=name)
        axis.set(title=title, xlabel="age in years")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].axhline(0, color="0.6", linewidth=0.8)
    axes[0].set_ylabel("log-odds of death")
    axes[1].set_ylabel("‖r‖² / ‖∇v‖²")
    axes[0].legend(frameon=False)
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=110)


def six_features(rows, died, names, people: int) -> tuple[list[list], str]:
    columns = [names.index(name) for name in SIX]
    few = rows[:, columns]
    model, area = fitted(few, died)
    game = jaxshap.marginal(model, few[:people], few[KEPT : KEPT + 100])
    shares, pairs = exact(game)
    values = np.asarray(jaxshap.shapley_values(game))
    age, men = few[:people, 0], few[:people, 1] == 1
    lines = [
        ["six features, exact", f"residual share of {name}", mean(shares[i])]
        for i, name in enumerate(SIX)
    ]
    for j, name in enumerate(SIX):
        if name != "Sex":
            lines.append(
                ["six features, exact", f"… of Sex, from the pair with {name}", mean(pairs[1, j])]
            )
    for name, group in (("men", men), ("women", ~men)):
        text = f"correlation of age with the value of sex, {name}"
        lines.append(["six features, exact", text, correlated(age[group], values[1, group])])
    draw(age, men, values[1], shares[1], pairs[1, 0])
    return lines, f"six features: area under the curve {area:.3f}, {people} people"


def all_features(rows, died, names, people: int, draws: int) -> tuple[list[list], str]:
    model, area = fitted(rows, died)
    game = jaxshap.marginal(model, rows[:people], rows[KEPT : KEPT + 20])
    budget = draws * (2 * len(names) + 2)
    found = jaxshap.residuals.estimate_shares(0, game, budget)
    values, errors = np.asarray(found.values, float), np.asarray(found.std_error, float)
    lines = []
    for name in ("Age", "Sex"):
        own = values[names.index(name)]
        lines.append(["all features, sampled", f"residual share of {name}", mean(own)])
    typical = float(np.median(errors[names.index("Sex")]))
    note = f"all features: area under the curve {area:.3f}, {people} people, {budget} evaluations "
    return lines, note + f"each, typical standard error of one person's share of Sex {typical:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--people", type=int, default=400)
    parser.add_argument("--sampled-people", type=int, default=40)
    parser.add_argument("--draws", type=int, default=64)
    options = parser.parse_args()
    rows, died, names = read(report.data_file(options.data, "nhanes.npz"))
    lines, note = six_features(rows, died, names, options.people)
    more, sampled = all_features(rows, died, names, options.sampled_people, options.draws)
    notes = [
        f"{note}; {sampled}. Means over people ± standard errors over people; errors of "
        "correlations (Spearman) are of the bootstrap over people.",
    ]
    title = "Residuals of age and sex on NHANES, after Kumar et al. (2021)"
    report.write_table(__file__, title, ["reading", "what", "value"], lines + more, notes)


if __name__ == "__main__":
    main()
