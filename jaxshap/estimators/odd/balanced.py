"""What the estimators of this family share: the plan of balanced pairs, and its worths as rows."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.odd.design import balanced_pairs, least_pairs
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.protocol import Estimator, Plan
from jaxshap.games import affordable_pairs, paired


@dataclasses.dataclass(frozen=True)
class BalancedPairs(Estimator):
    """An estimator that asks about balanced pairs and fits a process to each output, or to all."""

    fit_each: bool | None = None

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = 2 * least_pairs(num_players) + 2
        if budget < least:
            raise BudgetError(
                f"budget={budget} does not buy each of {num_players} players and its complement: "
                f"pass budget={least} or more.",
                needed=least,
            )
        count = affordable_pairs(num_players, budget)
        return Plan(paired(balanced_pairs(key, num_players, count, all_twos=True)), 2 * count)


def unit_rows(
    plan: Plan, halves: Float[Array, "pairs *out"], whole: Float[Array, "*out"]
) -> tuple[Rows, Float[Array, "out"]]:
    """The odd or the even part at {∅, N} and at each pair, every output in units of its size; and
    these sizes.
    """
    sides = jnp.concatenate([jnp.ones((1, plan.coalitions.shape[1]), bool), plan.coalitions[::2]])
    live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
    targets = jnp.concatenate([whole.reshape(1, -1), halves.reshape(len(halves), -1)])
    targets = jnp.where(live[:, None], targets, 0)
    squares = (jax.lax.stop_gradient(targets) ** 2).sum(0)  # the size is a unit, no more
    scale = jnp.sqrt(squares / live.sum().astype(targets.dtype))
    signs = jnp.where(sides, 1, -1).astype(targets.dtype)
    return Rows(signs, live, targets / jnp.where(scale == 0, 1, scale)), scale
