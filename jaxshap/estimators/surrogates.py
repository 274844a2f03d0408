"""Games fitted to worths, whose Shapley values are known in closed form."""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float, Int

from jaxshap.games import gain_weights, mapped, read_number, read_whole

MAX_DEPTH = 20  # of a tree, which has 2**depth leaves


class Fitted(NamedTuple):
    """A fitted game: its worths on the coalitions asked about, and its Shapley values.

    Attributes:
        worths: the worth of each coalition in the fitted game, with shape `(m, out)`.
        values: the Shapley values of the fitted game, with shape `(n, out)`.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [3.0]])
        >>> fitted = jaxshap.estimators.LinearSurrogate().fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(np.asarray(fitted.values[:, 0]).round(2))
        [1. 2.]
    """

    worths: Float[Array, "m out"]
    values: Float[Array, "n out"]


class Surrogate(abc.ABC):
    """The hyperparameters of a game that can be fitted, with one pure method, `fit`.

    Subclasses are frozen dataclasses. `RegressionAdjusted` takes any of them, yours included: it
    stays unbiased whatever the surrogate, as long as `values` are the Shapley values of `worths`.

    Example:
        >>> import dataclasses, jax.numpy as jnp, jaxshap, numpy as np
        >>> @dataclasses.dataclass(frozen=True)
        ... class Constant(jaxshap.estimators.Surrogate):
        ...     def fit(self, coalitions, worths, used):
        ...         values = jnp.zeros((coalitions.shape[1], worths.shape[1]))
        ...         return jaxshap.estimators.Fitted(jnp.zeros_like(worths), values)
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0, 3.0, 4.0, 5.0, 9.0])
        >>> estimate = jaxshap.estimate(0, game, jaxshap.RegressionAdjusted(Constant()), budget=40)
        >>> print(np.asarray(estimate.values.sum()).round(3))
        9.0
    """

    @abc.abstractmethod
    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        """Fit the game to some of the coalitions, and evaluate it on all of them.

        Args:
            coalitions: who is in each coalition.
            worths: the worth of each coalition, one column per output.
            used: which coalitions to fit to.

        Returns:
            The `Fitted` game: its worths on all coalitions, and its Shapley values.
        """


@dataclasses.dataclass(frozen=True)
class LinearSurrogate(Surrogate):
    """An additive game, fitted by ridge regression.

    Args:
        ridge: the penalty on squared slopes, per coalition; 1e-6 by default.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> fitted = jaxshap.estimators.LinearSurrogate().fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(np.asarray(numbers).round(2).ravel() for numbers in fitted))
        [-0.75  1.75  2.75  5.25] [2.5 3.5]
    """

    ridge: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", read_number(self.ridge, "ridge", least=0))

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        signs = jnp.where(coalitions, 1, -1).astype(worths.dtype)
        slopes, fitted = _ridge_regression(signs, worths, used, self.ridge)
        return Fitted(fitted, 2 * slopes)


@dataclasses.dataclass(frozen=True)
class PairwiseSurrogate(Surrogate):
    """An additive game plus interactions of two players, by ridge regression on n(n+1)/2 terms.

    A product of two signs does not change under complement, so it is worth 0 to everyone: the pairs
    only clear the slopes of interactions. On coalitions that come with their complements they
    change nothing.

    Args:
        ridge: the penalty on squared slopes, per coalition; 1e-2 by default.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> coalitions = jnp.array([[0, 0], [1, 0], [0, 1], [1, 1]], bool)
        >>> worths = jnp.array([[0.0], [1.0], [2.0], [6.0]])
        >>> surrogate = jaxshap.estimators.PairwiseSurrogate(ridge=1e-5)
        >>> fitted = surrogate.fit(coalitions, worths, jnp.ones(4, bool))
        >>> print(*(abs(np.asarray(numbers).round(2)).ravel() for numbers in fitted))
        [0. 1. 2. 6.] [2.5 3.5]
    """

    ridge: float = 1e-2

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", read_number(self.ridge, "ridge", least=0))

    def fit(
        self, coalitions: Bool[Array, "m n"], worths: Float[Array, "m out"], used: Bool[Array, "m"]
    ) -> Fitted:
        num_players = coalitions.shape[1]
        signs = jnp.where(coalitions, 1, -1).astype(worths.dtype)
        first, second = np.triu_indices(num_players, 1)
        terms = jnp.hstack([signs, signs[:, first] * signs[:, second]])
        slopes, fitted = _ridge_regression(terms, worths, used, self.ridge)
        return Fitted(fitted, 2 * slopes[:num_players])


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


def _ridge_regression(
    terms: Float[Array, "m terms"],
    worths: Float[Array, "m out"],
    used: Bool[Array, "m"],
    ridge: float,
) -> tuple[Float[Array, "terms out"], Float[Array, "m out"]]:
    """Slopes and fitted worths of a regression with an intercept that is not penalised."""
    weight = used.astype(worths.dtype)[:, None]
    number = weight.sum()
    mean_term, mean_worth = (weight * terms).sum(0) / number, (weight * worths).sum(0) / number
    centred = terms - mean_term
    gram = (weight * centred).T @ centred
    gram = gram + ridge * number * jnp.eye(terms.shape[1], dtype=worths.dtype)
    slopes = cho_solve(cho_factor(gram), (weight * centred).T @ (worths - mean_worth))
    return slopes, centred @ slopes + mean_worth
