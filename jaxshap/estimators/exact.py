"""Shapley values from all coalitions."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import all_coalitions, shapley


@dataclasses.dataclass(frozen=True)
class Exact(Estimator):
    """The definition: every gain of every player, weighted. Costs 2**n evaluations; the standard
    error is 0.

    Example:
        >>> import jaxshap
        >>> jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 6.0]), jaxshap.Exact()).values.tolist()
        [2.5, 3.5]
    """

    def plan(self, key: Key[Array, ""] | None, num_players: int, budget: int) -> Plan:
        if budget < 2**num_players:
            raise BudgetError(
                f"budget={budget} does not buy all 2**{num_players} coalitions of {num_players} players: "
                f"pass budget={2**num_players} or more, or an estimator that samples."
            )
        return Plan(_all_but_ends(num_players), 2**num_players - 2)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        values = shapley(
            jnp.concatenate([jnp.zeros_like(empty)[None], worths - empty, (full - empty)[None]])
        )
        return Estimate(values, jnp.zeros_like(values))


_all_but_ends = jax.jit(lambda num_players: all_coalitions(num_players)[1:-1], static_argnums=0)
