"""Regression adjustment: the exact Shapley values of a fitted game, and an unbiased estimate of
what it leaves out.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.surrogates import LinearSurrogate, Surrogate
from jaxshap.games import draw_independent, paired, reuse_mass, reuse_weights


@dataclasses.dataclass(frozen=True)
class RegressionAdjusted(Estimator):
    """Fit a surrogate game on all folds but one, and estimate on that one, by maximum sample reuse,
    what is left.

    Unbiased for every game and surrogate, since no coalition corrects a fit it took part in; the
    better the surrogate fits, the smaller the variance. Values sum to v(N) − v(∅). Not linear in
    the worths unless the surrogate is. Witter et al. (2025).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])  # additive, and so is the surrogate
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.RegressionAdjusted(), budget=40).values).round(3))
        [1. 2. 3.]
    """

    surrogate: Surrogate = dataclasses.field(default_factory=LinearSurrogate)
    num_folds: int = 5

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = 2 + 4 * self.num_folds
        if budget < least or self.num_folds < 2:
            raise BudgetError(
                f"budget={budget} does not buy two pairs for each of {self.num_folds} folds (at least two): "
                f"pass budget={least} or more, or fewer folds."
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
            """Values from the coalitions of this fold, the variance of one draw, and the number of
            draws.
            """
            fitted = self.surrogate.fit(plan.coalitions, gains, plan.live & (fold != number))
            rest = gains - fitted.worths
            rest = rest[::2] - rest[1::2]
            mine = (plan.live & (fold == number))[::2]
            count = mine.sum().astype(worths.dtype)
            mean = jnp.where(mine[:, None], weights, 0).T @ rest / count
            square = jnp.where(mine[:, None], weights**2, 0).T @ rest**2 / count
            values = fitted.values + (total - fitted.values.sum(0)) / num_players + mean
            return values, jnp.maximum(square - mean**2, 0) * count / (count - 1), count

        values, variance, count = jax.lax.map(of_fold, jnp.arange(self.num_folds))
        share = (count / count.sum())[:, None, None]
        error = jnp.sqrt((share**2 * variance / count[:, None, None]).sum(0))
        shape = (num_players, *empty.shape)
        return Estimate((share * values).sum(0).reshape(shape), error.reshape(shape))
