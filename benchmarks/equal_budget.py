"""Every estimator of jaxshap and of its peers at equal budgets, on games with known Shapley values.

A budget counts distinct coalitions, ∅ and N among them. An error is ‖φ̂ − φ‖² / ‖φ‖², its mean over
seeds.
"""

import argparse
import dataclasses
import pathlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from peers import CountedGame, KnownGame, Method, installed_peers, stored_games, table_worths
from report import write_table
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.preprocessing import scale

import jaxshap
from jaxshap.engine import Answers, make_plan, read_estimator, solve

MULTIPLES = (5, 10, 20, 50)  # budgets, in players
DEFAULT, REFERENCE, TREES = "None (the default)", "Leverage", "RegressionAdjusted, trees"
OTHERWISE_LISTED = (jaxshap.Exact, jaxshap.OddGP, jaxshap.RegressionAdjusted)
PLAIN = [kind for kind in jaxshap.estimators.ESTIMATORS if kind not in OTHERWISE_LISTED]
OURS = (
    {DEFAULT: None}
    | {kind.__name__: kind() for kind in PLAIN}
    | {
        "Permutation(antithetic=False)": jaxshap.Permutation(antithetic=False),
        "Owen(halved=True)": jaxshap.Owen(halved=True),
        "RegressionAdjusted, linear": jaxshap.RegressionAdjusted(),
        TREES: jaxshap.RegressionAdjusted(jaxshap.estimators.BoostedTrees()),
    }
)
STYLES = {
    DEFAULT: ("#000000", "o-"),
    TREES: ("#0072B2", "s-"),
    "Permutation": ("#009E73", "^-"),
    "Castro": ("#56B4E9", "v-"),
    "shapiq KernelSHAP": ("#D55E00", "D--"),
    "shap KernelExplainer": ("#E69F00", "X--"),
}


class Score(NamedTuple):
    error: float
    covered: float  # share of values within 1.96 standard errors; NaN where there are none
    spent: float  # distinct coalitions over the budget


def trained_games() -> Iterator[KnownGame]:
    """Two rows each: a network on 14 features of breast cancer, in JAX, and boosted trees on
    diabetes, on the host.
    """
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X[:, :14]).astype(np.float32)
    yield from _rows_of("network on cancer", jaxshap.marginal(_network(X, y), X[:2], X[50:70]))
    X, y = load_diabetes(return_X_y=True)
    trees = GradientBoostingRegressor(max_depth=5, random_state=0).fit(X, y)
    yield from _rows_of(
        "trees on diabetes", jaxshap.marginal(jaxshap.host(trees.predict), X[:2], X[50:70])
    )


def our_method(name: str, estimator: jaxshap.Estimator | None) -> Method:
    """What `jaxshap.estimate` does, in the same steps, with worths that are counted."""

    def values(game: CountedGame, budget: int, seed: int) -> jaxshap.Estimate:
        n = game.num_players
        shape = jaxshap.make_game(lambda inside: inside.sum(dtype=np.float32), n)
        empty, full = np.float32(game([[False] * n, [True] * n]))
        known = dataclasses.replace(shape, empty=empty, full=full)
        chosen = read_estimator(estimator, known, budget)
        strata = 1 if isinstance(chosen, jaxshap.Scattered) else None
        plan, coalitions = make_plan(jax.random.key(seed), n, chosen, budget, strata)
        worths = game(coalitions.reshape(-1, n)).astype(np.float32)
        worths = worths.reshape(coalitions.shape[:-1])
        return solve(chosen, Answers(plan, worths), known)

    return Method(name, values)


