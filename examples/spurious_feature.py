"""Training a network not to rely on a feature, by a penalty on its Shapley values.

    python examples/spurious_feature.py

Five features carry the label; a sixth gives it away in the training data and says nothing later, as
a hospital's stamp on an X-ray does. Shapley values are differentiable in the parameters, so their
size for that feature can be a part of the loss. Two networks are trained alike but for this; both
are as accurate on data like the training data.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

import jaxshap

NAMES = ["x0", "x1", "x2", "x3", "x4", "stamp"]
STAMP = NAMES.index("stamp")


def draw(seed, count, *, stamped):
    """Labels in {0, 1}; the stamp goes with them, or is drawn apart."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 5))
    label = (x @ [1.5, -1, 1, 0.5, -0.5] + x[:, 0] * x[:, 1] > 0).astype(np.float32)
    side = label if stamped else rng.permutation(label)
    stamp = 2 * side - 1 + 0.8 * rng.normal(size=count)
    return np.column_stack([x, stamp]).astype(np.float32), label


def predict(parameters, rows):
    """The log-odds of label 1."""
    first, second = parameters
    return jnp.tanh(rows @ first) @ second


def stamp_values(parameters, rows):
    """What the stamp contributes to each row, against a row of zeros: exact, with 64 coalitions."""
    game = jaxshap.baseline(jax.tree_util.Partial(predict, parameters), rows, jnp.zeros(len(NAMES)))
    return jaxshap.estimate(0, game, jaxshap.Exact(), 2 ** len(NAMES)).values[STAMP]


@functools.partial(jax.jit, static_argnums=0)
def train(penalty, parameters, rows, labels):
    optimiser = optax.adam(0.01)

    def loss(parameters, batch):
        x, y = rows[batch], labels[batch]
        fit = optax.sigmoid_binary_cross_entropy(predict(parameters, x), y).mean()
        return fit + penalty * (stamp_values(parameters, x[:32]) ** 2).mean() if penalty else fit

    def step(carry, key):
        parameters, state = carry
        batch = jax.random.choice(key, len(rows), (256,))
        updates, state = optimiser.update(jax.grad(loss)(parameters, batch), state)
        return (optax.apply_updates(parameters, updates), state), None

    carry = parameters, optimiser.init(parameters)
    return jax.lax.scan(step, carry, jax.random.split(jax.random.key(1), 1000))[0][0]


rows, labels = draw(0, 4000, stamped=True)
alike, apart = draw(1, 4000, stamped=True), draw(2, 4000, stamped=False)
keys = jax.random.split(jax.random.key(0))
start = jax.random.normal(keys[0], (6, 24)) / 2, jax.random.normal(keys[1], (24,)) / 5


def accuracy(parameters, data):
    return float(((predict(parameters, data[0]) > 0) == (data[1] > 0.5)).mean())


for title, penalty in (("as it comes", 0.0), ("with a penalty on the stamp", 1.0)):
    parameters = train(penalty, start, rows, labels)
    model = jax.tree_util.Partial(predict, parameters)
    explanation = jaxshap.explain(
        model, alike[0][:500], np.zeros((1, 6), np.float32), feature_names=NAMES
    )
    importance = explanation.summary()
    share = importance.values[STAMP] / importance.values.sum()
    right = [accuracy(parameters, data) for data in (alike, apart)]
    print(f"{title}: {right[0]:.1%} right where the stamp helps, {right[1]:.1%} where it does not;")
    print(f"  the stamp has {share:.1%} of all attributions. Mean |Shapley value|:")
    for name, value, error in zip(NAMES, importance.values, importance.std_error, strict=True):
        print(f"  {name:5s} {value:.2f} ± {1.96 * error:.2f}  {'#' * int(20 * value)}")
