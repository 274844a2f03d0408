"""Balanced: one balanced plan with its players relabelled at random, and one linear read-out."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.balanced_design import (
    MAX_EXHAUSTED_PLAYERS,
    MAX_SAMPLED_PAIRS,
    pair_sequence,
)
from jaxshap.estimators.balanced_readout import MAX_DENSE_PAIRS, ReadOut, read_out
from jaxshap.estimators.permutation import Permutation
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import stated
from jaxshap.games import affordable_pairs, paired

MAX_PLAYERS = 1024  # beyond, a read-out takes long, and orderings are what a budget buys


@dataclasses.dataclass(frozen=True)
class Balanced(Estimator):
    """Pairs {S, N∖S} balanced like an orthogonal array, relabelled at random, read out linearly.

    Unbiased for every game; exact for games with interactions of at most two players, and when all
    pairs are enumerated; values sum to v(N) − v(∅) and are linear in the worths. Which pairs there
    are depends on the numbers of players and pairs alone, and so does the read-out: of all that are
    exact for additive games and unbiased under relabelling, it has the least error in a smooth
    random game. The key only says which player plays which part. Made for many games of a kind
    with a key each, whose errors average out, as in `Scattered`; for a single game `OddGP` is more
    accurate. Standard errors come from left-out pairs, are calibrated for smooth games and up to a
    half too small where worths are mostly noise, and are NaN with 2n evaluations, n − 1 pairs,
    where nothing is left over. Short of all pairs it asks about 8,192 at most. Beyond 1,024 players
    it is `Permutation`.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 0 and 1 add 2 together
        >>> values = jaxshap.estimate(0, game, jaxshap.estimators.Balanced(), budget=6).values
        >>> print(np.asarray(values).round(3))
        [2. 3. 3.]
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        needed = min(2 * num_players, 2**num_players)
        if budget < needed:
            raise BudgetError(
                f"budget={budget} does not buy {num_players - 1} pairs of coalitions of "
                f"{num_players} players: pass budget={needed} or more.",
                needed=needed,
            )
        if num_players > MAX_PLAYERS:
            return Permutation().plan(key, num_players, budget)
        count = affordable_pairs(num_players, budget)
        if count < 2 ** (num_players - 1) - 1 or num_players > MAX_EXHAUSTED_PLAYERS:
            count = min(count, MAX_SAMPLED_PAIRS)
        parts = jax.random.permutation(key, num_players)  # which part each player plays
        sides = jnp.asarray(pair_sequence(num_players).first(count))
        return Plan(paired(sides[:, parts]), 2 * count, parts)

    def constants(self, num_players: int, num_live: int, room: int) -> tuple[np.ndarray, ...]:
        if num_players > MAX_PLAYERS:
            return ()
        num_pairs, num_rows = num_live // 2, room // 2
        dense = num_rows <= MAX_DENSE_PAIRS
        linear, centred, left_out = _known_read_out(num_players, num_pairs, dense)
        below = (0, num_rows - num_pairs)
        aside = below if dense else (0, 0)
        parts = ((linear, (0, 0)), (centred, (0, 0)), (left_out, aside))
        return tuple(np.pad(part, (below, columns)) for part, columns in parts)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_coalitions, num_players = plan.coalitions.shape
        if num_players > MAX_PLAYERS:
            return Permutation().solve(plan, worths, empty, full)
        constants = plan.constants or self.constants(
            num_players, int(plan.num_live), num_coalitions
        )
        linear, centred, left_out = (jnp.asarray(part, worths.dtype) for part in constants)
        total = (full - empty).reshape(1, -1)
        gaps = (worths[::2] - worths[1::2]).reshape(num_coalitions // 2, total.shape[1])
        size = plan.coalitions[::2].sum(1, keepdims=True).astype(gaps.dtype)
        rest = gaps - (2 * size / num_players - 1) * total
        rest = jnp.where(plan.live[::2, None], rest, 0)
        values = linear.T @ rest
        residuals = rest - centred @ values
        errors = left_out * residuals if left_out.shape[1] == 1 else left_out @ residuals
        std_error = jnp.sqrt(linear.T**2 @ errors**2)
        values = values - values.mean(0) + total / num_players
        values, std_error = (
            array[plan.detail].reshape(-1, *empty.shape) for array in (values, std_error)
        )
        num_pairs = jnp.asarray(plan.num_live) // 2
        complete = num_players <= MAX_EXHAUSTED_PLAYERS and num_pairs == 2 ** (num_players - 1) - 1
        return stated(values, std_error, degrees=num_pairs - (num_players - 1), exact=complete)


@functools.lru_cache(maxsize=4)
def _known_read_out(num_players: int, num_pairs: int, dense: bool) -> ReadOut:
    return read_out(pair_sequence(num_players).first(num_pairs), dense)
