"""What error the default estimator reaches at c evaluations per player: the table that the default
budget was chosen from.

Networks with two hidden layers of 64 units, tanh and ReLU, and one layer of products of two such;
10 rows, a background of one row (`OddGP`) and of 32 (`Scattered`). The error is the largest of a
row's errors, as a share of the spread of its worths, the median over rows and networks.
Beyond 15 players the true values are themselves estimates from many more evaluations, whose own
error is part of what is shown.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from report import write_table

import jaxshap
from jaxshap.engine import default_budget, read_estimator

PLAYERS = (5, 10, 20, 50, 100, 200, 500)
PER_PLAYER = (2.5, 5, 10, 20, 50, 100, 200)
MAX_EXACT_PLAYERS = 15
MAX_BUDGET = 5_000  # of an estimate, so that the table is made in minutes
ROWS = 10


def tanh_network(x, first, second, third):
    return (jnp.tanh(jnp.tanh(x @ first) @ second) @ third)[:, 0]


def relu_network(x, first, second, third):
    return (jax.nn.relu(jax.nn.relu(x @ first) @ second) @ third)[:, 0]


def product_network(x, first, second, third):
    gate = jax.nn.sigmoid(x @ first)
    return ((jnp.tanh(gate @ second) * gate) @ third)[:, 0]


NETWORKS = (tanh_network, relu_network, product_network)


def game_of(network, num_players: int, num_references: int):
    rng = np.random.default_rng(num_players)
    shapes = (num_players, 64), (64, 64), (64, 1)
    weights = [rng.normal(size=shape) * 1.5 / np.sqrt(shape[0]) for shape in shapes]
    model = jax.tree_util.Partial(_swapped, network, *(jnp.asarray(w, "float32") for w in weights))
    rows, references = (
        rng.normal(size=(count, num_players)).astype(np.float32) for count in (ROWS, num_references)
    )
    return jaxshap.marginal(model, rows, references)


def _swapped(network, *arguments):
    *weights, x = arguments
    return network(x, *weights)


def true_values(game):
    """Exact ones, or those of many pairs."""
    if game.num_players <= MAX_EXACT_PLAYERS:
        return np.asarray(jaxshap.shapley_values(game))
    many = 64_000 if game.num_strata == 1 else 8_000
    estimator = jaxshap.Scattered() if game.num_strata > 1 else jaxshap.Leverage()
    return np.asarray(jaxshap.estimate(99, game, estimator, budget=many).values)


def spread_of(game):
    some = jax.random.bernoulli(jax.random.key(1), shape=(512, game.num_players))
    worths = np.concatenate(
        [np.asarray(jaxshap.evaluate(game, some)), np.stack([game.empty, game.full])]
    )
    return np.ptp(worths, axis=0)


def errors_of(num_players: int, num_references: int, budgets):
    """The median error at each budget; NaN where the estimator cannot use it."""
    table = np.full((len(NETWORKS), len(budgets), ROWS), np.nan)
    for network, errors in zip(NETWORKS, table, strict=True):
        game = game_of(network, num_players, num_references)
        truth, spread = true_values(game), spread_of(game)
        for number, budget in enumerate(budgets):
            if budget > MAX_BUDGET or budget >= 2**num_players:
                continue
            estimator = read_estimator(None, game, budget)
            estimate = jaxshap.estimate(0, game, estimator, budget=budget)
            errors[number] = np.abs(np.asarray(estimate.values) - truth).max(0) / spread
    return [float(np.median(table[:, number])) for number in range(len(budgets))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, nargs="*", default=PLAYERS)
    options = parser.parse_args()
    lines = []
    for num_references in (1, 32):
        for num_players in options.players:
            if num_references > 1 and num_players > 200:
                continue
            default = default_budget(num_players)
            budgets = [int(share * num_players) + 2 for share in PER_PLAYER] + [default]
            errors = errors_of(num_players, num_references, budgets)
            shown = [f"{error:.2%}" if np.isfinite(error) else "–" for error in errors]
            exact = "exact" if 2**num_players <= default else shown[-1]
            lines.append([num_references, num_players, *shown[:-1], f"{default:,}", exact])
            print(*lines[-1], flush=True)
    write_table(
        __file__,
        "Error of the default estimator, in per cent of the spread of worths",
        ["references", "players", *(f"{c:g} n" for c in PER_PLAYER), "default budget", "its error"],
        lines,
        ["–: all coalitions cost no more, or the budget is beyond 5,000."],
    )


if __name__ == "__main__":
    main()
