"""Shapley values from all coalitions."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import stated
from jaxshap.games import all_coalitions, shapley


@dataclasses.dataclass(frozen=True)
class Exact(Estimator):
    """The definition: the weighted sum of every gain of every player.

    It costs 2**n evaluations, draws nothing, and its standard error is 0. Shapley (1953).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> jaxshap.estimate(0, game, jaxshap.Exact()).values.tolist()
        [2.5, 3.5]
    """

    def plan(self, key: Key[Array, ""] | None, num_players: int, budget: int) -> Plan:
        needed = 2**num_players
        if budget < needed:
            raise BudgetError(
                f"budget={budget} does not buy all 2**{num_players} coalitions of {num_players} "
                f"players: pass budget={needed} or more, or an estimator that samples.",
                needed=needed,
            )
        return Plan(_all_but_ends(num_players), needed - 2)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        gains = [jnp.zeros_like(empty)[None], worths - empty, (full - empty)[None]]
        values = shapley(jnp.concatenate(gains))
        return stated(values, jnp.zeros_like(values), exact=True)


@functools.partial(jax.jit, static_argnums=0)
def _all_but_ends(num_players: int) -> Bool[Array, "m {num_players}"]:
    return all_coalitions(num_players)[1:-1]
