"""Monte Carlo by the size of the coalition joined: stratified, and without replacement."""

import abc
import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import LARGEST_RANK, draw_chances, draw_coalitions, draw_distinct, schedule


@dataclasses.dataclass(frozen=True)
class BySize(Estimator):
    """φ_i is the mean over sizes 0..n−1 of i's mean gain on joining a coalition of that size.

    Joining ∅ or N∖i has a single gain, which is taken exactly. Otherwise a draw is one gain of each
    player at one size, two evaluations each. Unbiased for every game, exact for additive ones;
    values need not sum to v(N) − v(∅).
    """

    @abc.abstractmethod
    def sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        """Size of each draw, the first n − 2 all different, and which draw of its size it is."""

    @abc.abstractmethod
    def others(
        self,
        key: Key[Array, ""],
        sizes: Int[np.ndarray, "draws"],
        turns: Int[np.ndarray, "draws"],
        num_others: int,
    ) -> Bool[Array, "draws others"]:
        """For one player, the coalitions of other players that it joins."""

    @abc.abstractmethod
    def unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        """The share of the gains at each size 1..n−2 that was not drawn."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        draws = (budget - 2 - 2 * num_players) // (2 * num_players)
        if draws < num_players - 2:
            each = 2 * num_players * (num_players - 2)
            raise BudgetError(
                f"budget={budget} does not buy a gain of each of {num_players} players at each size: pass "
                f"budget={2 + 2 * num_players + each} or more ({2 + 2 * num_players + 2 * each} for standard errors)."
            )
        sizes, turns = self.sizes(num_players, draws)
        before = jax.vmap(
            lambda player: self._before(
                jax.random.fold_in(key, player), player, sizes, turns, num_players
            )
        )
        everyone = jnp.eye(num_players, dtype=bool)
        joining = jnp.moveaxis(before(jnp.arange(num_players)), 0, 1)  # (draws, n, n)
        gains = jnp.stack([joining, joining | everyone], axis=2).reshape(-1, num_players)
        coalitions = jnp.concatenate([everyone, ~everyone, gains])
        return Plan(coalitions, len(coalitions), jnp.asarray(sizes, jnp.int32))

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        first, last = worths[:num_players] - empty, full - worths[num_players : 2 * num_players]
        means, variances = self.moments(plan, worths)
        error = jnp.sqrt(variances.sum(0)) / num_players
        return Estimate((first + last + means.sum(0)) / num_players, error)

    def moments(
        self, plan: Plan, worths: Float[Array, "m *out"]
    ) -> tuple[Float[Array, "sizes n *out"], Float[Array, "sizes n *out"]]:
        """Mean gain at each size 1..n−2, and the variance of that mean (NaN where one draw cannot
        tell).
        """
        num_players = plan.coalitions.shape[1]
        gains = worths[2 * num_players :].reshape(-1, num_players, 2, *worths.shape[1:])
        gains = gains[:, :, 1] - gains[:, :, 0]
        live = jnp.arange(len(gains)) < plan.num_live // (2 * num_players) - 1
        member = (
            (plan.detail == jnp.arange(1, num_players - 1, dtype=plan.detail.dtype)[:, None]) & live
        ).astype(worths.dtype)
        drawn = member.sum(1)
        unseen = self.unseen(drawn)
        means = jnp.tensordot(member / drawn[:, None], gains, 1)
        squares = jnp.tensordot(member, (gains - means[plan.detail - 1]) ** 2, 1)
        share = jnp.where(unseen == 0, 0, unseen / (drawn * (drawn - 1)))  # 0 / 0 for a single draw
        return means, share.reshape(-1, *(1,) * (means.ndim - 1)) * squares

    def _before(self, key, player, sizes, turns, num_players: int) -> Bool[Array, "draws n"]:
        """Coalitions without the player, from coalitions of the others."""
        others = self.others(key, sizes, turns, num_players - 1)
        column = jnp.arange(num_players)
        return others[
            :, jnp.clip(jnp.where(column > player, column - 1, column), 0, num_players - 2)
        ] & (column != player)


@dataclasses.dataclass(frozen=True)
class Stratified(BySize):
    """Each size estimated by itself, with independent draws. Unbiased for every game. Castro et al.
    (2017).

    `allocation` says how draws are shared among sizes 1..n−2 after the first two of each: equally,
    or as `neyman_allocation` found best from a pilot.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])  # additive
        >>> jaxshap.estimate(0, game, jaxshap.Stratified(), budget=20).values.tolist()
        [1.0, 2.0, 3.0]
    """

    allocation: tuple[float, ...] | None = None

    def sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        strata = num_players - 2
        rates = self.allocation or (1.0,) * strata
        if len(rates) != strata or min(rates, default=1) <= 0:
            raise InputError(
                f"allocation={rates}: pass {strata} positive numbers, one for each size 1..{strata}."
            )
        later, _ = schedule((LARGEST_RANK,) * strata, max(0, count - 2 * strata), rates)
        sizes = np.concatenate([np.tile(np.arange(strata), 2), later])[:count] + 1
        return sizes, np.arange(len(sizes))

    def others(self, key, sizes, turns, num_others: int) -> Bool[Array, "draws others"]:
        return draw_coalitions(
            draw_chances(key, jnp.asarray(turns), num_others), jnp.asarray(sizes)
        )

    def unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        return jnp.ones_like(drawn)


@dataclasses.dataclass(frozen=True)
class WithoutReplacement(BySize):
    """Gains drawn by their Shapley weight, none of a player's twice; exact once there is nothing
    left to draw.

    Unbiased for every game, with a variance of at most (1/m) Σ_S p_S (v(S∪i) − v(S))² for m gains a
    player, which `jaxshap.theory.chebyshev` turns into a bound.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 20 evaluations draw all there is
        >>> found = jaxshap.estimate(0, game, jaxshap.WithoutReplacement(), budget=20)
        >>> found.values.tolist(), found.std_error.tolist()
        ([2.0, 3.0, 3.0], [0.0, 0.0, 0.0])
    """

    def sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        supply = _supply(num_players - 1)
        sizes, turns = schedule(supply, count, (1.0,) * len(supply))
        return sizes + 1, turns

    def others(self, key, sizes, turns, num_others: int) -> Bool[Array, "draws others"]:
        return draw_distinct(
            key, num_others, sizes, turns, np.asarray(_supply(num_others))[sizes - 1]
        )

    def unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        return 1 - drawn / jnp.asarray(_supply(len(drawn) + 1), drawn.dtype)


def _supply(num_others: int) -> tuple[int, ...]:
    """How many coalitions of other players there are of each size 1..n−2."""
    return tuple(min(math.comb(num_others, size), LARGEST_RANK) for size in range(1, num_others))
