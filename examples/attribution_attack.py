"""The same prediction with another explanation, found by gradient: `python
examples/attribution_attack.py`.

Shapley values are differentiable in the row that is explained, so one can look for a row nearby
that the model treats alike and that is explained otherwise: here with the attributions of two
features exchanged. It is found where the model is bent between the two rows. The explanation of
each row is right; what is fragile is to read one as if it spoke of all rows nearby. The honest
explanation beside it is the mean over rows in the same neighbourhood.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_diabetes

import jaxshap

data = load_diabetes(as_frame=True)
names = list(data.data.columns)
inputs = jnp.asarray(data.data / data.data.std(), jnp.float32)
target = jnp.asarray((data.target - data.target.mean()) / data.target.std(), jnp.float32)
RADIUS = 0.5  # how far the row may be moved, in standard deviations of a feature


def predict(parameters, rows):
    first, second = parameters
    return jnp.tanh(rows @ first) @ second


def fit(parameters):
    optimiser = optax.adam(0.01)

    def step(carry, _):
        parameters, state = carry
        slope = jax.grad(lambda p: ((predict(p, inputs) - target) ** 2).mean())(parameters)
        updates, state = optimiser.update(slope, state)
        return (optax.apply_updates(parameters, updates), state), None

    return jax.lax.scan(step, (parameters, optimiser.init(parameters)), length=2000)[0][0]


keys = jax.random.split(jax.random.key(0))
model = jax.tree_util.Partial(
    predict,
    jax.jit(fit)(
        (jax.random.normal(keys[0], (10, 64)) * 1.5, jax.random.normal(keys[1], (64,)) / 4)
    ),
)
background = inputs[100:120]


def values_at(row):
    game = jaxshap.marginal(model, row[None], background)
    return jaxshap.estimate(0, game, jaxshap.Exact(), 2**10).values[:, 0]


row = inputs[0]
honest = values_at(row)
largest, smallest = int(jnp.argmax(jnp.abs(honest))), int(jnp.argmin(jnp.abs(honest)))
wanted = honest.at[jnp.array([largest, smallest])].set(honest[jnp.array([smallest, largest])])


@jax.jit
def attack(row):
    """Descent on the distance to the wanted attributions, within the radius, prediction held."""
    optimiser = optax.adam(0.03)

    def loss(shift):
        moved = row + RADIUS * jnp.tanh(shift)
        apart = ((values_at(moved) - wanted) ** 2).sum()
        return apart + 10 * (model(moved[None]) - model(row[None]))[0] ** 2

    def step(carry, _):
        shift, state = carry
        updates, state = optimiser.update(jax.grad(loss)(shift), state)
        return (optax.apply_updates(shift, updates), state), None

    shift = jnp.zeros_like(row)
    shift = jax.lax.scan(step, (shift, optimiser.init(shift)), length=300)[0][0]
    return row + RADIUS * jnp.tanh(shift)


moved = attack(row)
found = values_at(moved)
near = row + RADIUS * jax.random.uniform(jax.random.key(1), (50, 10), minval=-1, maxval=1)
around = jaxshap.explain(model, near, background, feature_names=names).values.mean(0)
before_move, after_move = (float(model(point[None])[0]) for point in (row, moved))
print(f"prediction {before_move:.3f} at the row, {after_move:.3f} at the one found; ", end="")
print(f"no feature moved by more than {float(jnp.abs(moved - row).max()):.2f} standard deviations")
before, after = (float(jnp.linalg.norm(part - wanted)) for part in (honest, found))
print(f"distance to the wanted attributions: {before:.3f} before, {after:.3f} after\n")
print("feature   at the row   wanted   at the one found   mean nearby")
for number, name in enumerate(names):
    mark = " <-" if number in (largest, smallest) else ""
    line = (honest[number], wanted[number], found[number], around[number])
    print(f"{name:8s} {line[0]:11.3f} {line[1]:8.3f} {line[2]:18.3f} {line[3]:13.3f}{mark}")
assert np.abs(np.asarray(moved - row)).max() <= RADIUS
