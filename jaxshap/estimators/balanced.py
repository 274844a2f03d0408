"""Balanced: one balanced plan with its players relabelled at random, and one linear read-out."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

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
from jaxshap.estimators.balanced_errors import calibration, sums_of_squares
from jaxshap.estimators.balanced_readout import MAX_DENSE_PAIRS, ReadOut, read_out
from jaxshap.estimators.permutation import Permutation
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import stated
from jaxshap.games import affordable_pairs, array_library, paired

MAX_PLAYERS = 1024  # beyond, a read-out takes long, and orderings are what a budget buys


class _Read(NamedTuple):
    """Values of all outputs in one axis, what estimates their variances, and what calibrates it."""

    values: Float[Array | np.ndarray, "n out"]
    squares: Float[Array | np.ndarray, "n out"]
    sums: Float[Array | np.ndarray, "2 out"]


@dataclasses.dataclass(frozen=True)
class Balanced(Estimator):
    """Pairs {S, N∖S} balanced like an orthogonal array, relabelled at random, read out linearly.

    Unbiased for every game; exact for games with interactions of at most two players, and when all
    pairs are enumerated; values sum to v(N) − v(∅) and are linear in the worths. Which pairs there
    are depends on the numbers of players and pairs alone, and so does the read-out: of all that are
    exact for additive games and unbiased under relabelling, it has the least error in a smooth
    random game. The key only says which player plays which part. Made for many games of a kind
    with a key each, whose errors average out, as in `Scattered`; for a single game `OddGP` is more
    accurate. Standard errors come from left-out pairs, calibrated by how smooth these show the game
    to be, all strata together; they are NaN with 2n evaluations, n − 1 pairs, where nothing is left
    over. Short of all pairs it asks about 8,192 at most. Beyond 1,024 players
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
        *arrays, rule = _known_read_out(num_players, num_pairs, dense)
        below, aside = (0, num_rows - num_pairs), (0, num_rows - num_pairs) if dense else (0, 0)
        columns = (0, 0), (0, 0), aside, (0, 0)
        padded = [np.pad(array, (below, pad)) for array, pad in zip(arrays, columns, strict=True)]
        return *padded, np.asarray(rule)

    def solves_in_numpy(self, num_players: int) -> bool:
        return num_players <= MAX_PLAYERS

    def solve(
        self,
        plan: Plan,
        worths: Float[Any, "m *out"],
        empty: Float[Any, "*out"],
        full: Float[Any, "*out"],
    ) -> Estimate:
        num_coalitions, num_players = plan.coalitions.shape
        if num_players > MAX_PLAYERS:
            return Permutation().solve(plan, worths, empty, full)
        read_out = self._read_out(plan, num_coalitions, num_players, worths)
        read = self._read(plan, read_out, worths, empty, full)
        return self._stated(plan, read, calibration(read_out.rule, read.sums[None]), empty.shape)

    def solve_strata(
        self,
        plan: Plan,
        worths: Float[Any, "m strata *out"],
        empty: Float[Any, "strata *out"],
        full: Float[Any, "strata *out"],
    ) -> Estimate:
        """As `Estimator.solve_strata`; all strata together tell how rough the game is.

        Args:
            plan: a plan of all strata, as `Scattered` makes it.
            worths: the parts of the worths, `(m, strata, *out)`.
            empty: v(∅) of each stratum, `(strata, *out)`.
            full: v(N) of each stratum, `(strata, *out)`.

        Returns:
            An `Estimate` with strata in front, `(strata, n, *out)`.
        """
        num_coalitions, _, num_players = plan.coalitions.shape
        if num_players > MAX_PLAYERS:
            return super().solve_strata(plan, worths, empty, full)
        read_out = self._read_out(plan, num_coalitions, num_players, worths)

        def of_stratum(coalitions, parts, worths, empty, full):
            own = plan._replace(coalitions=coalitions, detail=parts)
            return self._read(own, read_out, worths, empty, full)

        every = _one_by_one if array_library(worths) is np else jax.vmap
        read = every(of_stratum, (1, 0, 1, 0, 0))(plan.coalitions, plan.detail, worths, empty, full)
        return self._stated(plan, read, calibration(read_out.rule, read.sums), empty.shape[1:])

    def _read_out(self, plan: Plan, num_coalitions: int, num_players: int, worths) -> ReadOut:
        constants = plan.constants
        if not constants:
            constants = self.constants(num_players, int(plan.num_live), num_coalitions)
        xp: Any = array_library(worths)
        return ReadOut(*(xp.asarray(array, worths.dtype) for array in constants))

    @staticmethod
    def _read(plan: Plan, read_out: ReadOut, worths, empty, full) -> _Read:
        xp: Any = array_library(worths)
        num_coalitions, num_players = plan.coalitions.shape
        linear, centred, precision, variance, _ = read_out
        total = (full - empty).reshape(1, -1)
        gaps = (worths[::2] - worths[1::2]).reshape(num_coalitions // 2, total.shape[1])
        tilt = 2 * plan.coalitions[::2].sum(1, keepdims=True).astype(gaps.dtype) / num_players - 1
        rest = xp.where(plan.live[::2, None], gaps - tilt * total, 0)
        values = linear.T @ rest
        residuals = rest - centred @ values
        is_matrix = precision.shape[0] == precision.shape[1]
        whitened = precision @ residuals if is_matrix else precision * residuals
        squares = linear.T**2 @ (variance * whitened) ** 2
        values = values - values.mean(0) + total / num_players
        sums = sums_of_squares(residuals, whitened, tilt)
        return _Read(values[plan.detail], squares[plan.detail], sums)

    @staticmethod
    def _stated(
        plan: Plan, read: _Read, factor: Float[Array | np.ndarray, "out"], shape: tuple[int, ...]
    ) -> Estimate:
        num_players = plan.coalitions.shape[-1]
        std_error = array_library(read.values).sqrt(read.squares * factor)
        front = read.values.shape[:-1]
        values, std_error = (array.reshape(*front, *shape) for array in (read.values, std_error))
        num_pairs = plan.num_live // 2
        complete = num_players <= MAX_EXHAUSTED_PLAYERS and num_pairs == 2 ** (num_players - 1) - 1
        return stated(values, std_error, degrees=num_pairs - (num_players - 1), exact=complete)


def _one_by_one(function: Callable[..., _Read], axes: tuple[int, ...]) -> Callable[..., _Read]:
    """`jax.vmap` in numpy, in as little memory as one stratum takes."""

    def every(*arrays: np.ndarray) -> _Read:
        fronts = (np.moveaxis(array, axis, 0) for array, axis in zip(arrays, axes, strict=True))
        return _Read(*map(np.stack, zip(*map(function, *fronts), strict=True)))

    return every


@functools.lru_cache(maxsize=4)
def _known_read_out(num_players: int, num_pairs: int, dense: bool) -> ReadOut:
    return read_out(pair_sequence(num_players).first(num_pairs), dense)
