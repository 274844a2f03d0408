"""The estimator protocol: plan which coalitions to ask about, then solve for the values."""

import abc
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, PyTree


class Plan(NamedTuple):
    """Coalitions to evaluate, ∅ and N left out, and what `solve` needs to know about them.

    The first `num_live` are meant; what follows is padding, so that nearby budgets share one
    compiled program.

    Example:
        >>> import jax, jaxshap
        >>> plan = jaxshap.Permutation().plan(jax.random.key(0), 3, budget=8)
        >>> plan.coalitions.shape, plan.num_live
        ((4, 3), 4)
    """

    coalitions: Bool[Array | np.ndarray, "m *strata n"]
    num_live: int | Int[Array, ""]
    detail: PyTree = ()

    @property
    def live(self) -> Bool[Array, "m"]:
        """Which coalitions are not padding."""
        return jnp.arange(len(self.coalitions)) < self.num_live


class Estimate(NamedTuple):
    """Shapley values and their standard errors: 0 only where exact, NaN where unknown.

    Example:
        >>> import jaxshap
        >>> values, std_error = jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 6.0]))
        >>> values.tolist(), std_error.tolist()
        ([2.5, 3.5], [0.0, 0.0])
    """

    values: Float[Array | np.ndarray, "n *out"]
    std_error: Float[Array | np.ndarray, "n *out"]


class Estimator(abc.ABC):
    """Hyperparameters and two pure methods; a frozen dataclass, so equal estimators share a jit
    cache.

    `plan` never sees a worth and `solve` never draws, so either can be tested without the other,
    and everything between them (batches, devices, host models, progress) is written once.

    Example, what `estimate` does:
        >>> import jax, jaxshap
        >>> game, estimator = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0]), jaxshap.Permutation()
        >>> plan = estimator.plan(jax.random.key(0), game.num_players, budget=8)
        >>> worths = jaxshap.evaluate(game, plan.coalitions)
        >>> estimator.solve(plan, worths, game.empty, game.full).values.tolist()
        [1.0, 2.0, 3.0]
    """

    @abc.abstractmethod
    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        """At most `budget` distinct coalitions, ∅ and N counted; a prefix of the plan for any
        larger budget.
        """

    @abc.abstractmethod
    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        """Values and standard errors from the worths of the planned coalitions; worths of padding
        are 0.
        """


def mean_of_draws(draws: Float[Array, "draws n *out"], count: int | Int[Array, ""]) -> Estimate:
    """Mean of the first `count` independent draws and its standard error; NaN where one draw cannot
    tell.
    """
    number = jnp.asarray(count, draws.dtype)
    live = (jnp.arange(len(draws)) < count).reshape(-1, *(1,) * (draws.ndim - 1))
    mean = jnp.where(live, draws, 0).sum(0) / number
    spread = (jnp.where(live, draws - mean, 0) ** 2).sum(0) / (
        number - 1
    )  # 0 / 0 for a single draw
    return Estimate(mean, jnp.sqrt(spread / number))


def mean_of_products(
    weights: Float[Array, "draws n"],
    worths: Float[Array, "draws *out"],
    count: int | Int[Array, ""],
) -> Estimate:
    """`mean_of_draws` for draws that are a weight of each player times a worth, without ever
    holding them.
    """
    number = jnp.asarray(count, worths.dtype)
    weights = jnp.where((jnp.arange(len(weights)) < count)[:, None], weights, 0)
    mean = jnp.tensordot(weights, worths, (0, 0)) / number
    spread = jnp.tensordot(weights**2, worths**2, (0, 0)) - number * mean**2
    return Estimate(mean, jnp.sqrt(jnp.maximum(spread, 0) / (number - 1) / number))
