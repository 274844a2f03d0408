"""The classical Monte Carlo estimator: two evaluations for every gain."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import mean_of_draws
from jaxshap.games import with_ends, without_ends


@dataclasses.dataclass(frozen=True)
class Castro(Estimator):
    """Average each player's gain on joining its predecessors in random orderings of its own.

    Unbiased for every game, exact for additive ones; values need not sum to v(N) − v(∅). This is
    the baseline of the literature: `Permutation` gets the same gains for half the evaluations.
    Castro et al. (2009).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])  # additive
        >>> jaxshap.estimate(0, game, jaxshap.Castro(), budget=20).values.tolist()
        [1.0, 2.0, 3.0]
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        draws = (budget - 2) // (2 * num_players)
        if draws < 1:
            needed = 2 * num_players + 2
            raise BudgetError(
                f"budget={budget} does not buy one gain of each of {num_players} players: "
                f"pass budget={needed} or more (twice that for standard errors).",
                needed=needed,
            )
        before = jax.vmap(lambda draw: _predecessors(jax.random.fold_in(key, draw), num_players))(
            jnp.arange(draws)
        )
        joined = before | jnp.eye(num_players, dtype=bool)
        coalitions = jnp.stack([before, joined], axis=2)  # (draws, n, 2, n)
        coalitions = coalitions.reshape(-1, num_players)
        return Plan(without_ends(coalitions), len(coalitions), coalitions)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        worths = with_ends(worths, plan.detail, empty, full)
        worths = worths.reshape(-1, num_players, 2, *empty.shape)
        return mean_of_draws(worths[:, :, 1] - worths[:, :, 0], plan.num_live // (2 * num_players))


def _predecessors(
    key: Key[Array, ""], num_players: int
) -> Bool[Array, "{num_players} {num_players}"]:
    """Row i: who precedes player i in an ordering drawn for i alone."""

    def places(player):
        return jax.random.uniform(jax.random.fold_in(key, player), (num_players,), jnp.float32)

    by_player = jax.vmap(places)(jnp.arange(num_players))
    return by_player < jnp.diagonal(by_player)[:, None]
