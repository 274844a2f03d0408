"""Owen sampling on the credit data in the set-up of the authors' released notebook.

    python benchmarks/owen_released.py --data FOLDER

What the paper does not say, and github.com/aldolipani/OwenShap does: only the first 15 features are
players, and a constant column that stands for the bias; a 13-9 network of logistic units, without
other biases but in its second layer; rows with unknown education or marital status are left out.
The published ratios are of one network, so that they are compared with the spread over networks.
The estimators are ours, unbiased: their squared error is their variance over keys.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax
import owen_paper
import report
from jaxtyping import Array, Float

import jaxshap

PUBLISHED, NOTEBOOK = (0.57, 0.22), (0.673, 0.335)  # over Castro's: Owen, halved Owen
PLAYERS, HIDDEN = 16, (13, 9)
EPOCHS, BATCH = 50, 300


def read(path) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features behind a column of ones, and the target."""
    data = np.load(path)
    rows, names = data["X"].astype(float), data["feature_names"].tolist()
    marriage, education = (rows[:, names.index(name)] for name in ("MARRIAGE", "EDUCATION"))
    kept = (marriage != 3) & ~np.isin(education, (5, 6))
    rows = (rows[kept] - rows[kept].mean(0)) / rows[kept].std(0)
    rows = np.column_stack([np.ones(len(rows)), rows[:, : PLAYERS - 1]])
    return rows.astype(np.float32), data["y"][kept].astype(int)


def network(parameters: dict, rows: Float[Array, "rows 16"]) -> Float[Array, "rows 2"]:
    first = jax.nn.sigmoid(rows @ parameters["first"])
    second = jax.nn.sigmoid(first @ parameters["second"] + parameters["bias"])
    return jax.nn.softmax(second @ parameters["last"])


def probability(parameters: dict, rows: Float[Array, "rows 16"]) -> Float[Array, "rows"]:
    """That of default; of the other class, all gains have the other sign."""
    return network(parameters, rows)[:, 1]


def train(rows: np.ndarray, target: np.ndarray, seed: int) -> dict:
    sizes = (PLAYERS, *HIDDEN, 2)
    *keys, order = jax.random.split(jax.random.key(seed), 4)

    def glorot(key, n, m):
        return jax.random.uniform(key, (n, m), minval=-1, maxval=1) * np.sqrt(6 / (n + m))

    layers = map(glorot, keys, sizes[:-1], sizes[1:])
    start = dict(zip(("first", "second", "last"), layers, strict=True))
    start["bias"] = jnp.zeros(HIDDEN[1])
    optimiser = optax.adam(1e-3)

    def loss(parameters, rows, target):
        return -jnp.log(network(parameters, rows)[jnp.arange(BATCH), target] + 1e-7).mean()

    @jax.jit
    def run(rows, target):
        def step(carry, key):
            parameters, state = carry
            batch = jax.random.randint(key, (BATCH,), 0, len(rows))
            gradient = jax.grad(loss)(parameters, rows[batch], target[batch])
            update, state = optimiser.update(gradient, state)
            return (optax.apply_updates(parameters, update), state), None

        steps = jax.random.split(order, EPOCHS * len(rows) // BATCH)
        return jax.lax.scan(step, (start, optimiser.init(start)), steps)[0][0]

    return run(jnp.asarray(rows), jnp.asarray(target))


def squares(
    method: jaxshap.Estimator, budget: int, parameters: dict, rows: np.ndarray, num_keys: int
) -> np.ndarray:
    """Squared errors by key, means over rows and players; each row and key has own draws."""

    @jax.jit
    def run(rows, keys):
        def one(pair):
            row, key = pair
            model = jax.tree_util.Partial(probability, parameters)
            game = jaxshap.baseline(model, row[None], jnp.zeros(PLAYERS))
            return jaxshap.estimate(key, game, method, budget).values[:, 0]

        return jax.lax.map(one, (rows, keys))

    keys = jax.random.split(jax.random.key(1), len(rows) * num_keys)
    values = np.asarray(run(jnp.repeat(jnp.asarray(rows), num_keys, 0), keys), np.float64)
    values = values.reshape(len(rows), num_keys, -1)
    deviations = values - values.mean(1, keepdims=True)
    return (deviations**2).mean((0, 2)) * num_keys / (num_keys - 1)


def ratio(method: np.ndarray, castro: np.ndarray) -> float:
    return float(method.mean() / castro.mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--networks", type=int, default=12)
    parser.add_argument("--rows", type=int, default=20, help="test rows")
    parser.add_argument("--keys", type=int, default=100, help="for each row")
    parser.add_argument("--gains", type=int, default=100, help="of each player; 2000 as published")
    options = parser.parse_args()
    table, target = read(report.data_file(options.data, "credit_default.npz"))
    lines, ratios = [], []
    for seed in range(options.networks):
        order = np.random.default_rng(seed).permutation(len(table))
        test, rest = np.split(order, [len(table) // 5])
        parameters = train(table[rest], target[rest], seed)
        right = np.asarray(network(parameters, table[test])).argmax(1) == target[test]
        accuracy = report.measured(float(right.mean()), float(right.std() / len(right) ** 0.5))
        castro, *others = (
            squares(method, budget, parameters, table[test[: options.rows]], options.keys)
            for method, budget in owen_paper.methods(PLAYERS, options.gains).items()
        )
        ratios.append([ratio(other, castro) for other in others])
        errors = [float(report.jackknife(ratio, other, castro)) for other in others]
        size = report.measured(float(castro.mean()), float(castro.std(ddof=1) / len(castro) ** 0.5))
        cells = map(report.measured, ratios[-1], errors)
        lines.append([f"seed {seed}", accuracy, size, *cells])
        print(*lines[-1], flush=True)
    means, spreads = np.mean(ratios, 0), np.std(ratios, 0, ddof=1)
    cells = map(report.measured, means.tolist(), (spreads / options.networks**0.5).tolist())
    lines.append(["mean of networks", "", "", *cells])
    lines.append(["spread of networks", "", "", *spreads.tolist()])
    lines.append(["published", "", "", *PUBLISHED])
    lines.append(["the authors' notebook", "", "", *NOTEBOOK])
    notes = [
        f"{options.rows} test rows, {options.keys} keys for each, {options.gains} gains of each "
        "player (2000 as published; squared errors fall in proportion to them). ± are standard "
        "errors over keys (jackknife), for these rows and this network; of the mean, over "
        "networks. The spread is the standard deviation of networks. Published figures and those "
        "that the notebook shows are of one network each.",
        "",
        f"Data: {report.ORIGINS['credit_default.npz']}.",
    ]
    header = ["network", "accuracy", "Castro's squared error", "Owen", "halved Owen"]
    title = "Squared errors of Owen sampling over Castro's, set up as released"
    report.write_table(__file__, title, header, lines, notes)


if __name__ == "__main__":
    main()
