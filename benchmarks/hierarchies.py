"""Values of a tree of 64 patches at equal evaluations: `Winter`, `top_down` and shap's Partition.

The model is a random convolution with a few strong patches; the truth is the exact Winter value of
each patch, which takes 2,732 evaluations. shap's Partition states no errors.
"""

import jax
import jax.numpy as jnp
import numpy as np
import shap
from report import write_table

import jaxshap
from jaxshap.hierarchies import Winter, hierarchy_of_blocks, top_down

SIDE, BUDGETS, MODELS = 8, (128, 256, 512, 1024, 2048), 5
TREE = hierarchy_of_blocks((SIDE, SIDE))


def network(seed: int):
    """Filters, an activation, and weights of which few are large."""
    rng = np.random.default_rng(seed)
    filters = jnp.asarray(rng.normal(size=(6, 1, 3, 3)), jnp.float32)
    strong = rng.standard_t(2, size=(6, SIDE, SIDE)) * (rng.uniform(size=(1, SIDE, SIDE)) < 0.2)
    last = jnp.asarray(strong / np.abs(strong).sum(), jnp.float32)

    @jax.jit
    def model(rows):
        images = rows.reshape(-1, 1, SIDE, SIDE)
        hidden = jnp.tanh(jax.lax.conv(images, filters, (1, 1), "SAME"))
        return jnp.tanh(3 * jnp.tensordot(hidden, last, 3))

    return model, jnp.asarray(rng.normal(size=(1, SIDE * SIDE)), jnp.float32)


def linkage_of(tree) -> np.ndarray:
    """The tree as scipy has it, for shap."""
    merges = []

    def number(node) -> tuple[int, int]:
        if isinstance(node, int):
            return node, 1
        (first, some), (second, others) = map(number, node)
        merges.append([first, second, len(merges) + 1.0, some + others])
        return SIDE * SIDE + len(merges) - 1, some + others

    number(tree.root)
    return np.array(merges, float)


def partition(model, row, budget: int) -> np.ndarray:
    masker = shap.maskers.Partition(np.zeros((1, SIDE * SIDE)), clustering=linkage_of(TREE))
    explainer = shap.explainers.Partition(lambda rows: np.asarray(model(rows)), masker)
    found = explainer(np.asarray(row), max_evals=budget, silent=True).values
    return np.asarray(found).reshape(-1)


def relative(found, truth) -> float:
    return float(((found - truth) ** 2).sum() / (truth**2).sum())


def lines():
    for budget in BUDGETS:
        errors = {name: [] for name in ("Winter", "top_down", "shap")}
        for seed in range(MODELS):
            model, row = network(seed)
            game = jaxshap.marginal(model, row, jnp.zeros_like(row))
            truth = np.asarray(jaxshap.estimate(0, game, Winter(TREE), budget=2732).values)[:, 0]
            sampled = jaxshap.estimate(0, game, Winter(TREE), budget=budget).values
            errors["Winter"].append(relative(np.asarray(sampled)[:, 0], truth))
            parts = top_down(0, game, TREE, budget=budget)
            errors["top_down"].append(relative(parts.shares()[:, 0], truth))
            errors["shap"].append(relative(partition(model, row, budget), truth))
        yield [budget, *(f"{np.exp(np.mean(np.log(each))):.2g}" for each in errors.values())]


if __name__ == "__main__":
    write_table(
        __file__,
        "Winter values of 64 patches at equal evaluations",
        ("evaluations", "`Winter`", "`top_down`", "shap's Partition"),
        list(lines()),
        [
            "Squared error over the squared length of the exact values, geometric mean over "
            f"{MODELS} networks. `top_down` shares out evenly what it has not divided.",
        ],
    )
