"""Integrated and expected gradients against exact Shapley values on small networks: cost and error.

One trained network for each activation function, 12 features, explained against one baseline row
and against a background. The cost of gradients is counted in forward passes of a row, a gradient as
three of them; the same column has what sampled Shapley values take to be as close.
"""

import itertools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
from report import write_table

import jaxshap

NUM_FEATURES, NUM_ROWS, PASSES_PER_GRADIENT = 12, 40, 3
ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "tanh": jnp.tanh}
BUDGETS = (32, 64, 128, 256, 512, 1024, 2048, 4000)


def data(seed: int, count: int):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, NUM_FEATURES)).astype(np.float32)
    target = np.sin(2 * rows[:, 0]) * rows[:, 1] + np.maximum(rows[:, 2], rows[:, 3])
    return rows, target + rows[:, 4] * rows[:, 5] * rows[:, 6] / 2 + rows[:, 7:].sum(1) / 4


def outputs(activation, parameters, rows):
    for weights, shift in parameters[:-1]:
        rows = activation(rows @ weights + shift)
    return (rows @ parameters[-1][0] + parameters[-1][1])[:, 0]


def trained(activation, seed: int = 0, steps: int = 2000):
    rng, widths = np.random.default_rng(seed), (NUM_FEATURES, 64, 64, 1)
    parameters = [
        (jnp.asarray(rng.normal(size=(a, b)) / np.sqrt(a), jnp.float32), jnp.zeros(b))
        for a, b in itertools.pairwise(widths)
    ]
    rows, target = map(jnp.asarray, data(1, 4096))
    optimiser = optax.adam(3e-3)

    def loss(parameters):
        return ((outputs(activation, parameters, rows) - target) ** 2).mean()

    def step(state, _):
        parameters, moments = state
        updates, moments = optimiser.update(jax.grad(loss)(parameters), moments)
        return (optax.apply_updates(parameters, updates), moments), None

    start = parameters, optimiser.init(parameters)
    (parameters, _), _ = jax.lax.scan(step, start, None, length=steps)
    return jax.jit(lambda rows: outputs(activation, parameters, rows))


def error(found, truth) -> float:
    return float(np.sqrt(((found.values - truth.values) ** 2).sum() / (truth.values**2).sum()))


def sampled_cost(model, rows, references, value, truth, wanted: float) -> str:
    """Model rows of the default estimator, the least of the budgets that is at least as close."""
    for budget in BUDGETS:
        found = jaxshap.explain(model, rows, references, value=value, budget=budget)
        if error(found, truth) <= wanted:
            return f"{budget * len(references):,}"
    return "exact"


def lines_of(name: str):
    model, (rows, _), (background, _) = trained(ACTIVATIONS[name]), data(2, NUM_ROWS), data(3, 32)
    zero, gradients = np.zeros((1, NUM_FEATURES), np.float32), jaxshap.gradients
    truth = jaxshap.explain(model, rows, zero, value=jaxshap.baseline)
    for tol in (0.1, 0.01, 0.001):
        with warnings.catch_warnings(action="ignore"):
            found = gradients.integrated_gradients(model, rows, zero, tol=tol, max_nodes=4096)
        cost, off = PASSES_PER_GRADIENT * found.num_evaluations, error(found, truth)
        rival = sampled_cost(model, rows, zero, jaxshap.baseline, truth, off)
        own = float(np.sqrt((found.std_error**2).sum() / (truth.values**2).sum()))
        yield name, f"integrated, tol={tol}", f"{cost:,}", off, own, rival
    truth = jaxshap.explain(model, rows, background, estimator=jaxshap.Exact())
    for budget in (64, 512, 4096):
        found = gradients.expected_gradients(model, rows, background, budget=budget)
        cost, off = PASSES_PER_GRADIENT * budget, error(found, truth)
        rival = sampled_cost(model, rows, background, jaxshap.marginal, truth, off)
        own = float(np.sqrt((found.std_error**2).sum() / (truth.values**2).sum()))
        yield name, f"expected, {budget} gradients", f"{cost:,}", off, own, rival


if __name__ == "__main__":
    write_table(
        __file__,
        "Gradients against exact Shapley values",
        (
            "network",
            "gradients",
            "passes per row",
            "distance to Shapley values",
            "own error",
            "passes of sampled Shapley values as close",
        ),
        [line for name in ACTIVATIONS for line in lines_of(name)],
        [
            "Root mean square over 40 rows and 12 features, as a share of that of the Shapley "
            "values. A gradient counts as three passes. Exact values take 4,096 passes per "
            "background row; there is 1, or 32.",
        ],
    )
