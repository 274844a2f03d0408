"""Do a model's gradients help OddGP? An additive prior mean from gradients along the path from
baseline to row.

The gradient is taken at 1, 2 or 4 Gauss–Legendre points of the path (4 points are close to
integrated gradients) and counted as three evaluations each; the budget left goes to OddGP on the
game minus that additive game. Networks with random weights, absent features at zero; nothing was
chosen on them.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap

NUM_PLAYERS, MULTIPLES, POINTS = 12, (5, 10, 20), (0, 1, 2, 4)
ACTIVATIONS = {"tanh": jnp.tanh, "softplus": jax.nn.softplus, "relu": jax.nn.relu}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=6, help="networks of each kind")
    parser.add_argument("--keys", type=int, default=6)
    options = parser.parse_args()
    rows = []
    for name, activation in ACTIVATIONS.items():
        errors = {(points, multiple): [] for points in POINTS for multiple in MULTIPLES}
        for seed in range(options.models):
            model, row = _network(seed, activation)
            truth = jaxshap.shapley_values(_game(model, row, jnp.zeros(NUM_PLAYERS)))
            for points, multiple in errors:
                prior = _along_path(model, row, points)
                game, budget = _game(model, row, prior), multiple * NUM_PLAYERS - 3 * points
                found = [
                    jaxshap.estimate(key, game, jaxshap.OddGP(), budget).values
                    for key in range(options.keys)
                ]
                errors[points, multiple].append(
                    ((np.asarray(found) + prior - truth) ** 2).sum(1).mean()
                )
        for points in POINTS[1:]:
            ratios = [np.log(np.divide(errors[points, m], errors[0, m])) for m in MULTIPLES]
            rows.append((name, points, *(float(np.exp(ratio.mean())) for ratio in ratios)))
    title = "OddGP with gradients as a prior mean: squared error over that without, at equal cost"
    notes = [
        f"Geometric mean over {options.models} networks of {NUM_PLAYERS} features, {options.keys}",
        "keys each.",
    ]
    report.write_table(
        __file__, title, ("network", "gradients", *(f"{m}n" for m in MULTIPLES)), rows, notes
    )


def _network(seed: int, activation):
    keys = jax.random.split(jax.random.key(seed), 6)
    first, second = (
        jax.random.normal(keys[0], (NUM_PLAYERS, 24)),
        jax.random.normal(keys[1], (24, 24)),
    )
    shift, last = jax.random.normal(keys[2], (2, 24)) / 2, jax.random.normal(keys[3], (24,))

    def model(row):
        hidden = activation(row @ first * 1.5 / np.sqrt(NUM_PLAYERS) + shift[0])
        return activation(hidden @ second * 1.5 / np.sqrt(24) + shift[1]) @ last

    return model, jax.random.normal(keys[4], (NUM_PLAYERS,))


def _game(model, row, prior):
    return jaxshap.make_game(
        lambda s: model(jnp.where(s, row, 0)) - jnp.where(s, prior, 0).sum(), NUM_PLAYERS
    )


def _along_path(model, row, points: int):
    """The mean gradient along the path times the way: the values of an additive game."""
    if points == 0:
        return jnp.zeros(NUM_PLAYERS)
    positions, weights = np.polynomial.legendre.leggauss(points)
    gradients = jax.vmap(lambda share: jax.grad(model)(share * row))(
        jnp.asarray((positions + 1) / 2, row.dtype)
    )
    return row * (jnp.asarray(weights / 2, row.dtype) @ gradients)


if __name__ == "__main__":
    main()
