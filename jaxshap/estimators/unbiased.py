"""Unbiased estimators from independent coalitions: KernelSHAP with its exact Gram matrix, MSR."""

import dataclasses

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import mean_of_products
from jaxshap.games import (
    draw_independent,
    kernel_mass,
    paired,
    read_flag,
    reuse_mass,
    reuse_weights,
)


@dataclasses.dataclass(frozen=True)
class UnbiasedKernel(Estimator):
    """KernelSHAP with the Gram matrix over all coalitions in place of the sampled one.

    Coalitions come in pairs {S, N∖S}. Unbiased for every game; values sum to v(N) − v(∅). Its price
    is more variance than `Kernel` has: it is not exact even for additive games. Covert & Lee
    (2021).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> estimate = jaxshap.estimate(0, game, jaxshap.UnbiasedKernel(), budget=20)
        >>> round(float(estimate.values.sum()), 3)
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
        num_players = plan.coalitions.shape[1]
        side = plan.coalitions[::2].astype(worths.dtype)
        centred = side - side.mean(1, keepdims=True)
        # on Σφ = 0 the Gram matrix is 1 − 1/n times the identity; each side of a pair counts half
        scale = kernel_mass(num_players).sum() * num_players / (num_players - 1) / 2
        gaps = worths[::2] - worths[1::2]
        deviation = mean_of_products(scale * centred, gaps, plan.num_live // 2)
        return deviation._replace(values=deviation.values + (full - empty) / num_players)


@dataclasses.dataclass(frozen=True)
class MSR(Estimator):
    """Maximum sample reuse: every worth counts for every player.

    Unbiased for every game; values sum to v(N) − v(∅). Sizes s are drawn in proportion to
    1/√(s(n−s)), which has the least variance for worths of constant square. The variance of single
    coalitions grows with v² rather than with differences, so worths are taken relative to the
    midpoint of v(∅) and v(N). Wang & Jia (2023), Witter et al. (2025).

    Args:
        paired: whether each coalition comes with its complement, which cancels every shift of the
            worths; True by default.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> round(float(jaxshap.estimate(0, game, jaxshap.MSR(), budget=20).values.sum()), 3)
        8.0
    """

    paired: bool = True

    def __post_init__(self) -> None:
        read_flag(self.paired, "paired")

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        mass = reuse_mass(num_players)
        if self.paired:
            return _paired_plan(key, num_players, budget, mass)
        _check_budget(budget, needed=3)
        return Plan(draw_independent(key, num_players, budget - 2, mass), budget - 2)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        coalitions, num_live = plan.coalitions, plan.num_live
        shifted = worths - (empty + full) / 2
        if self.paired:
            coalitions, num_live = coalitions[::2], num_live // 2
            shifted = (shifted[::2] - shifted[1::2]) / 2
        deviation = mean_of_products(reuse_weights(coalitions, worths.dtype), shifted, num_live)
        return deviation._replace(values=deviation.values + (full - empty) / num_players)


def _paired_plan(
    key: Key[Array, ""], num_players: int, budget: int, mass: Float[np.ndarray, "{num_players}-1"]
) -> Plan:
    """Independent pairs {S, N∖S}, as many as the budget buys."""
    _check_budget(budget, needed=4)
    side = draw_independent(key, num_players, (budget - 2) // 2, mass)
    return Plan(paired(side), 2 * len(side))


def _check_budget(budget: int, needed: int) -> None:
    if budget < needed:
        raise BudgetError(
            f"budget={budget} does not buy one draw: pass budget={needed} or more.", needed=needed
        )
