"""Shapley values from random orderings of the players."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan, mean_of_draws


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

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        walks = 2 if self.antithetic else 1
        cost = walks * (num_players - 1)
        draws = (budget - 2) // cost
        if draws < 1:
            raise BudgetError(
                f"budget={budget} does not buy one ordering of {num_players} players: "
                f"pass budget={cost + 2} or more (twice that for standard errors).",
                needed=cost + 2,
            )
        positions = jax.vmap(_positions, in_axes=(None, 0, None))(
            key, jnp.arange(draws), num_players
        )[:, None]
        if self.antithetic:
            backwards = num_players - 1 - positions
            positions = jnp.concatenate([positions, backwards], axis=1)  # (draws, 2, n)
        sizes = jnp.arange(1, num_players)  # sizes 0 and n are ∅ and N
        coalitions = (positions[:, :, None, :] < sizes[:, None]).reshape(-1, num_players)
        return Plan(coalitions, len(coalitions), positions)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        draws, walks, num_players = plan.detail.shape
        paths = worths.reshape(draws, walks, num_players - 1, *empty.shape)
        of_walks = jax.vmap(_gains, in_axes=(0, 0, None, None))
        gains = jax.vmap(of_walks, in_axes=(0, 0, None, None))(plan.detail, paths, empty, full)
        gains = gains.mean(1)  # (draws, n, *out)
        return mean_of_draws(gains, plan.num_live // (walks * (num_players - 1)))


def _positions(
    key: Key[Array, ""], draw: Int[Array, ""], num_players: int
) -> Int[Array, "{num_players}"]:
    """Where each player stands in the ordering of this draw."""
    return jax.random.permutation(jax.random.fold_in(key, draw), num_players)


def _gains(
    positions: Int[Array, "n"],
    walk: Float[Array, "n-1 *out"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
) -> Float[Array, "n *out"]:
    """What each player adds on joining."""
    path = jnp.concatenate([empty[None], walk, full[None]])
    return jnp.diff(path, axis=0)[positions]