def score(game: KnownGame, method: Method, budget: int, num_seeds: int) -> Score | None:
    """Mean over seeds; None where the budget is too small, or the game too large for the method."""
    n, runs = len(game.values), []
    for seed in range(num_seeds if n <= method.most_players else 0):
        counted = CountedGame(game.worths, n)
        try:
            found = method.values(counted, budget, seed)
        except ValueError:
            return None
        values, std_error = found[:2] if isinstance(found, tuple) else (found, np.full(n, np.nan))
        miss, rounding = (
            np.abs(np.asarray(values, float) - game.values),
            1e-6 * np.abs(game.values).max(),
        )
        covered = np.where(
            np.isnan(std_error), np.nan, miss <= 1.96 * np.asarray(std_error) + rounding
        )
        error = max((miss**2).sum() / (game.values**2).sum(), 1e-12)  # below that is rounding
        runs.append((error, covered.mean(), len(counted.seen) / budget))
    return Score(*np.mean(runs, 0)) if runs else None


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument(
        "--games", type=pathlib.Path, help="folder with games.npz; without it, trained models only"
    )
    options.add_argument("--full", action="store_true", help="32 seeds instead of 4")
    args = options.parse_args()
    ours, peers = [our_method(*pair) for pair in OURS.items()], installed_peers()
    num_seeds, games = 32 if args.full else 4, list(trained_games())
    if args.games and (args.games / "games.npz").exists():
        games += stored_games(args.games)
    else:
        print(
            f"No games.npz in the folder --games {args.games}: models trained here only.",
            file=sys.stderr,
        )
    scores, players = {}, 0
    for game in sorted(games, key=lambda game: len(game.values)):
        if len(game.values) != players:
            jax.clear_caches()  # several hundred live programs exhaust the memory maps of a process
        players, start = len(game.values), time.perf_counter()
        for method in ours + peers:
            for m in MULTIPLES:
                scores[method.name, game.name, m] = score(game, method, m * players, num_seeds)
        print(
            f"{game.name}: {players} players, {time.perf_counter() - start:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    names = [game.name for game in games]
    rows = [_row(method.name, scores, names) for method in ours + peers]
    over = sorted({name for (name, _, _), found in scores.items() if found and found.spent > 1})
    notes = [
        f"Error over that of {REFERENCE}, geometric mean over {len(games)} games (stored ones:",
        f"`--games FOLDER`) of {num_seeds} seeds for all (fewer make a skewed error look smaller);",
        "in brackets on how many games, if fewer. Then coverage of ±1.96 std_error and distinct",
        "coalitions over the budget (asking twice is free), budget by budget. Over budget:",
        f"{', '.join(over) or 'none'}. shapiq, shapkit and lightshap were tuned on stored games.",
        "Where the best peer beats the best of ours, named if by half (a hint, no test):\n",
        *_wins(scores, names, ours, peers),
    ]
    header = ["", *(f"{m}n" for m in MULTIPLES), "coverage", "spent"]
    write_table(__file__, "Estimators at equal budgets", header, rows, notes)
    _picture(scores, names, [method.name for method in ours + peers])


def _row(name: str, scores: dict, games: list[str]) -> list[str]:
    cells = []
    for m in MULTIPLES:
        ran = {game: found for game in games if (found := scores[name, game, m])}
        ratio = _mean_error(scores, ran, name, m) / _mean_error(scores, ran, REFERENCE, m)
        fewer = f" ({len(ran)})" if len(ran) < len(games) else ""
        parts = (
            [found.covered for found in ran.values() if found.covered >= 0],
            [found.spent for found in ran.values()],
        )
        cells.append(
            (
                f"{ratio:.3g}{fewer}" if ran else "–",
                *(f"{np.mean(x):.2f}" if x else "–" for x in parts),
            )
        )
    return [
        name,
        *(cell[0] for cell in cells),
        *(" ".join(cell[place] for cell in cells) for place in (1, 2)),
    ]


def _wins(scores: dict, games: list[str], *groups: list[Method]) -> Iterator[str]:
    for m in MULTIPLES:
        won, named, failed = 0, [], Score(np.inf, 0, 0)
        for game in games:
            (mine, name), (theirs, peer) = (
                min((scores[x.name, game, m] or failed, x.name) for x in y) for y in groups
            )
            won += theirs.error < mine.error
            if theirs.error < mine.error / 2:
                named.append(
                    f"{game}: {peer}, {theirs.error / mine.error:.2g} of the error of {name}"
                )
        yield f"- {m}n: {won} of {len(games)} games. " + "; ".join(named)


def _mean_error(scores: dict, games: Iterable[str], name: str, m: int) -> float:
    return float(
        np.exp(np.mean([np.log(scores[name, game, m].error) for game in games] or [np.nan]))
    )


def _picture(scores: dict, games: list[str], methods: list[str]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
    for name in sorted(methods, key=lambda name: name in STYLES):  # the highlighted ones on top
        ran = [m for m in MULTIPLES if all(scores[name, game, m] for game in games)]
        colour, style = STYLES.get(name, ("0.8", "-"))
        errors, reference = (
            np.array([_mean_error(scores, games, x, m) for m in ran]) for x in (name, REFERENCE)
        )
        for axis, heights in zip(axes, (errors, errors / reference), strict=True):
            axis.loglog(ran, heights, style, color=colour, label=name if name in STYLES else None)
    for axis, label in zip(axes, ("‖φ̂ − φ‖² / ‖φ‖²", f"error / error of {REFERENCE}"), strict=True):
        axis.set(xlabel="evaluations per player", ylabel=f"{label}, geometric mean over games")
        axis.set_xticks(MULTIPLES, [f"{m}n" for m in MULTIPLES])
        axis.minorticks_off()
    axes[1].axhline(1, color="0.4", linestyle=":", label=REFERENCE)
    labels = axes[1].get_legend_handles_labels()
    figure.legend(*labels, loc="outside right upper", title="dashed: peers\ngrey: all others")
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=150)


def _network(X: np.ndarray, y: np.ndarray):
    """A network with one hidden layer of 32, as a function from rows to chances."""
    first, second = jax.random.split(jax.random.key(0))
    weights = [jax.random.normal(first, (X.shape[1], 32)) / 4, jax.random.normal(second, (32,)) / 6]
    logits = lambda weights, rows: jnp.tanh(rows @ weights[0]) @ weights[1]  # noqa: E731
    loss = lambda weights: optax.sigmoid_binary_cross_entropy(logits(weights, X), y).mean()  # noqa: E731
    optimiser = optax.adam(0.02)

    def step(carry, _):
        updates, state = optimiser.update(jax.grad(loss)(carry[0]), carry[1])
        return (optax.apply_updates(carry[0], updates), state), None

    (weights, _), _ = jax.lax.scan(step, (weights, optimiser.init(weights)), length=300)
    return lambda rows: jax.nn.sigmoid(logits(weights, rows))


def _rows_of(name: str, game: jaxshap.Game) -> Iterator[KnownGame]:
    everything = np.arange(2**game.num_players)[:, None] >> np.arange(game.num_players) & 1 == 1
    worths, values = jaxshap.evaluate(game, everything), jaxshap.shapley_values(game)
    for row, (column, phi) in enumerate(
        zip(np.asarray(worths, float).T, np.asarray(values).T, strict=True)
    ):
        yield KnownGame(f"{name}, row {row}", table_worths(column), phi)


if __name__ == "__main__":
    main()
