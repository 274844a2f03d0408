"""Reproduce Okhrati & Lipani (2020): Owen and halved Owen sampling against Castro's, on networks.

Credit-card default: a 13–9 network, 23 players, reference 0, gains as published. MNIST: a 300–25
network, 784 players, reference 0 (black), equal evaluations. All three estimators are unbiased, so
that their mean squared error is their variance over keys, which needs no exact values; every row
and key has draws of its own, and every ratio a standard error by the delta method. A sweep shows
what the slides leave open: how features are scaled, the activation, and the seed of the network.
"""

import argparse
import itertools
import pathlib
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
import report
from jaxtyping import Array, Float, Int

import jaxshap
from jaxshap import Castro, Owen

NAMES = ("Castro", "Owen", "halved Owen")
PUBLISHED_ERROR = (1.0, 0.57, 0.22)  # over Castro's, on the credit data
ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "logistic": jax.nn.sigmoid}
SCALINGS = ("standardised", "min–max", "not centred")


class Spread(NamedTuple):
    """The variance over keys of a method: a mean over rows and players, and its standard error."""

    variance: float
    error: float
    by_player: Float[np.ndarray, "rows players"]


def scaled(x: Float[np.ndarray, "rows features"], how: str) -> Float[np.ndarray, "rows features"]:
    """The features, scaled by what the rows from 6,000 on say."""
    train = x[6000:]
    if how == "standardised":
        return (x - train.mean(0)) / train.std(0)
    if how == "min–max":
        return (x - train.min(0)) / (train.max(0) - train.min(0))
    return x / train.std(0)


def network(
    parameters: list, inputs: Float[Array, "rows features"], activation: str = "relu"
) -> Float[Array, "rows classes"]:
    """Class probabilities of a network with hidden layers."""
    for weight, bias in parameters[:-1]:
        inputs = ACTIVATIONS[activation](inputs @ weight + bias)
    weight, bias = parameters[-1]
    return jax.nn.softmax(inputs @ weight + bias)


def train(
    x: Float[np.ndarray, "rows features"],
    y: Int[np.ndarray, "rows"],
    widths: tuple,
    epochs: int,
    activation: str = "relu",
    seed: int = 0,
) -> list:
    """Parameters by Adam on the cross-entropy, one compiled loop."""
    sizes = (x.shape[1], *widths)
    keys = jax.random.split(jax.random.key(seed), len(widths))
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    start = [(jax.random.normal(key, (n, m)) * np.sqrt(2 / n), jnp.zeros(m)) for key, n, m in pairs]
    batch, steps = 256, epochs * len(x) // 256
    optimiser = optax.adam(optax.cosine_decay_schedule(3e-3, steps))

    def loss(parameters, x, y):
        return -jnp.log(network(parameters, x, activation)[jnp.arange(batch), y] + 1e-7).mean()

    @jax.jit
    def run(parameters, x, y):
        def step(carry, key):
            rows = jax.random.randint(key, (batch,), 0, len(x))
            update, state = optimiser.update(jax.grad(loss)(carry[0], x[rows], y[rows]), carry[1])
            return (optax.apply_updates(carry[0], update), state), None

        carry = (parameters, optimiser.init(parameters))
        return jax.lax.scan(step, carry, jax.random.split(jax.random.key(1), steps))[0][0]

    return run(start, jnp.asarray(x), jnp.asarray(y, jnp.int32))


def spread_of(
    method: jaxshap.Estimator,
    budget: int,
    parameters: list,
    label: int,
    activation: str,
    rows: Float[np.ndarray, "rows features"],
    num_keys: int,
) -> Spread:
    """Estimates with a key of their own for every row and repetition, in one compiled loop."""

    @jax.jit
    def run(rows, keys):
        def one(pair):
            row, key = pair
            model = jax.tree_util.Partial(of_class, activation, parameters, label)
            game = jaxshap.baseline(model, row[None], jnp.zeros(len(row)))
            return jaxshap.estimate(key, game, method, budget).values[:, 0]

        return jax.lax.map(one, (rows, keys))

    keys = jax.random.split(jax.random.key(1), len(rows) * num_keys)
    values = np.asarray(run(jnp.repeat(jnp.asarray(rows), num_keys, 0), keys), np.float64)
    values = values.reshape(len(rows), num_keys, -1)
    squares = (values - values.mean(1, keepdims=True)) ** 2 * num_keys / (num_keys - 1)
    by_key = squares.mean(2)
    error = np.sqrt((by_key.var(1, ddof=1) / num_keys).sum()) / len(rows)
    return Spread(float(by_key.mean()), float(error), squares.mean(1))


