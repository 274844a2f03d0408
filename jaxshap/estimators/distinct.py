"""Monte Carlo without replacement: each player's gains drawn by their Shapley weight."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import mean_of_draws, stated
from jaxshap.games import draw_of_sizes, gain_weights, inserted_absent, with_ends, without_ends


@dataclasses.dataclass(frozen=True)
class DistinctGains(Estimator):
    """Gains of each player drawn one by one, each by its Shapley weight among those not yet drawn.

    The plain mean of such draws would be biased. Draw k instead counts Σ_{j<k} p_j g_j + (1 −
    Σ_{j<k} p_j) g_k, with g the gains and p their Shapley weights: each of these is unbiased, they
    are uncorrelated, and their mean has at most the variance (1/m) Σ_S p_S (v(S∪i) − v(S))² of m
    draws with replacement, as Des Raj (1956) showed. Exact for additive games, and once all 2^(n−1)
    gains of a player are drawn; values need not sum to v(N) − v(∅).

    One gain of each player is enough, where `WithoutReplacement` needs one at each size; from there
    on take that, since it also spreads the gains evenly over the sizes.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> estimate = jaxshap.estimate(0, game, jaxshap.estimators.DistinctGains(), budget=26)
        >>> estimate.values.tolist(), estimate.exact.tolist()
        ([2.0, 3.0, 3.0], [True, True, True])
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
        draws = min(draws, 2 ** (num_players - 1))

        def before(player):
            size_key, member_key = jax.random.split(jax.random.fold_in(key, player))
            sizes, turns = _drawn_sizes(size_key, num_players, draws)
            partners = draw_of_sizes(member_key, num_players - 1, sizes, turns)
            return inserted_absent(partners, player)

        joining = jax.vmap(before, out_axes=1)(jnp.arange(num_players))  # (draws, n, n)
        coalitions = jnp.stack([joining, joining | jnp.eye(num_players, dtype=bool)], axis=2)
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
        gains = worths[:, :, 1] - worths[:, :, 0]
        sizes = plan.detail.reshape(-1, num_players, 2, num_players)[:, :, 0].sum(-1)
        count = plan.num_live // (2 * num_players)
        weights = jnp.asarray(gain_weights(num_players), worths.dtype)[sizes]
        weights = jnp.where((jnp.arange(len(weights)) < count)[:, None], weights, 0)
        seen = jnp.cumsum(weights, axis=0) - weights  # (draws, n): the weight of earlier draws
        shape = (*weights.shape, *(1,) * empty.ndim)
        weighted = weights.reshape(shape) * gains
        earlier = jnp.cumsum(weighted, axis=0) - weighted
        estimate = mean_of_draws(earlier + (1 - seen).reshape(shape) * gains, count)
        is_all = count == min(2 ** (num_players - 1), np.iinfo(np.int32).max)
        values = jnp.where(is_all, weighted.sum(0), estimate.values)
        return stated(values, estimate.std_error, degrees=estimate.degrees, exact=is_all)


def _drawn_sizes(
    key: Key[Array, ""], num_players: int, draws: int
) -> tuple[Int[Array, "{draws}"], Int[Array, "{draws}"]]:
    """The size of each coalition joined, and how many of that size were drawn before.

    Shapley's weight gives every size 0..n−1 the same mass, of which each draw takes its share.
    """
    most = np.iinfo(np.int32).max  # more than can be drawn
    supply = [min(math.comb(num_players - 1, size), most) for size in range(num_players)]
    limits, taken = jnp.asarray(supply, jnp.int32), jnp.asarray(1 / np.array(supply), jnp.float32)

    def draw(counts, step):
        left = 1 - counts.astype(jnp.float32) * taken
        left = jnp.where(counts < limits, left, 0)
        size = jax.random.categorical(jax.random.fold_in(key, step), jnp.log(left))
        return counts.at[size].add(1), (size, counts[size])

    start = jnp.zeros(num_players, jnp.int32)
    sizes, turns = jax.lax.scan(draw, start, jnp.arange(draws))[1]
    return sizes.astype(jnp.int32), turns
