"""A convolutional network on 28×28 digits, 49 patches as players, 10 classes, 100 images: time to
an error of 1 %.

    python benchmarks/digits.py --mnist mnist.npz

The error is the root mean square over images, patches and classes of φ̂ − φ, as a share of the
spread of the probabilities (their largest less their smallest value over coalitions). φ is from
orderings, as many as make its own error a small part of that. shap goes from image to image: it is
timed on the first few and scaled to all. Its PartitionExplainer gives Owen values of a tree of
patches, which are not Shapley values: its error does not vanish.
"""

import argparse
import pathlib
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import report
from jaxtyping import Array, Float

import jaxshap

PATCH, GOAL = 4, 0.01
PLAYERS = jaxshap.patches((28, 28), PATCH)
IMAGES, KNOWN, PEER_IMAGES = 100, 20, 3


def network(weights, images: Float[Array, "points 28 28"]) -> Float[Array, "points 10"]:
    """Two convolutions with stride 2, one layer; probabilities."""
    first, second, last = weights
    layout = ("NHWC", "HWIO", "NHWC")
    hidden = images[..., None]
    for kernel in (first, second):
        hidden = jax.nn.relu(
            jax.lax.conv_general_dilated(hidden, kernel, (2, 2), "SAME", dimension_numbers=layout)
        )
    return jax.nn.softmax(hidden.reshape(len(hidden), -1) @ last)


def trained(images: Float[np.ndarray, "m 28 28"], labels: np.ndarray):
    rng = np.random.default_rng(0)
    shapes = (3, 3, 1, 8), (3, 3, 8, 16), (7 * 7 * 16, 10)
    weights = [
        jnp.asarray(rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1])), jnp.float32)
        for shape in shapes
    ]
    optimiser = optax.adam(2e-3)

    def loss(weights, batch):
        chance = network(weights, images[batch])
        return -jnp.log(jnp.take_along_axis(chance, labels[batch][:, None], axis=1) + 1e-9).mean()

    def step(carry, key):
        weights, state = carry
        batch = jax.random.choice(key, len(images), (128,))
        updates, state = optimiser.update(jax.grad(loss)(weights, batch), state)
        return (optax.apply_updates(weights, updates), state), None

    images, labels = jnp.asarray(images), jnp.asarray(labels, jnp.int32)
    run = jax.jit(lambda w, keys: jax.lax.scan(step, (w, optimiser.init(w)), keys)[0][0])
    return run(weights, jax.random.split(jax.random.key(0), 600))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mnist", type=pathlib.Path, required=True, help="an .npz file with the digits"
    )
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    if not options.mnist.exists():
        raise SystemExit(
            f"{options.mnist} is missing: pass an .npz file with x_train, y_train, x_test and "
            "y_test."
        )
    archive = np.load(options.mnist)
    shown = archive["x_test"].reshape(-1, 28, 28)[:IMAGES].astype(np.float32) / 255
    pixels = archive["x_train"].reshape(-1, 28, 28)[:20_000].astype(np.float32) / 255
    weights = trained(pixels, archive["y_train"][:20_000])
    right = float((network(weights, shown).argmax(1) == archive["y_test"][:IMAGES]).mean())
    print(f"{right:.0%} of the images are classified rightly")
    model, nothing = jax.tree_util.Partial(network, weights), np.zeros((1, 28, 28), np.float32)
    game = jaxshap.marginal(model, shown[:KNOWN], nothing, players=PLAYERS)
    truth = jaxshap.estimate(0, game, jaxshap.Permutation(), 2**16)
    values, own = (
        np.moveaxis(np.asarray(truth.values), 0, 1),
        float(np.sqrt((truth.std_error**2).mean())),
    )
    worths = np.asarray(
        jaxshap.evaluate(game, jaxshap.Permutation().plan(jax.random.key(1), len(PLAYERS), 500)[0])
    )
    spread = float(worths.max() - worths.min())
    print(f"φ is known to {own / spread:.2%} of the spread")

    def error(found: np.ndarray) -> float:
        count = min(len(found), KNOWN)
        return float(np.sqrt(((found[:count] - values[:count]) ** 2).mean())) / spread

    methods: dict[str, Any] = {
        repr(one).split("(")[0]: lambda budget, one=one: (
            jaxshap.explain(
                model, shown, nothing, groups=PLAYERS, estimator=one, budget=budget
            ).values
        )
        for one in (jaxshap.OddGP(), jaxshap.Leverage(), jaxshap.Permutation())
    }
    methods |= _shap(model, shown)
    rows = []
    for name, call in methods.items():
        scale = IMAGES / PEER_IMAGES if name.startswith("shap") else 1
        budget, found = 2 * len(PLAYERS) + 30, None
        while budget <= 2**14:
            begin = time.perf_counter()
            found = call(budget)
            first = (time.perf_counter() - begin) * scale
            if error(found) <= GOAL:
                break
            budget *= 2
        best = (
            min(
                _seconds(lambda call=call, budget=budget: call(budget))
                for _ in range(options.repeats)
            )
            * scale
        )
        reached = "" if error(found) <= GOAL else ", not reached"
        rows.append(
            (
                name,
                str(min(budget, 2**14)) + reached,
                f"{error(found):.2%}",
                f"{best:.2f} s",
                f"{first:.2f} s",
            )
        )
        print(*rows[-1], sep="  ", flush=True)
    notes = [
        f"{IMAGES} images, 10 classes, {len(PLAYERS)} patches; φ known to {own / spread:.2%} of",
        f"the spread. shap on {PEER_IMAGES} images, scaled. First call: at this budget, with",
        "compilation where there is any. shap's PartitionExplainer gives Owen values of a tree of",
        "patches; its error is against Shapley values.",
    ]
    header = ("method", "budget", "error", "later calls", "first call")
    report.write_table(
        __file__, "Digits: time to an error of 1 % of the spread", header, rows, notes
    )


