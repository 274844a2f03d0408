"""From a network to an explanation with error bars: run it with `python examples/quickstart.py`.

A small network learns the diabetes data that ships with scikit-learn; its predictions are explained
exactly, since ten features have only 1,024 coalitions, and then by sampling, to see that the error
bars tell the truth.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_diabetes

import jaxshap

data = load_diabetes(as_frame=True)
rows, target = data.data / data.data.std(), jnp.asarray(data.target, jnp.float32) / 100
inputs = jnp.asarray(rows, jnp.float32)

# A network is a function of rows. Its parameters are arguments, so that it can be trained and
# explained alike.
first, second = (
    jax.random.normal(key, (size, 16)) / np.sqrt(size)
    for key, size in zip(jax.random.split(jax.random.key(0)), (10, 16), strict=True)
)
parameters = {"first": first, "second": second, "last": jnp.ones(16) / 16}


def predict(parameters, rows):
    hidden = jnp.tanh(jnp.tanh(rows @ parameters["first"]) @ parameters["second"])
    return hidden @ parameters["last"]


def loss(parameters):
    return jnp.mean((predict(parameters, inputs) - target) ** 2)


optimiser = optax.adam(1e-2)
state = optimiser.init(parameters)


@jax.jit
def step(parameters, state):
    updates, state = optimiser.update(jax.grad(loss)(parameters), state)
    return optax.apply_updates(parameters, updates), state


for _ in range(500):
    parameters, state = step(parameters, state)
print(f"mean squared error {loss(parameters):.3f}, of a target with variance {target.var():.3f}\n")

# Explain ten predictions against a background of fifty rows. The value function and estimator are
# named in the result.
model = jax.tree_util.Partial(predict, parameters)
exact = jaxshap.explain(model, rows[:10], rows[-50:])
print(exact[0], "\n")

# The same from 200 coalitions. About 95 % of the errors should be within 1.96 standard errors.
sampled = jaxshap.explain(model, rows[:10], rows[-50:], budget=200, key=1)
within = np.abs(sampled.values - exact.values) <= 1.96 * sampled.std_error
print(
    f"{sampled.estimator} with {sampled.num_evaluations} evaluations: "
    f"{within.mean():.0%} within 1.96 standard errors"
)
