"""Scattered: each stratum of a game is asked about coalitions of its own."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.estimators.kernel import Leverage
from jaxshap.estimators.protocol import Estimate, Estimator, Plan


@dataclasses.dataclass(frozen=True)
class Scattered(Estimator):
    """Any estimator with own draws for every stratum, so that errors average out over them.

    A marginal game is the weighted mean of one game per background row, v = Σ_b w_b v_b. What a
    user pays for is model rows, coalitions × background rows, so coalitions that differ from one
    background row to the next cost nothing, and their errors average out. Stratum b draws from
    `fold_in(key, b)`; values add up, and so do variances, the draws being independent. On a game
    without strata it is the estimator itself.

    Args:
        estimator: what solves each stratum.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> X, background = jnp.ones((1, 4)), jnp.arange(40.0).reshape(10, 4) / 40
        >>> game = jaxshap.marginal(lambda x: x.prod(1), X, background)
        >>> estimate = jaxshap.estimate(0, game, jaxshap.Scattered(jaxshap.Leverage()), budget=12)
        >>> bool(jnp.allclose(estimate.values.sum(), (game.full - game.empty)[0]))
        True
    """

    estimator: Estimator = Leverage()

    def plan(self, key: Key[Array, ""], num_players: int, budget: int, num_strata: int = 1) -> Plan:
        """Coalitions `(m, strata, n)`; see `Estimator.plan`."""

        def of_stratum(stratum):
            return self.estimator.plan(jax.random.fold_in(key, stratum), num_players, budget)

        plans = jax.vmap(of_stratum)(jnp.arange(num_strata))
        size = plans.coalitions.shape[1]
        coalitions = jnp.moveaxis(plans.coalitions, 0, 1)
        return Plan(coalitions, size, plans.detail)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m strata *out"],
        empty: Float[Array, "strata *out"],
        full: Float[Array, "strata *out"],
    ) -> Estimate:
        """From the parts of the worths, w_b v_b(S); strata of weight 0 add nothing."""

        def of_stratum(coalitions, detail, worths, empty, full):
            return self.estimator.solve(
                Plan(coalitions, plan.num_live, detail), worths, empty, full
            )

        axes = (1, 0, 1, 0, 0)
        each = jax.vmap(of_stratum, axes)(plan.coalitions, plan.detail, worths, empty, full)
        return Estimate(each.values.sum(0), jnp.sqrt((each.std_error**2).sum(0)))
