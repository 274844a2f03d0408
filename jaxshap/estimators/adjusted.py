"""Regression adjustment: exact values of a fitted game, and an unbiased estimate of the rest."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import less_rounded, sampled_estimate
from jaxshap.estimators.surrogates import LinearSurrogate, Surrogate
from jaxshap.games import (
    check_kind,
    draw_independent,
    mapped,
    paired,
    read_whole,
    reuse_mass,
    reuse_weights,
)


@dataclasses.dataclass(frozen=True)
class RegressionAdjusted(Estimator):
    """Fit a surrogate game to all folds but one, and estimate on that fold what it misses.

    The remainder is estimated by maximum sample reuse. Unbiased for every game and surrogate, since
    no coalition corrects a fit that used it; the better the surrogate fits, the smaller the
    variance. Values sum to v(N) − v(∅). Linear in the worths only if the surrogate is. Witter et
    al. (2025).

    Args:
        surrogate: the game to fit; a `LinearSurrogate` by default.
        num_folds: how many folds the coalitions are split into, 2 or more; 5 by default.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])  # additive
        >>> estimate = jaxshap.estimate(0, game, jaxshap.RegressionAdjusted(), budget=40)
        >>> print(np.asarray(estimate.values).round(3))
        [1. 2. 3.]
    """

    surrogate: Surrogate = dataclasses.field(default_factory=LinearSurrogate)
    num_folds: int = 5

    def __post_init__(self) -> None:
        check_kind(self.surrogate, Surrogate, "surrogate", "LinearSurrogate(), say")
        object.__setattr__(self, "num_folds", read_whole(self.num_folds, "num_folds", 2))

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        needed = 2 + 4 * self.num_folds
        if budget < needed:
            raise BudgetError(
                f"budget={budget} does not buy two pairs for each of {self.num_folds} folds: "
                f"pass budget={needed} or more, or fewer folds.",
                needed=needed,
            )
        side = draw_independent(key, num_players, (budget - 2) // 2, reuse_mass(num_players))
        return Plan(paired(side), 2 * len(side))

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        gains, total = (worths - empty).reshape(len(worths), -1), (full - empty).reshape(-1)
        weights = reuse_weights(plan.coalitions[::2], worths.dtype) / 2
        fold = jnp.arange(len(worths)) // 2 % self.num_folds

        def of_fold(number):
            """Values from the coalitions of this fold, the variance of a draw, and their number."""
            fitted = self.surrogate.fit(plan.coalitions, gains, plan.live & (fold != number))
            residuals = gains - fitted.worths
            gaps = residuals[::2] - residuals[1::2]
            in_fold = (plan.live & (fold == number))[::2]
            count = in_fold.sum().astype(worths.dtype)
            mean = jnp.where(in_fold[:, None], weights, 0).T @ gaps / count
            square = jnp.where(in_fold[:, None], weights**2, 0).T @ gaps**2 / count
            values = fitted.values + (total - fitted.values.sum(0)) / num_players + mean
            return values, less_rounded(square, mean**2) * count / (count - 1), count

        folds, size = jnp.arange(self.num_folds), 16 * gains.size * gains.dtype.itemsize
        values, variance, count = mapped(of_fold, folds, size)
        share = (count / count.sum())[:, None, None]
        variance = (share**2 * variance / count[:, None, None]).sum(0)
        shape = (num_players, *empty.shape)
        degrees = count.sum() - self.num_folds
        values = (share * values).sum(0)
        return sampled_estimate(values.reshape(shape), variance.reshape(shape), degrees)
