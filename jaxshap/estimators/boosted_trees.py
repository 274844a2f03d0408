"""Boosted oblivious trees fitted to worths, whose Shapley values are known in closed form."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.surrogates import Fitted, Surrogate
from jaxshap.games import gain_weights, mapped, read_number, read_whole

MAX_DEPTH = 20  # of a tree, which has 2**depth leaves


@dataclasses.dataclass(frozen=True)
class BoostedTrees(Surrogate):
    """Gradient-boosted symmetric trees, fitted per output.

    Each tree asks about the same `depth` players on every path, so it is a small table whose
    Shapley values are exact, and so are those of the sum of all trees.

    Args:
        num_trees: how many trees are fitted one after the other; 100 by default.
        depth: how many players each tree asks about; 3 by default.
        learning_rate: the share of each tree's fit that is kept; 0.2 by default.
        ridge: coalitions of residual 0 added to every leaf; 1 by default.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> fitted = jaxshap.estimators.BoostedTrees().fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(abs(np.asarray(numbers).round(2)).ravel() for numbers in fitted))
        [0. 1. 2. 6.] [2.5 3.5]
    """

    num_trees: int = 100
    depth: int = 3
    learning_rate: float = 0.2
    ridge: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_trees", read_whole(self.num_trees, "num_trees"))
        object.__setattr__(self, "depth", read_whole(self.depth, "depth", most=MAX_DEPTH))
        object.__setattr__(
            self, "learning_rate", read_number(self.learning_rate, "learning_rate", above=0)
        )
        object.__setattr__(self, "ridge", read_number(self.ridge, "ridge", least=0))

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        size = len(worths) * 2**self.depth * 4 * worths.dtype.itemsize
        fitted, values = mapped(
            lambda column: self._boost(coalitions, column, used), worths.T, size
        )
        return Fitted(fitted.T, values.T)

    def _boost(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m"], used: Bool[Array, "m"]
    ) -> tuple[Float[Array, "m"], Float[Array, "n"]]:
        """Fitted worths and Shapley values for one output."""
        num_players, dtype = coalitions.shape[1], worths.dtype
        member, counted = coalitions.astype(dtype), used.astype(dtype)
        depth = min(self.depth, num_players)
        shares = jnp.asarray(_shares(depth), dtype)

        def add_tree(carry, _):
            residuals, values = carry
            players, leaf = _grow(member, residuals, counted, depth, self.ridge)
            at_leaf = jax.nn.one_hot(leaf, 2**depth, dtype=dtype)
            summed = counted * jnp.where(jnp.arange(2)[:, None] == 0, residuals, 1)
            total, number = summed @ at_leaf
            table = self.learning_rate * total / (number + self.ridge)
            for player, share in zip(players, shares @ table, strict=True):
                values = values + jnp.where(jnp.arange(num_players) == player, share, 0)
            return (residuals - table[leaf], values), None

        mean = (counted * worths).sum() / counted.sum()
        start = (worths - mean, jnp.zeros(num_players, dtype))
        (residuals, values), _ = jax.lax.scan(add_tree, start, length=self.num_trees)
        return worths - residuals, values


def _shares(depth: int) -> Float[np.ndarray, "{depth} 2**{depth}"]:
    """The Shapley values of a table as a matrix; its top bit is the first player."""
    members = (np.arange(2**depth) >> np.arange(depth)[::-1, None]) & 1 == 1
    sizes, weights = members.sum(0), np.append(gain_weights(depth), 0)
    return np.where(members, weights[sizes - 1], -weights[sizes])


def _grow(
    member: Float[Array, "m n"],
    residuals: Float[Array, "m"],
    counted: Float[Array, "m"],
    depth: int,
    ridge: float,
) -> tuple[list[Int[Array, ""]], Int[Array, "m"]]:
    """Greedily the players that best explain the residuals, and the leaf of each coalition.

    The first player is the top bit of the leaf's number.
    """
    leaf = jnp.zeros(len(residuals), jnp.int32)
    free = jnp.ones(member.shape[1], bool)
    numbers = jnp.arange(member.shape[1])
    sides = jnp.concatenate([member, 1 - member], axis=1)  # with the player, and without
    summed = counted * jnp.where(jnp.arange(2)[:, None] == 0, residuals, 1)
    players = []
    for level in range(depth):
        at_leaf = jax.nn.one_hot(leaf, 2**level, dtype=residuals.dtype, axis=0)
        sums = (summed[:, None] * at_leaf).reshape(-1, len(leaf)) @ sides
        total, number = sums.reshape(2, -1, len(numbers))  # leaves × sides
        gain = (total**2 / (number + ridge)).reshape(-1, 2, len(numbers)).sum((0, 1))
        player = jnp.argmax(jnp.where(free, gain, -jnp.inf))
        free = free & (numbers != player)
        leaf = 2 * leaf + member[:, player].astype(jnp.int32)
        players.append(player)
    return players, leaf
