"""The path-dependent expectation of an ensemble as a game, for every method that takes one."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.games import Game, check_kind, full_precision, make_game
from jaxshap.trees.conditions import path_conditions
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.path_dependent_values import base_margin


def path_dependent_game(ensemble: Ensemble, rows: Any) -> Game:
    """The worth of a set of features: the raw margin where a row goes both ways at other features.

    At a split on an absent feature a row goes to both sides, in the shares of the training rows
    that went there. The Shapley values of this game are those of `path_dependent`, which finds them
    faster; the game is for all else: other indices, estimators, residuals, decompositions. It takes
    time in proportion to the number of leaves. Lundberg et al. (2020).

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.

    Returns:
        The `Game` of the features, with worths (rows, outputs).

    Raises:
        InputError: if the table has other features than the trees.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> game = jaxshap.trees.path_dependent_game(trees, X[3:])
        >>> [float(game(np.array(inside, bool))[0, 0]) for inside in ([0, 0], [0, 1], [1, 1])]
        [1.0, 2.0, 4.0]
    """
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    full = ensemble.predict(rows)
    groups = tuple(_Paths(*map(jnp.asarray, group)) for group in path_conditions(ensemble, rows))
    value = _PathDependent(groups, jnp.broadcast_to(base_margin(ensemble), full.shape))
    game = make_game(value, ensemble.structure.num_features, "path-dependent")
    absent = "at its splits a row goes both ways, as often as the training rows did"
    return dataclasses.replace(game, absent=absent)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Paths:
    """Leaves with one condition per feature, as in `Conditions`; absent ones have one rate."""

    player: Int[Array, "paths k"]
    met: Float[Array, "paths k rows"]
    absent: Float[Array, "paths k 1"]
    values: Float[Array, "paths outputs"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _PathDependent:
    groups: tuple[_Paths, ...]
    base: Float[Array, "rows outputs"]

    def __call__(self, coalition: Bool[Array | np.ndarray, "n"]) -> Float[Array, "rows outputs"]:
        gain = jnp.zeros_like(self.base)
        for paths in self.groups:
            gain += _gain(paths, jnp.asarray(coalition))
        return self.base + gain


@full_precision
def _gain(paths: _Paths, coalition: Bool[Array, "n"]) -> Float[Array, "rows outputs"]:
    """What the coalition adds to the worth of nobody: no digits are lost to the base."""
    inside = coalition[paths.player]

    def add(total, path):
        present, met, absent, value = path
        chance = jnp.where(present[:, None], met, absent).prod(0)
        return total + (chance - absent.prod(0))[:, None] * value, None

    start = jnp.zeros((paths.met.shape[2], paths.values.shape[1]), paths.values.dtype)
    return jax.lax.scan(add, start, (inside, paths.met, paths.absent, paths.values))[0]
