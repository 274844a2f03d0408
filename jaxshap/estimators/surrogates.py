"""Games fitted to worths, whose Shapley values are known in closed form."""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float, Int

from jaxshap.games import shapley


class Fitted(NamedTuple):
    """The fitted game on the coalitions asked about, and its Shapley values."""

    worths: Float[Array, "m out"]
    values: Float[Array, "n out"]


class Surrogate(abc.ABC):
    """Hyperparameters of a game that can be fitted; a frozen dataclass."""

    @abc.abstractmethod
    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        """Fit to the coalitions `used`, and say what the fitted game is worth on all of them."""


@dataclasses.dataclass(frozen=True)
class LinearSurrogate(Surrogate):
    """An additive game, by ridge regression.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> fitted = jaxshap.estimators.LinearSurrogate().fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(np.asarray(part).round(2).ravel() for part in fitted))
        [-0.75  1.75  2.75  5.25] [2.5 3.5]
    """

    ridge: float = 1e-6

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        signs = jnp.where(coalitions, 1, -1).astype(worths.dtype)
        slopes, fitted = _ridge(signs, worths, used, self.ridge)
        return Fitted(fitted, 2 * slopes)


@dataclasses.dataclass(frozen=True)
class PairwiseSurrogate(Surrogate):
    """An additive game plus interactions of two players, by ridge regression on n(n+1)/2 terms.

    A product of two signs does not change under complement, so it is worth 0 to everyone: the pairs
    clean the fit of the slopes. On coalitions that come with their complements they change nothing.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> fitted = jaxshap.estimators.PairwiseSurrogate(ridge=1e-5).fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(abs(np.asarray(part).round(2)).ravel() for part in fitted))
        [0. 1. 2. 6.] [2.5 3.5]
    """

    ridge: float = 1e-2

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        num_players = coalitions.shape[1]
        signs = jnp.where(coalitions, 1, -1).astype(worths.dtype)
        first, second = np.triu_indices(num_players, 1)
        slopes, fitted = _ridge(
            jnp.hstack([signs, signs[:, first] * signs[:, second]]), worths, used, self.ridge
        )
        return Fitted(fitted, 2 * slopes[:num_players])


@dataclasses.dataclass(frozen=True)
class BoostedTrees(Surrogate):
    """Gradient-boosted symmetric trees: each asks the same `depth` players at every node, so it is
    a small table.

    The Shapley values of a table are exact, and so are those of their sum. One fit for each output.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> fitted = jaxshap.estimators.BoostedTrees().fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(abs(np.asarray(part).round(2)).ravel() for part in fitted))
        [0. 1. 2. 6.] [2.5 3.5]
    """

    num_trees: int = 100
    depth: int = 3
    learning_rate: float = 0.2
    ridge: float = 1.0

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        fitted, values = jax.lax.map(lambda column: self._boost(coalitions, column, used), worths.T)
        return Fitted(fitted.T, values.T)

    def _boost(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m"], used: Bool[Array, "m"]
    ):
        num_players, dtype = coalitions.shape[1], worths.dtype
        member, counted = coalitions.astype(dtype), used.astype(dtype)
        depth = min(self.depth, num_players)

        def tree(carry, _):
            rest, values = carry
            players, leaf = _grow(member, rest, counted, depth, self.ridge)
            at_leaf = jax.nn.one_hot(leaf, 2**depth, dtype=dtype)
            table = (
                self.learning_rate
                * (at_leaf.T @ (counted * rest))
                / (at_leaf.T @ counted + self.ridge)
            )
            return (rest - table[leaf], values.at[players].add(shapley(table)[::-1])), None

        mean = (counted * worths).sum() / counted.sum()
        start = (worths - mean, jnp.zeros(num_players, dtype))
        (rest, values), _ = jax.lax.scan(tree, start, length=self.num_trees)
        return worths - rest, values


def _grow(
    member, rest, counted, depth: int, ridge: float
) -> tuple[Int[Array, "depth"], Int[Array, "m"]]:
    """Greedily the players that explain the rest best, the first one the top bit of the leaf's
    number.
    """
    leaf = jnp.zeros(len(rest), jnp.int32)
    free = jnp.ones(member.shape[1], bool)
    players = []
    for level in range(depth):
        at_leaf = jax.nn.one_hot(leaf, 2**level, dtype=rest.dtype)
        total, number = at_leaf.T @ (counted * rest), at_leaf.T @ counted
        total_in, number_in = (
            (at_leaf * (counted * rest)[:, None]).T @ member,
            (at_leaf * counted[:, None]).T @ member,
        )
        total_out, number_out = total[:, None] - total_in, number[:, None] - number_in
        gain = (total_in**2 / (number_in + ridge) + total_out**2 / (number_out + ridge)).sum(0)
        player = jnp.argmax(jnp.where(free, gain, -jnp.inf))
        free = free.at[player].set(False)
        leaf = 2 * leaf + member[:, player].astype(jnp.int32)
        players.append(player)
    return jnp.stack(players), leaf


def _ridge(
    terms: Float[Array, "m terms"],
    worths: Float[Array, "m out"],
    used: Bool[Array, "m"],
    ridge: float,
):
    """Slopes and fitted worths of a regression with an intercept that is not penalised."""
    weight = used.astype(worths.dtype)[:, None]
    number = weight.sum()
    means = (weight * terms).sum(0) / number, (weight * worths).sum(0) / number
    centred = terms - means[0]
    gram = (weight * centred).T @ centred
    gram = gram + ridge * number * jnp.eye(terms.shape[1], dtype=worths.dtype)
    slopes = cho_solve(cho_factor(gram), (weight * centred).T @ (worths - means[1]))
    return slopes, centred @ slopes + means[1]
