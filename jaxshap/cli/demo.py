"""The demonstration: a network on scikit-learn's breast cancer data, and why it predicts so."""

import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Key

from jaxshap import plots
from jaxshap.cli.exits import ExitCode
from jaxshap.errors import MissingExtraError
from jaxshap.explaining import Explanation, explain

NUM_TRAINING_ROWS = 400
NUM_BACKGROUND_ROWS = 100


def run_demo(folder: pathlib.Path, num_rows: int, seed: int) -> int:
    """Train, explain, print a table and save two pictures."""
    try:
        from matplotlib import pyplot as plt
        from sklearn.datasets import load_breast_cancer
    except ImportError as error:
        message = f'the demo needs {error.name}: pip install "jaxshap[examples]"'
        raise MissingExtraError(message) from error
    plt.switch_backend("Agg")
    bunch: Any = load_breast_cancer()
    order = np.random.default_rng(seed).permutation(len(bunch.target))
    rows, labels = (np.asarray(part, np.float32)[order] for part in (bunch.data, bunch.target))
    train, test = slice(0, NUM_TRAINING_ROWS), slice(NUM_TRAINING_ROWS, None)
    layers = _train(jax.random.key(seed), rows[train], labels[train])
    model = jax.tree_util.Partial(_log_odds, layers)
    right = (np.asarray(model(rows[test])) > 0) == (labels[test] > 0)
    print(
        f"A network with two hidden layers, trained on {NUM_TRAINING_ROWS} tumours: "
        f"{right.mean():.1%} right on the others.\n"
    )
    explanation = explain(
        model,
        rows[test][:num_rows],
        rows[train][:NUM_BACKGROUND_ROWS],
        feature_names=tuple(bunch.feature_names),
    )
    verdict = "benign" if float(model(rows[test][:1])[0]) > 0 else "malignant"
    print(f"Why the first of them is taken to be {verdict} (log-odds of benign):")
    print(explanation[0], "\n")
    print(f"What matters over {len(explanation)} of them:")
    print(explanation, "\n")
    first, every = _save_pictures(explanation, folder)
    print(f"Pictures: {first} (values with error bars), {every} (all rows).")
    return ExitCode.DONE


def _save_pictures(
    explanation: Explanation, folder: pathlib.Path
) -> tuple[pathlib.Path, pathlib.Path]:
    """The values of the first row and of all rows; returns where they are."""
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    first, every = folder / "first_row.png", folder / "beeswarm.png"
    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    plots.bar(explanation[0], ax=ax)
    plt.savefig(first, dpi=150)
    plots.beeswarm(explanation)
    plt.savefig(every, dpi=150, bbox_inches="tight")
    return first, every


def _log_odds(layers: Any, rows: Float[Array | np.ndarray, "rows d"]) -> Float[Array, "rows"]:
    """A multilayer perceptron on standardised columns: the log-odds of a benign tumour per row."""
    (mean, scale), *hidden, (weights, bias) = layers
    activations = (rows - mean) / scale
    for layer_weights, layer_bias in hidden:
        activations = jax.nn.relu(activations @ layer_weights + layer_bias)
    return (activations @ weights + bias)[:, 0]


def _train(
    key: Key[Array, ""],
    rows: Float[np.ndarray, "rows d"],
    labels: Float[np.ndarray, "rows"],
    num_steps: int = 300,
) -> list[tuple[Any, Any]]:
    """Mean and scale of the columns, then weights and bias of each layer."""
    sizes = (rows.shape[1], 32, 32, 1)
    keys = jax.random.split(key, len(sizes) - 1)
    scaling = (rows.mean(0), rows.std(0))
    start = [
        (jax.random.normal(key, shape) * jnp.sqrt(2 / shape[0]), jnp.zeros(shape[1]))
        for key, *shape in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]
    optimiser = optax.adamw(3e-3, weight_decay=1e-2)

    def loss(layers):
        log_odds = _log_odds([scaling, *layers], rows)
        return optax.sigmoid_binary_cross_entropy(log_odds, labels).mean()

    def step(carry, _):
        layers, state = carry
        updates, state = optimiser.update(jax.grad(loss)(layers), state, layers)
        return (optax.apply_updates(layers, updates), state), None

    @jax.jit
    def descend(start):
        return jax.lax.scan(step, (start, optimiser.init(start)), length=num_steps)

    (layers, _), _ = descend(start)
    return [scaling, *layers]
