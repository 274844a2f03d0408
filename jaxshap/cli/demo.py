"""The demonstration: a network on the breast cancer data of scikit-learn, and what its predictions
rest on.
"""

import pathlib
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxshap import plots
from jaxshap.explaining import explain


def run_demo(folder: pathlib.Path, num_rows: int, seed: int) -> int:
    """Train, explain, print a table and save two pictures."""
    try:
        from matplotlib import pyplot as plt
        from sklearn.datasets import load_breast_cancer
    except ImportError as error:
        print(f'the demo needs {error.name}: pip install "jaxshap[examples]"', file=sys.stderr)
        return 2
    plt.switch_backend("Agg")
    bunch: Any = load_breast_cancer()
    order = np.random.default_rng(seed).permutation(len(bunch.target))
    rows, labels = (
        np.asarray(bunch.data, np.float32)[order],
        np.asarray(bunch.target, np.float32)[order],
    )
    train, test = slice(0, 400), slice(400, None)
    layers = _train(jax.random.key(seed), rows[train], labels[train])
    model = jax.tree_util.Partial(_log_odds, layers)
    right = (np.asarray(model(rows[test])) > 0) == (labels[test] > 0)
    print(
        f"A network with two hidden layers, trained on 400 tumours: {right.mean():.1%} right on the others.\n"
    )

    names = tuple(bunch.feature_names)
    explanation = explain(model, rows[test][:num_rows], rows[train][:100], feature_names=names)
    verdict = "benign" if float(model(rows[test][:1])[0]) > 0 else "malignant"
    print(f"Why the first of them is taken to be {verdict} (log-odds of benign):")
    print(explanation[0], "\n")
    print(f"What matters over {len(explanation)} of them:")
    print(explanation, "\n")

    folder.mkdir(parents=True, exist_ok=True)
    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    plots.bar(explanation[0], ax=ax)
    plt.savefig(folder / "first_row.png", dpi=150)
    plots.beeswarm(explanation)
    plt.savefig(folder / "beeswarm.png", dpi=150, bbox_inches="tight")
    print(
        f"Pictures: {folder / 'first_row.png'} (values with error bars), {folder / 'beeswarm.png'} (all rows)."
    )
    return 0


def _log_odds(layers, rows):
    """A multilayer perceptron on standardised columns: log-odds of a benign tumour, one a row."""
    (mean, scale), *hidden, (weights, bias) = layers
    activations = (rows - mean) / scale
    for layer_weights, layer_bias in hidden:
        activations = jax.nn.relu(activations @ layer_weights + layer_bias)
    return (activations @ weights + bias)[:, 0]


def _train(key, rows, labels, num_steps: int = 300):
    sizes = (rows.shape[1], 32, 32, 1)
    keys = jax.random.split(key, len(sizes) - 1)
    scaling = (rows.mean(0), rows.std(0))
    start = [
        (jax.random.normal(layer, shape) * jnp.sqrt(2 / shape[0]), jnp.zeros(shape[1]))
        for layer, *shape in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]
    optimiser = optax.adamw(3e-3, weight_decay=1e-2)

    def loss(layers):
        return optax.sigmoid_binary_cross_entropy(
            _log_odds([scaling, *layers], rows), labels
        ).mean()

    def step(carry, _):
        layers, state = carry
        updates, state = optimiser.update(jax.grad(loss)(layers), state, layers)
        return (optax.apply_updates(layers, updates), state), None

    (layers, _), _ = jax.jit(lambda start: jax.lax.scan(step, start, length=num_steps))(
        (start, optimiser.init(start))
    )
    return [scaling, *layers]
