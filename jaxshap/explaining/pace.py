"""How far the next round can go in the time that is left, from the time that rounds have taken."""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

PLANNED_SHARE = 0.9  # of the time left: rounds may take longer than predicted
MAX_SOLVE_EXPONENT = 3  # a solve grows with the cube of the plan at most


class Timing(NamedTuple):
    """What a round took."""

    size: int  # evaluations up to its end, ∅ and N counted
    seconds_each: float  # per evaluation; NaN where none was needed, as from a checkpoint
    solve_seconds: float


def stopwatch(note: Callable[[int], str], moves: list[tuple[float, int]]) -> Callable[[int], str]:
    """A note for the bar that also writes down when how many items were there."""

    def look(done: int) -> str:
        moves.append((time.monotonic(), done))
        return note(done)

    return look


def seconds_per_item(moves: Sequence[tuple[float, int]]) -> float:
    """From the first to the last move of a bar; NaN where it did not move."""
    if not moves or moves[-1][1] == moves[0][1]:
        return math.nan
    (begin, known), (end, done) = moves[0], moves[-1]
    return (end - begin) / (done - known)


def fitting_budget(timings: Sequence[Timing], seconds_left: float, most: int) -> int:
    """The largest budget whose round is predicted to end in time; the present one where none is.

    Evaluations take as long as in the last round that made some. Solving grows by the power seen
    in the last two rounds, and in proportion after the first.
    """
    size, left = timings[-1].size, PLANNED_SHARE * seconds_left
    rates = [timing.seconds_each for timing in timings if not math.isnan(timing.seconds_each)]
    if not rates:  # all from a file: find out with a few
        return min(most, size + max(1, size // 8))
    low, high = size, max(size, most)
    while low < high:
        middle = (low + high + 1) // 2
        cost = rates[-1] * (middle - size) + _solve_seconds(timings, middle)
        low, high = (middle, high) if cost <= left else (low, middle - 1)
    return low


def _solve_seconds(timings: Sequence[Timing], size: int) -> float:
    last, exponent = timings[-1], 1.0
    if len(timings) > 1 and timings[-2].size < last.size:
        growth = math.log(max(last.solve_seconds, 1e-6) / max(timings[-2].solve_seconds, 1e-6))
        exponent = growth / math.log(last.size / timings[-2].size)
    exponent = float(np.clip(exponent, 0, MAX_SOLVE_EXPONENT))
    return last.solve_seconds * (size / last.size) ** exponent