def of_class(
    activation: str, parameters: list, label: int, inputs: Float[Array, "rows features"]
) -> Float[Array, "rows"]:
    """The probability of one class."""
    return network(parameters, inputs, activation)[:, label]


def ratio_text(spread: Spread, castro: Spread, times: float = 1.0) -> str:
    """The ratio to Castro's variance with its standard error."""
    ratio = times * spread.variance / castro.variance
    relative = np.hypot(spread.error / spread.variance, castro.error / castro.variance)
    return "1" if spread is castro else report.measured(float(ratio), float(ratio * relative))


def methods(num_players: int, gains: int) -> dict[jaxshap.Estimator, int]:
    """Each method with the budget for so many gains of every player."""
    levels = gains // 2
    shared = (num_players + 1) * gains + 2
    return {
        Castro(): 2 * num_players * gains + 2,
        Owen(num_levels=levels, samples_per_level=2): shared,
        Owen(num_levels=levels, samples_per_level=2, halved=True): shared,
    }


def credit(
    path: pathlib.Path, how: str, activation: str, seed: int, gains: int, num_rows: int, keys: int
) -> tuple[list[list], list[Spread]]:
    """Table rows and spreads of one way to scale, activation and seed."""
    data = np.load(path)
    order = np.random.default_rng(0).permutation(len(data["X"]))
    x, y = scaled(data["X"][order], how).astype(np.float32), data["y"][order].astype(int)
    parameters = train(x[6000:], y[6000:], (13, 9, 2), 20, activation, seed)
    accuracy = float((network(parameters, x[:6000], activation).argmax(1) == y[:6000]).mean())
    budgets = methods(23, gains)
    spreads = [
        spread_of(method, budget, parameters, 1, activation, x[:num_rows], keys)
        for method, budget in budgets.items()
    ]
    castro, first = spreads[0], next(iter(budgets.values()))
    setting = f"{how}, {activation}, seed {seed} (accuracy {accuracy:.3f})"
    rows = []
    for i, budget in enumerate(budgets.values()):
        equal = ratio_text(spreads[i], castro, (budget - 2) / (first - 2))
        variance = report.measured(spreads[i].variance, spreads[i].error)
        shown = [variance, ratio_text(spreads[i], castro), PUBLISHED_ERROR[i], equal]
        rows.append([setting, NAMES[i], budget - 2, *shown])
    return rows, spreads


