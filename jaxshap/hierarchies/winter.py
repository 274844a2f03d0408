"""Owen and Winter values: Shapley values level by level, sampled or exact."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import (
    Estimate,
    Estimator,
    Plan,
    num_orderings,
    plan_walks,
    solve_walks,
    stated,
)
from jaxshap.hierarchies.enumeration import coalitions_of, weights_of
from jaxshap.hierarchies.hierarchy import Hierarchy

MAX_WEIGHTS = 2**24  # of exact values: players × coalitions


@dataclasses.dataclass(frozen=True)
class Winter(Estimator):
    """Average gains over the orderings in which the members of every group stand together.

    For a partition these are Owen values (Owen 1977), for deeper trees Winter values (1989); they
    sum to v(N) − v(∅), and those of a group to the value of the group among its neighbours. Exact
    where the budget buys all coalitions that such orderings meet, some n² for a binary tree;
    otherwise random orderings, each walked both ways, which is unbiased.

    Args:
        hierarchy: the tree whose leaves are the players.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 6.0, 6.0])  # 2 with 0 or 1
        >>> tree = jaxshap.hierarchies.hierarchy([[0, 1], 2])
        >>> jaxshap.estimate(0, game, jaxshap.hierarchies.Winter(tree)).values.tolist()
        [1.5, 1.5, 3.0]
        >>> jaxshap.estimate(0, game).values.tolist()  # their Shapley values
        [1.0, 1.0, 4.0]
    """

    hierarchy: Hierarchy

    @property
    def kind(self) -> str:
        """What each value is."""
        return {1: "Shapley value", 2: "Owen value"}.get(self.hierarchy.depth, "Winter value")

    def affordable(self, num_players: int, budget: int) -> Estimator:
        _check(self.hierarchy, num_players)
        needed = self.hierarchy.num_coalitions
        exact = needed <= budget and needed * num_players <= MAX_WEIGHTS
        return ExactWinter(self.hierarchy) if exact else self

    def budget_for_errors(self, num_players: int) -> int:
        return 4 * num_players - 2  # two orderings, each walked both ways

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        _check(self.hierarchy, num_players)
        draws = jnp.arange(num_orderings(num_players, budget))
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, draws)
        return plan_walks(jax.vmap(lambda key: positions(key, self.hierarchy))(keys))

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        return solve_walks(plan, worths, empty, full, alike=False)


@dataclasses.dataclass(frozen=True)
class ExactWinter(Estimator):
    """The definition: the weighted sum of every gain that an ordering of the tree shows."""

    hierarchy: Hierarchy

    @property
    def kind(self) -> str:
        """What each value is."""
        return Winter(self.hierarchy).kind

    def plan(self, key: Key[Array, ""] | None, num_players: int, budget: int) -> Plan:
        _check(self.hierarchy, num_players)
        needed = self.hierarchy.num_coalitions
        if budget < needed:
            raise BudgetError(f"budget={budget}: exact values of this tree need {needed}.", needed)
        coalitions = jnp.asarray(coalitions_of(self.hierarchy))
        return Plan(coalitions, len(coalitions))

    def constants(self, num_players: int, num_live: int, room: int) -> Float[np.ndarray, "_ n"]:
        """The weight of each coalition, and last of N, in each value."""
        del num_players, num_live, room
        return weights_of(self.hierarchy)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        traced = isinstance(plan.constants, tuple)  # nobody has made them
        weights = weights_of(self.hierarchy) if traced else plan.constants
        gains = jnp.concatenate([worths - empty, (full - empty)[None]])
        values = jnp.tensordot(jnp.asarray(weights, gains.dtype), gains, (0, 0))
        return stated(values, jnp.zeros_like(values), exact=True)


def positions(key: Key[Array, ""], tree: Hierarchy) -> Int[Array, "n"]:
    """Where each player stands in a random ordering that keeps every group together."""
    ranks = jax.random.permutation(key, tree.num_nodes)[tree.ancestors]  # (depth, n)
    order = jnp.lexsort(tuple(ranks[::-1]))  # the top level decides first
    return jnp.zeros(tree.num_players, order.dtype).at[order].set(jnp.arange(tree.num_players))


def _check(tree: Hierarchy, num_players: int) -> None:
    if tree.num_players != num_players:
        raise InputError(
            f"the hierarchy has {tree.num_players} players and the game {num_players}: make it for "
            "the players of this game."
        )
