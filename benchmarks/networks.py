"""The settings in which speed is measured, and a network with two hidden layers of 64 for each of
them.
"""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Setting(NamedTuple):
    players: int
    background: int
    rows: int

    @property
    def budget(self) -> int:
        return 2048 if self.players < 300 else 6000

    @property
    def points(self) -> int:
        """Rows of the model's input that the budget asks for."""
        return self.budget * self.background * self.rows


SETTINGS = (
    Setting(16, 1, 100),
    Setting(30, 100, 100),
    Setting(100, 100, 20),
    Setting(300, 1, 20),
    Setting(784, 1, 10),
)


class Data(NamedTuple):
    network: "Network"
    rows: Float[np.ndarray, "rows features"]
    background: Float[np.ndarray, "background features"]


@jax.tree_util.register_pytree_node_class
class Network:
    """tanh, tanh, one output; weights of a size at which the hidden units bend."""

    def __init__(self, weights):
        self.weights = weights

    @classmethod
    def drawn(cls, seed: int, num_features: int) -> "Network":
        rng = np.random.default_rng(seed)
        widths = (num_features, 64, 64, 1)
        shapes = itertools.pairwise(widths)
        return cls(
            [
                jnp.asarray(rng.normal(size=shape) * 1.5 / np.sqrt(shape[0]), jnp.float32)
                for shape in shapes
            ]
        )

    def __call__(self, x: Float[Array, "points features"]) -> Float[Array, "points"]:
        first, second, third = self.weights
        return (jnp.tanh(jnp.tanh(x @ first) @ second) @ third)[:, 0]

    def tree_flatten(self):
        return (self.weights,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def data_of(setting: Setting) -> Data:
    rng = np.random.default_rng(setting.players)
    rows, background = (
        rng.normal(size=(count, setting.players)).astype(np.float32)
        for count in (setting.rows, setting.background)
    )
    return Data(Network.drawn(setting.players, setting.players), rows, background)
