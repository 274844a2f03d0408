"""Scattered: each stratum of a game is asked about coalitions of its own."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, PyTree

from jaxshap.estimators.balanced import Balanced
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import pooled_degrees, stated
from jaxshap.games import array_library, check_kind

_BALANCED = Balanced()


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

    estimator: Estimator = _BALANCED

    def __post_init__(self) -> None:
        check_kind(self.estimator, Estimator, "estimator", "an estimator, such as Kernel()")

    @property
    def has_units(self) -> bool:
        return self.estimator.has_units

    def plan(self, key: Key[Array, ""], num_players: int, budget: int, num_strata: int = 1) -> Plan:
        """Choose the coalitions of every stratum; a larger budget keeps every one of them.

        Args:
            key: stratum b draws from `fold_in(key, b)`.
            num_players: the number n of players.
            budget: coalitions per stratum, ∅ and N counted.
            num_strata: how many strata the game has.

        Returns:
            The plan, with coalitions `(m, strata, n)`.
        """

        def of_stratum(stratum):
            return self.estimator.plan(jax.random.fold_in(key, stratum), num_players, budget)

        plans = jax.vmap(of_stratum)(jnp.arange(num_strata))
        size = plans.coalitions.shape[1]
        coalitions = jnp.moveaxis(plans.coalitions, 0, 1)
        return Plan(coalitions, size, plans.detail)

    def constants(self, num_players: int, num_live: int, room: int) -> PyTree:
        return self.estimator.constants(num_players, num_live, room)

    def solves_in_numpy(self, num_players: int) -> bool:
        return self.estimator.solves_in_numpy(num_players)

    def solve(
        self,
        plan: Plan,
        worths: Float[Any, "m strata *out"],
        empty: Float[Any, "strata *out"],
        full: Float[Any, "strata *out"],
    ) -> Estimate:
        """Estimate the values from the parts of the worths; strata of weight 0 add nothing.

        Where a stratum alone cannot know its error, the spread between strata bounds it.

        Args:
            plan: what `plan` returned.
            worths: the parts of the worths, w_b v_b(S), `(m, strata, *out)`.
            empty: w_b v_b(∅), `(strata, *out)`.
            full: w_b v_b(N), `(strata, *out)`.

        Returns:
            Values and standard errors, `(n, *out)`.
        """
        each = self.estimator.solve_strata(plan, worths, empty, full)
        values, share = each.values.sum(0), full - empty
        share = share.astype(values.dtype)
        xp: Any = array_library(values)
        live = (xp.abs(worths).sum(0) + xp.abs(share)).reshape(len(share), -1).sum(1) > 0
        # a stratum of weight 0 has no errors, and nothing to say about degrees of freedom
        squares = each.std_error**2
        parts = xp.where(live.reshape(-1, *(1,) * values.ndim), squares, 0)
        variance = xp.where(live.any(), parts.sum(0), squares.sum(0))
        spread, unknown = self._spread(each.values, live), xp.isnan(variance)
        own = pooled_degrees(parts, xp.asarray(each.degrees))
        error = xp.sqrt(xp.where(unknown, spread, variance))
        degrees = xp.where(unknown, (live.sum() - 1).astype(own.dtype), own)
        return stated(values, error, degrees=degrees, exact=xp.asarray(each.exact).all(0))

    @staticmethod
    def _spread(
        parts: Float[Array | np.ndarray, "strata n *out"],
        live: Bool[Array | np.ndarray, "strata"],
    ):
        """The variance of a sum of parts as if they had one mean: never too small."""
        xp: Any = array_library(parts)
        count = live.sum().astype(parts.dtype)
        shown = live.reshape(-1, *(1,) * (parts.ndim - 1))
        mean = xp.where(shown, parts, 0).sum(0) / count
        squares = xp.where(shown, parts - mean, 0) ** 2
        unknown = xp.asarray(xp.nan, parts.dtype)
        return xp.where(count > 1, squares.sum(0) * count / (count - 1), unknown)
