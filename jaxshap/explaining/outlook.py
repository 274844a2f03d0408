"""What a tolerance is going to cost, by how errors have fallen from round to round."""

import itertools
import math
import sys
import warnings
from collections.abc import Sequence
from types import FrameType

from jaxshap.errors import TimeWarning
from jaxshap.explaining.limits import Limits
from jaxshap.explaining.pace import Timing

USUAL_RATE = 0.5  # errors fall with the square root of the evaluations, at least
MAX_RATE = 3.0  # however fast errors have fallen, that is not to be counted on
MIN_ROUNDS = 3  # that show how fast errors fall
HOPELESS = 4  # times the budget: where even this would not do, rounds end early
OWN_PACKAGE = __name__.partition(".")[0]
LONG_SECONDS = 60.0  # a round of this length is announced


def expected_size(errors: Sequence[float], sizes: Sequence[int], tol: float) -> float:
    """Evaluations after which errors meet the tolerance if they go on falling as they did.

    By the fastest of the falls that were seen, so that it is too small rather than too large.
    """
    pairs = [
        (error, size) for error, size in zip(errors, sizes, strict=True) if math.isfinite(error)
    ]
    if not pairs:
        return math.nan
    rates = [
        math.log(first / last) / math.log(more / fewer)
        for (first, fewer), (last, more) in itertools.pairwise(pairs)
        if more > fewer and 0 < last < first
    ]
    rate = min(MAX_RATE, max([USUAL_RATE, *rates]))
    error, size = pairs[-1]
    return size * max(1.0, error / tol) ** (1 / rate)


def is_hopeless(limits: Limits, errors: Sequence[float], sizes: Sequence[int]) -> bool:
    """Whether the budget is far too small for the tolerance, as the rounds so far show."""
    if limits.tol is None or limits.clock is not None or len(errors) < MIN_ROUNDS:
        return False
    return expected_size(errors, sizes, limits.tol) > HOPELESS * limits.budgets[-1]


def cost_words(limits: Limits, errors: Sequence[float], sizes: Sequence[int]) -> str:
    """What the bar says of the cost: at most, before there are errors, then as expected."""
    if limits.tol is None:
        return ""
    expected = expected_size(errors, sizes, limits.tol)
    if math.isnan(expected):
        return f"at most {limits.budgets[-1]:,} evaluations"
    return f"about {_rounded(expected):,} evaluations for tol={limits.tol:g}"


def announce(
    limits: Limits, errors: Sequence[float], sizes: Sequence[int], timings: Sequence[Timing]
) -> None:
    """Warn of a long wait, once, after the first round."""
    if limits.tol is None or limits.clock is not None or len(timings) != 1:
        return
    expected = min(expected_size(errors, sizes, limits.tol), limits.budgets[-1])
    wait = (expected - sizes[-1]) * timings[-1].seconds_each
    if math.isfinite(wait) and wait > LONG_SECONDS:
        warnings.warn(
            f"tol={limits.tol:g} is expected to take about {_rounded(expected):,} evaluations, "
            f"{wait / 60:.0f} minutes or more: pass seconds= to end sooner, or a larger tol=.",
            TimeWarning,
            stacklevel=stacklevel_of_caller(),
        )


def stacklevel_of_caller() -> int:
    """Of a warning by the function that asks: the first frame outside of the library, whichever
    function of it was called.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_own(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_own(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] == OWN_PACKAGE


def _rounded(count: float) -> int:
    """Two digits: it is a guess."""
    places = 1 - math.floor(math.log10(max(count, 1)))
    return int(round(count, places))
