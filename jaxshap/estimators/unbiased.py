"""Unbiased estimators from coalitions drawn independently: KernelSHAP with the exact Gram matrix,
and MSR.
"""

import dataclasses

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan, mean_of_products
from jaxshap.games import draw_independent, kernel_mass, paired, reuse_mass, reuse_weights


@dataclasses.dataclass(frozen=True)
class UnbiasedKernel(Estimator):
    """KernelSHAP with the Gram matrix of the whole regression in place of the sampled one, on pairs
    {S, N∖S}.

    Unbiased for every game; values sum to v(N) − v(∅). Its price is more variance than `Kernel`: it
    is not exact even for additive games. Covert & Lee (2021).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 8 in all
        >>> round(float(jaxshap.estimate(0, game, jaxshap.UnbiasedKernel(), budget=20).values.sum()), 3)
        8.0
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        return _paired_plan(key, num_players, budget, kernel_mass(num_players))

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        """On Σφ = 0 the Gram matrix is 1 − 1/n times the identity, so its inverse is a number, half
        for each side.
        """
        num_players = plan.coalitions.shape[1]
        side = plan.coalitions[::2].astype(worths.dtype)
        centred = side - side.mean(1, keepdims=True)
        scale = kernel_mass(num_players).sum() * num_players / (num_players - 1) / 2
        rest = mean_of_products(scale * centred, worths[::2] - worths[1::2], plan.num_live // 2)
        return rest._replace(values=rest.values + (full - empty) / num_players)


@dataclasses.dataclass(frozen=True)
class MSR(Estimator):
    """Maximum sample reuse: every worth counts for every player, with the weight of the
    all-coalitions form.

    Unbiased for every game; values sum to v(N) − v(∅). Alone, its variance grows with v², not with
    differences, so worths are taken from the midpoint of v(∅) and v(N); `paired`, a coalition is
    always met by its complement, which cancels every shift. Sizes are drawn in proportion to
    1/√(s(n−s)), the least variance for a game of constant square. Wang & Jia (2023), Witter et al.
    (2025).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 8 in all
        >>> round(float(jaxshap.estimate(0, game, jaxshap.MSR(), budget=20).values.sum()), 3)
        8.0
    """

    paired: bool = True

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        mass = reuse_mass(num_players)
        if self.paired:
            return _paired_plan(key, num_players, budget, mass)
        _check_budget(budget, 1)
        return Plan(draw_independent(key, num_players, budget - 2, mass), budget - 2)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        shifted = worths - (empty + full) / 2
        if self.paired:
            coalitions, shifted, live = (
                plan.coalitions[::2],
                (shifted[::2] - shifted[1::2]) / 2,
                plan.num_live // 2,
            )
        else:
            coalitions, live = plan.coalitions, plan.num_live
        rest = mean_of_products(reuse_weights(coalitions, worths.dtype), shifted, live)
        return rest._replace(values=rest.values + (full - empty) / num_players)


def _paired_plan(
    key: Key[Array, ""], num_players: int, budget: int, mass: Float[np.ndarray, "n-1"]
) -> Plan:
    _check_budget(budget, 2)
    side = draw_independent(key, num_players, (budget - 2) // 2, mass)
    return Plan(paired(side), 2 * len(side))


def _check_budget(budget: int, draw: int) -> None:
    if budget < 2 + draw:
        raise BudgetError(f"budget={budget} does not buy one draw: pass budget={2 + draw} or more.")