def _shap(model, shown: Float[np.ndarray, "m 28 28"]) -> dict[str, Any]:
    """Its explainers on the same game: inputs are which of the patches are there."""
    try:
        import shap
        from scipy.cluster.hierarchy import linkage
    except ImportError as error:
        print(f"shap is left out: {error}")
        return {}
    owner = np.asarray(PLAYERS.owner)
    jitted = jax.jit(model)

    def of_image(image):
        def predict(present):
            masked = np.where(np.asarray(present, bool)[:, owner], image, 0).astype(np.float32)
            padded = np.resize(masked, (_power_above(len(masked)), 28, 28))
            return np.asarray(jitted(padded))[: len(masked)]

        return predict

    nobody, everybody = np.zeros((1, len(PLAYERS))), np.ones((1, len(PLAYERS)))
    places = np.stack(np.unravel_index(np.arange(len(PLAYERS)), (28 // PATCH,) * 2), axis=1)

    def permutation(budget):
        rounds = max(1, (budget - 2) // (2 * len(PLAYERS) - 2))

        def one(image):
            explainer = shap.PermutationExplainer(
                of_image(image), shap.maskers.Independent(nobody), seed=0
            )
            return explainer(
                everybody, max_evals=rounds * (2 * len(PLAYERS) + 1), silent=True
            ).values[0]

        return np.stack([one(image) for image in shown[:PEER_IMAGES]])

    def partition(budget):
        def one(image):
            masker = shap.maskers.Partition(
                nobody, clustering=linkage(places.astype(float), "average")
            )
            return shap.PartitionExplainer(of_image(image), masker)(
                everybody, max_evals=budget, silent=True
            ).values[0]

        return np.stack([one(image) for image in shown[:PEER_IMAGES]])

    return {"shap PermutationExplainer": permutation, "shap PartitionExplainer": partition}


def _power_above(count: int) -> int:
    """Batches padded to powers of two, so that the model is compiled as seldom as ours."""
    return 2 ** (count - 1).bit_length()


def _seconds(call) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
