"""How long rounds go on: for one budget, until a tolerance is met, or until the time is over."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax

from jaxshap.engine import (
    default_budget,
    is_enough,
    least_budget,
    plan_size,
    read_budget,
    read_estimator,
)
from jaxshap.errors import InputError
from jaxshap.estimators import Estimator
from jaxshap.explaining.pace import Timing, fitting_budget
from jaxshap.games import Game

ROUNDS_BUDGET = 64  # default budgets that `tol=` and `seconds=` may spend
MIN_GROWTH = 1.1  # of the evaluations: a round that adds less is not worth a solve
MAX_GROWTH = 4  # of the evaluations, from one timed round to the next
MAX_ENUMERABLE_PLAYERS = 40  # beyond, 2**n is no budget
CHEAP_SHARE = 0.1  # of the seconds: all coalitions cost less than to compile an estimator's solve


class Clock(NamedTuple):
    """The seconds that were asked for, and when they began."""

    seconds: float
    begin: float

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.begin)


class Limits(NamedTuple):
    """What ends the rounds."""

    budgets: tuple[int, ...]  # of the rounds; with a clock, the first and the largest there may be
    tol: float | None = None
    clock: Clock | None = None
    may_enumerate: bool = False  # whether all coalitions may be asked about where there is time

    @property
    def in_rounds(self) -> bool:
        return self.tol is not None or self.clock is not None

    def is_met(self, error: float) -> bool:
        """Whether this largest error, as a share of the spread, is small enough."""
        return not self.in_rounds or error <= (self.tol or 0)

    def next_budget(self, timings: Sequence[Timing]) -> int | None:
        """The budget of the round after these, or None where there is none."""
        if self.clock is None:
            return self.budgets[len(timings)] if len(timings) < len(self.budgets) else None
        size = timings[-1].size
        fitting = fitting_budget(timings, self.clock.left, self.budgets[-1])
        growth = MAX_GROWTH if self.tol is None else 2  # small steps do not go far beyond a tol=
        return None if fitting < MIN_GROWTH * size else min(fitting, growth * size)

    def from_stored(self, num_coalitions: int) -> "Limits":
        """With a clock, all coalitions that a checkpoint holds are in the first round."""
        if self.clock is None:
            return self
        first, most = self.budgets
        return self._replace(budgets=(max(first, min(num_coalitions + 2, most)), most))

    def has_time_for_all(self, num_players: int, size: int, seconds_each: float) -> bool:
        """Whether all coalitions can be asked about, now that so many are.

        They are where they cost next to nothing, even if planning took all the time: exact values
        need no compilation.
        """
        if not self.may_enumerate or self.clock is None or self.tol is not None:
            return False
        if 2**num_players > self.budgets[-1]:
            return False
        if (self.budgets[-1] - size) * seconds_each <= CHEAP_SHARE * self.clock.seconds:
            return True
        timing = Timing(size, seconds_each, 0.0)
        return fitting_budget([timing], self.clock.left, self.budgets[-1]) == self.budgets[-1]


def read_clock(seconds: Any) -> Clock | None:
    """A clock that begins now."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not (is_number and seconds > 0):
        raise InputError(f"seconds={seconds!r}: pass a positive number of seconds, such as 60.")
    if jax.process_count() > 1:
        raise InputError("seconds= is for one process: the clocks of many differ. Pass budget=.")
    return Clock(float(seconds), time.monotonic())


def read_limits(
    game: Game, named: Any, budget: Any, tol: float | None, clock: Clock | None
) -> tuple[Estimator, Limits]:
    """The estimator, and the budgets of its rounds, the first of which it can use."""
    num_players = game.num_players
    if budget is None and not (tol is None and clock is None):
        budget = ROUNDS_BUDGET * default_budget(num_players)
    budget = read_budget(budget, num_players, named)
    if clock is not None:
        return _timed_limits(game, named, budget, tol, clock)
    budgets = _doubling(budget, num_players) if tol is not None else [budget]
    estimator = read_estimator(named, game, budgets[0], budgets[-1])
    while len(budgets) > 1 and not is_enough(estimator, num_players, budgets[0]):
        budgets = budgets[1:]
    plan_size(estimator, num_players, budgets[0])  # refuses a budget that buys nothing
    return estimator, Limits(tuple(budgets), tol)


def _timed_limits(game: Game, named: Any, budget: int, tol: float | None, clock: Clock):
    """From the least that the estimator can use; the default one grows to all coalitions."""
    num_players, most = game.num_players, default_budget(game.num_players)
    estimator = read_estimator(named, game, min(budget, 2 * num_players + 2), min(budget, most))
    if named is None and num_players <= MAX_ENUMERABLE_PLAYERS:
        budget = min(budget, 2**num_players)
    plan_size(estimator, num_players, budget)
    first = min(budget, least_budget(estimator, num_players))
    return estimator, Limits((first, budget), tol, clock, named is None)


def _doubling(budget: int, num_players: int) -> list[int]:
    """Budgets that double up to this one, from about 8 evaluations per player."""
    budgets = [budget]
    while budgets[0] > 2 * max(256, 8 * num_players):
        budgets.insert(0, budgets[0] // 2)
    return budgets
