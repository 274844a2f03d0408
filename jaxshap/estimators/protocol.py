"""The estimator protocol: plan which coalitions to ask about, then solve for the values."""

import abc
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PyTree


class Plan(NamedTuple):
    """The coalitions to evaluate, without ∅ and N, and what `solve` needs to know about them.

    Only the first `num_live` rows are real; the rest is padding, so that nearby budgets share one
    compiled program.

    Args:
        coalitions: who is in each coalition, one row per evaluation.
        num_live: how many rows are real.
        detail: whatever else the estimator's `solve` needs, a pytree; nothing by default.
        constants: what depends on the sizes of the plan alone, see `Estimator.constants`.

    Example:
        >>> import jax, jaxshap
        >>> plan = jaxshap.Permutation().plan(jax.random.key(0), 3, budget=8)
        >>> plan.coalitions.shape, plan.num_live
        ((4, 3), 4)
    """

    coalitions: Bool[Array, "m *strata n"]
    num_live: int | Int[Array, ""]
    detail: PyTree = ()
    constants: PyTree = ()

    @property
    def live(self) -> Bool[Array, "m"]:
        """Which coalitions are real, not padding."""
        return jnp.arange(len(self.coalitions)) < self.num_live


class Estimate(NamedTuple):
    """Shapley values and their standard errors.

    Attributes:
        values: the value of each player, with shape `(n, *out)`.
        std_error: their standard errors, alike in shape: 0 only if exact, NaN if unknown.

    Example:
        >>> import jaxshap
        >>> values, std_error = jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 6.0]))
        >>> values.tolist(), std_error.tolist()
        ([2.5, 3.5], [0.0, 0.0])
    """

    values: Float[Array, "n *out"]
    std_error: Float[Array, "n *out"]


class Estimator(abc.ABC):
    """Hyperparameters and two pure methods, `plan` and `solve`.

    Subclasses are frozen dataclasses, so that equal estimators share a jit cache. `plan` never sees
    a worth and `solve` never draws, so each can be tested without the other, and everything between
    them (batches, devices, host models, progress) is written once, in `jaxshap.estimate`.

    Example:
        >>> import jax, jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> estimator = jaxshap.Permutation()  # these three lines are what `estimate` does
        >>> plan = estimator.plan(jax.random.key(0), game.num_players, budget=8)
        >>> worths = jaxshap.evaluate(game, plan.coalitions)
        >>> estimator.solve(plan, worths, game.empty, game.full).values.tolist()
        [1.0, 2.0, 3.0]
    """

    @abc.abstractmethod
    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        """Choose the coalitions to evaluate; a larger budget keeps every one of them.

        Args:
            key: the randomness; draw i comes from `fold_in(key, i)`.
            num_players: the number n of players.
            budget: how many evaluations may be spent, those of ∅ and N included.

        Returns:
            The `Plan`, with at most `budget − 2` coalitions.

        Raises:
            BudgetError: the budget is too small; the error's `needed` is the least that would do.
        """

    def constants(self, num_players: int, num_live: int, room: int) -> PyTree:
        """Arrays that `solve` needs and that depend on the sizes alone; nothing by default.

        They are made on the host in float64, once, and passed to `solve` in the plan.

        Args:
            num_players: the number n of players.
            num_live: how many coalitions of the plan are real.
            room: how many there are with padding.

        Returns:
            A pytree of numpy arrays.
        """
        del num_players, num_live, room
        return ()

    @abc.abstractmethod
    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        """Estimate the values from the worths of the planned coalitions.

        Args:
            plan: what `plan` returned, padded or not.
            worths: the worth of each planned coalition; 0 for padding.
            empty: v(∅), the worth of no players.
            full: v(N), the worth of all players.

        Returns:
            The `Estimate`: values and standard errors.
        """


def mean_of_draws(draws: Float[Array, "draws n *out"], count: int | Int[Array, ""]) -> Estimate:
    """The mean of the first `count` independent draws and its standard error, NaN for one draw."""
    number = jnp.asarray(count, draws.dtype)
    live = (jnp.arange(len(draws)) < count).reshape(-1, *(1,) * (draws.ndim - 1))
    mean = jnp.where(live, draws, 0).sum(0) / number
    squares = (jnp.where(live, draws - mean, 0) ** 2).sum(0)
    variance = squares / (number - 1)  # 0 / 0 for a single draw
    return Estimate(mean, jnp.sqrt(variance / number))


def mean_of_products(
    weights: Float[Array, "draws n"],
    worths: Float[Array, "draws *out"],
    count: int | Int[Array, ""],
) -> Estimate:
    """`mean_of_draws` for draws weight × worth of each player, without holding them in memory."""
    number = jnp.asarray(count, worths.dtype)
    weights = jnp.where((jnp.arange(len(weights)) < count)[:, None], weights, 0)
    mean = jnp.tensordot(weights, worths, (0, 0)) / number
    squares = jnp.tensordot(weights**2, worths**2, (0, 0)) - number * mean**2
    return Estimate(mean, jnp.sqrt(jnp.maximum(squares, 0) / (number - 1) / number))
