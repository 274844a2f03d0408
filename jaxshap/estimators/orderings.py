"""Walks along orderings: players join one by one, forwards and in the reverse order."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Plan
from jaxshap.estimators.stating import mean_of_draws


def num_orderings(num_players: int, budget: int, antithetic: bool = True) -> int:
    """How many orderings the budget buys, each walked both ways if antithetic; at least one."""
    cost = (2 if antithetic else 1) * (num_players - 1)
    draws = (budget - 2) // cost
    if draws < 1:
        raise BudgetError(
            f"budget={budget} does not buy one ordering of {num_players} players: "
            f"pass budget={cost + 2} or more (twice that for standard errors).",
            needed=cost + 2,
        )
    return draws


def plan_walks(positions: Int[Array, "draws n"], antithetic: bool = True) -> Plan:
    """The coalitions that form as players join in the order of their positions."""
    num_players = positions.shape[1]
    walks = positions[:, None]
    if antithetic:
        backwards = num_players - 1 - walks
        walks = jnp.concatenate([walks, backwards], axis=1)  # (draws, 2, n)
    sizes = jnp.arange(1, num_players)  # sizes 0 and n are ∅ and N
    coalitions = (walks[:, :, None, :] < sizes[:, None]).reshape(-1, num_players)
    return Plan(coalitions, len(coalitions), walks)


def solve_walks(
    plan: Plan,
    worths: Float[Array, "m *out"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
    *,
    alike: bool = True,
) -> Estimate:
    """What each player adds on joining, averaged over orderings; `alike` as in `mean_of_draws`."""
    draws, walks, num_players = plan.detail.shape
    paths = worths.reshape(draws, walks, num_players - 1, *empty.shape)
    of_walks = jax.vmap(_gains, in_axes=(0, 0, None, None))
    gains = jax.vmap(of_walks, in_axes=(0, 0, None, None))(plan.detail, paths, empty, full)
    gains = gains.mean(1)  # (draws, n, *out)
    return mean_of_draws(gains, plan.num_live // (walks * (num_players - 1)), alike=alike)


def _gains(
    positions: Int[Array, "n"],
    walk: Float[Array, "steps *out"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
) -> Float[Array, "n *out"]:
    """What each player adds on joining."""
    path = jnp.concatenate([empty[None], walk, full[None]])
    return jnp.diff(path, axis=0)[positions]
