"""Shapley values from random orderings of the players."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from jaxshap.estimators.orderings import num_orderings, plan_walks, solve_walks
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import read_flag


@dataclasses.dataclass(frozen=True)
class Permutation(Estimator):
    """Average each player's gain on joining its predecessors in random orderings.

    Unbiased for every game; walked both ways, exact after one draw when no interaction involves
    more than two players. Values sum to v(N) − v(∅). Castro et al. (2009), Mitchell et al. (2022).

    Args:
        antithetic: whether each ordering is walked both ways, at twice the cost, so that
            interactions of two players cause no error; True by default.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 0 and 1 add 2 together
        >>> jaxshap.estimate(0, game, jaxshap.Permutation(), budget=8).values.tolist()
        [2.0, 3.0, 3.0]
    """

    antithetic: bool = True

    def __post_init__(self) -> None:
        read_flag(self.antithetic, "antithetic")

    def budget_for_errors(self, num_players: int) -> int:
        walks = 2 if self.antithetic else 1
        return 2 * walks * (num_players - 1) + 2  # two draws

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        draws = num_orderings(num_players, budget, self.antithetic)
        positions = jax.vmap(_positions, in_axes=(None, 0, None))(
            key, jnp.arange(draws), num_players
        )
        return plan_walks(positions, self.antithetic)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        return solve_walks(plan, worths, empty, full)


def _positions(
    key: Key[Array, ""], draw: Int[Array, ""], num_players: int
) -> Int[Array, "{num_players}"]:
    """Where each player stands in the ordering of this draw."""
    return jax.random.permutation(jax.random.fold_in(key, draw), num_players)