def mnist(
    path: pathlib.Path, num_images: int, num_levels: int, keys: int
) -> tuple[list[list], list[Spread], Float[np.ndarray, "images pixels"]]:
    """Table rows, spreads, and the images of the digit."""
    data = np.load(path)
    x, test = (data[name].reshape(-1, 784) / np.float32(255) for name in ("x_train", "x_test"))
    parameters = train(x, data["y_train"], (300, 25, 10), 3)
    accuracy = float((network(parameters, test).argmax(1) == data["y_test"]).mean())
    images = test[data["y_test"] == (label := int(data["y_test"][0]))][:num_images]
    budget = 2 * num_levels * 785 + 2  # two rounds of all levels
    estimators = (Castro(), Owen(num_levels=num_levels), Owen(num_levels=num_levels, halved=True))
    spreads = [spread_of(e, budget, parameters, label, "relu", images, keys) for e in estimators]
    setting = f"MNIST, {num_images} images, {num_levels} levels (accuracy {accuracy:.3f})"
    castro, rows = spreads[0], []
    for i, estimator in enumerate(estimators):
        planned = jax.eval_shape(
            lambda key, e=estimator: e.plan(key, 784, budget), jax.random.key(0)
        )
        asked = len(planned.coalitions)
        times = asked / (2 * 784 * ((budget - 2) // (2 * 784)))
        equal = ratio_text(spreads[i], castro, times)
        ratio = ratio_text(spreads[i], castro)
        variance = report.measured(spreads[i].variance, spreads[i].error)
        rows.append([setting, NAMES[i], asked, variance, ratio, "–", equal])
    return rows, spreads, images


def nearest(rows: list[list]) -> str:
    """Which settings come nearest to the published ratios, by squares of logarithms."""
    gaps, ratios = {}, {}
    for setting, _, _, _, ratio, published, _ in rows:
        if published not in (1.0, "–"):
            mean, _ = report.read_measured(ratio)
            gaps.setdefault(setting, []).append(np.log(mean / published) ** 2)
            ratios.setdefault(setting, []).append(ratio)
    best = sorted(gaps, key=lambda setting: sum(gaps[setting]))[:3]
    shown = "; ".join(f"{setting}: {' and '.join(ratios[setting])}" for setting in best)
    owen, halved = PUBLISHED_ERROR[1:]
    return f"Nearest to the published {owen} and {halved}, of {len(gaps)} settings: {shown}."


def draw(credit_spreads: list[Spread], mnist_spreads: list[Spread], images: np.ndarray) -> None:
    """Variances by row of the credit data, and by pixel with ink of the images."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    look = {"tick_labels": NAMES, "medianprops": {"color": "black"}}
    axes[0].boxplot([spread.by_player.mean(1) for spread in credit_spreads], **look)
    axes[0].set(title="credit: each test row", ylabel="variance over keys", yscale="log")
    pixels = [spread.by_player[images > 0] for spread in mnist_spreads]  # black ones change nothing
    axes[1].boxplot(pixels, whis=(5, 95), showfliers=False, **look)
    axes[1].set(title="MNIST: each pixel with ink", ylabel="variance over keys", yscale="log")
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    report.add_data_option(parser)
    parser.add_argument("--rows", type=int, default=20, help="test rows of the credit data")
    parser.add_argument("--keys", type=int, default=200, help="for each row")
    parser.add_argument("--gains", type=int, default=2000, help="of each player, as published")
    parser.add_argument("--sweep-gains", type=int, default=200, help="the same for the sweep")
    parser.add_argument("--seeds", type=int, default=3, help="of the network; 0 for no sweep")
    parser.add_argument("--images", type=int, default=50, help="as published; 0 for none")
    parser.add_argument("--image-keys", type=int, default=5, help="for each image")
    parser.add_argument("--full", action="store_true", help="50 test rows, as published")
    options = parser.parse_args()
    if options.full:
        options.rows = 50
    paths = [report.data_file(options.data, name) for name in ("credit_default.npz", "mnist.npz")]
    start, size = time.perf_counter(), (options.rows, options.keys)
    rows, spreads = credit(paths[0], "standardised", "relu", 0, options.gains, *size)
    for how, activation, seed in itertools.product(SCALINGS, ACTIVATIONS, range(options.seeds)):
        rows += credit(paths[0], how, activation, seed, options.sweep_gains, *size)[0]
        print(f"{how}, {activation}, seed {seed}: {time.perf_counter() - start:.0f} s", flush=True)
    if options.images:
        more, of_pixels, images = mnist(paths[1], options.images, 10, options.image_keys)
        rows += more
        draw(spreads, of_pixels, images)
    header = ["setting", "method", "evaluations", "variance", "ratio to Castro's", "published"]
    notes = [
        f"Credit: {options.rows} test rows, {options.keys} keys for each, {options.gains} gains of "
        f"each player in the first lines (2000 as published), {options.sweep_gains} in the sweep. "
        f"MNIST: {options.image_keys} keys. Castro pays two evaluations a gain, Owen n + 1 for n "
        "gains: the last column multiplies by the ratio of evaluations, as variances fall in "
        "proportion to them. "
        "Errors are standard errors over keys, for these rows and this network.",
        "",
        nearest(rows[3:]),
        "",
        "Data: UCI, Default of Credit Card Clients (Yeh & Lien 2009); MNIST (LeCun et al.).",
    ]
    title = "Owen sampling, after Okhrati & Lipani (2020)"
    report.write_table(__file__, title, [*header, "at equal evaluations"], rows, notes)


if __name__ == "__main__":
    main()
