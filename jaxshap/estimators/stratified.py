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
from jaxshap.estimators.stating import pooled_degrees, sampled_estimate, stated
from jaxshap.games import (
    MAX_RANKED,
    check_kind,
    draw_chances,
    draw_coalitions,
    draw_distinct,
    inserted_absent,
    read_number,
    schedule,
)


@dataclasses.dataclass(frozen=True)
class BySize(Estimator):
    """φ_i is the mean over sizes 0..n−1 of i's mean gain on joining a coalition of that size.

    Joining ∅ or N∖i has a single gain, which is taken exactly. Otherwise a draw is one gain of each
    player at one size, for two evaluations each. Unbiased for every game, exact for additive ones;
    values need not sum to v(N) − v(∅).
    """

    @abc.abstractmethod
    def _sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        """The size of each draw, the first n − 2 all different, and its turn within its size."""

    @abc.abstractmethod
    def _partners(
        self,
        key: Key[Array, ""],
        sizes: Int[np.ndarray, "draws"],
        turns: Int[np.ndarray, "draws"],
        num_others: int,
    ) -> Bool[Array, "draws {num_others}"]:
        """The coalitions of the n − 1 other players that one player joins."""

    @abc.abstractmethod
    def _unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        """The share of the gains at each size 1..n−2 that was not drawn."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        ends = 2 + 2 * num_players  # ∅, N, and what each player adds to ∅ and to N∖i
        draws = (budget - ends) // (2 * num_players)
        if draws < num_players - 2:
            each_size = 2 * num_players * (num_players - 2)
            raise BudgetError(
                f"budget={budget} does not buy a gain of each of {num_players} players at each "
                f"size: pass budget={ends + each_size} or more "
                f"({ends + 2 * each_size} for standard errors).",
                needed=ends + each_size,
            )
        sizes, turns = self._sizes(num_players, draws)

        def before(player):
            player_key = jax.random.fold_in(key, player)
            partners = self._partners(player_key, sizes, turns, num_players - 1)
            return inserted_absent(partners, player)

        everyone = jnp.eye(num_players, dtype=bool)
        joining = jax.vmap(before, out_axes=1)(jnp.arange(num_players))  # (draws, n, n)
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
        drawn = self._of_size(plan).sum(1)
        spare = (drawn - 1).reshape(-1, *(1,) * (means.ndim - 1)).astype(means.dtype)
        degrees = pooled_degrees(variances, jnp.broadcast_to(spare, variances.shape))
        values = (first + last + means.sum(0)) / num_players
        estimate = sampled_estimate(values, variances.sum(0) / num_players**2, degrees)
        complete = (self._unseen(drawn.astype(means.dtype)) == 0).all()
        return stated(values, estimate.std_error, degrees=degrees, exact=complete)

    def moments(
        self, plan: Plan, worths: Float[Array, "m *out"]
    ) -> tuple[Float[Array, "sizes n *out"], Float[Array, "sizes n *out"]]:
        """The mean gain at each size 1..n−2 and the variance of that mean, NaN for one draw.

        Args:
            plan: what `plan` returned.
            worths: the worth of each planned coalition.

        Returns:
            Means and variances, both with shape `(n − 2, n, *out)`.
        """
        num_players = plan.coalitions.shape[1]
        gains = worths[2 * num_players :].reshape(-1, num_players, 2, *worths.shape[1:])
        gains = gains[:, :, 1] - gains[:, :, 0]
        of_size = self._of_size(plan).astype(worths.dtype)
        drawn = of_size.sum(1)
        unseen = self._unseen(drawn)
        means = jnp.tensordot(of_size / drawn[:, None], gains, 1)
        squares = jnp.tensordot(of_size, (gains - means[plan.detail - 1]) ** 2, 1)
        share = jnp.where(unseen == 0, 0, unseen / (drawn * (drawn - 1)))  # 0 / 0 for a single draw
        return means, share.reshape(-1, *(1,) * (means.ndim - 1)) * squares

    def _of_size(self, plan: Plan) -> Bool[Array, "sizes draws"]:
        """Which draws are real and join a coalition of each size 1..n−2."""
        num_players = plan.coalitions.shape[1]
        live = jnp.arange(len(plan.detail)) < plan.num_live // (2 * num_players) - 1
        sizes = jnp.arange(1, num_players - 1, dtype=plan.detail.dtype)[:, None]
        return (plan.detail == sizes) & live


@dataclasses.dataclass(frozen=True)
class Stratified(BySize):
    """Each player's mean gain at each size, from independent draws of that size.

    Unbiased for every game, exact for additive ones; values need not sum to v(N) − v(∅). Castro et
    al. (2017).

    Args:
        allocation: how draws are shared among the sizes 1..n−2 after the first two of each: n − 2
            positive numbers, such as `jaxshap.engine.neyman_allocation` finds from a pilot; equal
            shares by default.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])  # additive
        >>> jaxshap.estimate(0, game, jaxshap.Stratified(), budget=20).values.tolist()
        [1.0, 2.0, 3.0]
    """

    allocation: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.allocation is not None:
            check_kind(self.allocation, tuple, "allocation", "a tuple of positive numbers")
            for rate in self.allocation:
                read_number(rate, "a number of allocation", above=0)

    def _sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        strata = num_players - 2
        rates = self.allocation or (1.0,) * strata
        if len(rates) != strata:
            raise InputError(
                f"allocation={rates}: pass {strata} positive numbers, one per size 1..{strata}."
            )
        later, _ = schedule((MAX_RANKED,) * strata, max(0, count - 2 * strata), rates)
        sizes = np.concatenate([np.tile(np.arange(strata), 2), later])[:count] + 1
        return sizes, np.arange(len(sizes))

    def _partners(
        self,
        key: Key[Array, ""],
        sizes: Int[np.ndarray, "draws"],
        turns: Int[np.ndarray, "draws"],
        num_others: int,
    ) -> Bool[Array, "draws {num_others}"]:
        chances = draw_chances(key, jnp.asarray(turns), num_others)
        return draw_coalitions(chances, jnp.asarray(sizes))

    def _unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        return jnp.ones_like(drawn)


@dataclasses.dataclass(frozen=True)
class WithoutReplacement(BySize):
    """Gains drawn by their Shapley weight, none of a player's twice; exact once all are drawn.

    Unbiased for every game, with a variance of at most (1/m) Σ_S p_S (v(S∪i) − v(S))² for m gains
    per player, which `jaxshap.theory.chebyshev` turns into a bound. Values need not sum to
    v(N) − v(∅). It takes 2n² − 2n + 2 evaluations; for fewer there is `DistinctGains`.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 20 draw every gain
        >>> estimate = jaxshap.estimate(0, game, jaxshap.WithoutReplacement(), budget=20)
        >>> estimate.values.tolist(), estimate.std_error.tolist()
        ([2.0, 3.0, 3.0], [0.0, 0.0, 0.0])
    """

    def _sizes(
        self, num_players: int, count: int
    ) -> tuple[Int[np.ndarray, "draws"], Int[np.ndarray, "draws"]]:
        supply = _supply(num_players - 1)
        sizes, turns = schedule(supply, count, (1.0,) * len(supply))
        return sizes + 1, turns

    def _partners(
        self,
        key: Key[Array, ""],
        sizes: Int[np.ndarray, "draws"],
        turns: Int[np.ndarray, "draws"],
        num_others: int,
    ) -> Bool[Array, "draws {num_others}"]:
        supply = np.asarray(_supply(num_others))[sizes - 1]
        return draw_distinct(key, num_others, sizes, turns, supply)

    def _unseen(self, drawn: Float[Array, "sizes"]) -> Float[Array, "sizes"]:
        return 1 - drawn / jnp.asarray(_supply(len(drawn) + 1), drawn.dtype)


def _supply(num_others: int) -> tuple[int, ...]:
    """How many coalitions of the other players have size 1..n−2, capped at `MAX_RANKED`."""
    return tuple(min(math.comb(num_others, size), MAX_RANKED) for size in range(1, num_others))
