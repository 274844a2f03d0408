"""KernelSHAP: Shapley values by weighted least squares on pairs of coalitions."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.coalitions import draw_pairs, kernel_mass, num_pairs
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.linear import efficient_least_squares, jackknife_error


@dataclasses.dataclass(frozen=True)
class Kernel(Estimator):
    """Fit an additive game to coalitions drawn by the Shapley kernel, each with its complement.

    All single players and their complements come first, then sizes in proportion to the kernel; a size that fits
    is enumerated. Exact for games with interactions of at most two players, and when everything is enumerated;
    otherwise biased by O(1/budget). Values sum to v(N) − v(∅). Lundberg & Lee (2017), Covert & Lee (2021).
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        if budget < 2 * num_players + 2 and budget < 2**num_players:
            raise ValueError(
                f"budget={budget} does not determine the values of {num_players} players: "
                f"pass budget={min(2 * num_players + 2, 2**num_players)} or more."
            )
        count = min((budget - 2) // 2, 2 ** (num_players - 1) - 1)
        side = draw_pairs(key, num_players, count, (np.inf, *_pair_mass(num_players)[1:]))
        return Plan(jnp.stack([side, ~side], axis=1).reshape(-1, num_players), 2 * count)

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        """With Σφ given, a pair tells of v(S) − v(N∖S) only, so each pair is one row of the regression."""
        num_players = plan.coalitions.shape[1]
        side, live = plan.coalitions[::2], plan.live[::2]
        design = jnp.where(side, 1, -1).astype(worths.dtype)
        sizes = jnp.minimum(side.sum(1), (~side).sum(1))
        mass, supply = (jnp.asarray(of(num_players), worths.dtype) for of in (_pair_mass, num_pairs))
        drawn = jnp.zeros(num_players // 2 + 1, worths.dtype).at[sizes].add(live.astype(worths.dtype))[1:]
        closed = drawn == supply  # enumerated: every pair has its own weight; the open sizes share theirs among draws
        open_weight = jnp.where(closed, 0, mass).sum() / jnp.where(closed, 0, drawn).sum()
        weight = jnp.where(closed, mass / supply, open_weight)
        weights = jnp.where(live, weight[sizes - 1], 0)
        fit = efficient_least_squares(design, worths[::2] - worths[1::2], weights, full - empty)
        error = jackknife_error(fit, live & ~closed[sizes - 1], 1 - (drawn / supply)[sizes - 1])
        return Estimate(fit.values, jnp.where(closed.all(), 0, error))


def _pair_mass(num_players: int) -> Float[np.ndarray, "half"]:
    """The kernel's mass on the pairs whose smaller side has 1..⌊n/2⌋ players."""
    sizes = np.arange(1, num_players // 2 + 1)
    return kernel_mass(num_players)[: len(sizes)] * np.where(2 * sizes == num_players, 1, 2)
