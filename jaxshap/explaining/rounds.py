"""Rounds of evaluation, each of which keeps the worths of those before it."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.engine import (
    Answers,
    Options,
    Run,
    ask,
    enumerated,
    is_complete,
    num_stored,
    plan_size,
    salvage,
    solve,
    strata_for,
)
from jaxshap.errors import EvaluationError, Interrupted, TimeWarning, ToleranceWarning
from jaxshap.estimators import Estimator, Exact, Scattered
from jaxshap.explaining.limits import Clock, Limits
from jaxshap.explaining.outlook import (
    announce,
    cost_words,
    expected_size,
    is_hopeless,
    stacklevel_of_caller,
)
from jaxshap.explaining.pace import Timing, seconds_per_item, stopwatch
from jaxshap.games import Game

MAX_OVERRUN = 1.25  # of the seconds that were asked for, above which a warning says so


def run_rounds(
    key: Key[Array, ""],
    game: Game,
    estimator: Estimator,
    limits: Limits,
    options: Options,
    num_rows: int,
    report: Callable[[Run, Estimator], Any],
) -> Any:
    """What `report` makes of the last round, which says so if it is not enough.

    On Ctrl-C, or where the model fails, the error carries what `report` makes of what is there.
    """
    game = strata_for(game, estimator, limits.budgets[-1])  # the same strata in all rounds
    items_each = game.num_strata if isinstance(estimator, Scattered) else 1
    limits = limits.from_stored(num_stored(options.checkpoint, game) // items_each)
    timings: list[Timing] = []
    errors: list[float] = []
    latest, budget, error, unknown = None, limits.budgets[0], np.nan, 0
    while budget is not None:
        try:
            how = _with_note(options, limits, errors, [timing.size for timing in timings])
            latest, timing = _spend(key, game, estimator, budget, limits, how, latest, num_rows)
        except (Interrupted, EvaluationError) as stop:
            saved = salvage(key, game, estimator, stop)
            stop.explanation = None if saved is None else report(saved, estimator)
            raise
        timings.append(timing)
        if not limits.in_rounds:
            break
        error = largest_error(latest, game)
        errors.append(error)
        sizes = [timing.size for timing in timings]
        announce(limits, errors, sizes, timings)
        unknown = unknown + 1 if np.isnan(error) else 0
        # one round may be too small to show an error
        hopeless = limits.tol is not None and unknown == 2
        hopeless = hopeless or is_hopeless(limits, errors, sizes)
        budget = None if hopeless or limits.is_met(error) else limits.next_budget(timings)
        if budget is not None and plan_size(estimator, game.num_players, budget) + 2 <= timing.size:
            budget = None  # it buys no more than there is
    assert latest is not None
    _warn(limits, timings, errors, estimator)
    exact = limits.may_enumerate and is_complete(latest.answers, game.num_players)
    return report(latest, Exact() if exact else estimator)


def _spend(
    key, game: Game, estimator: Estimator, budget: int, limits: Limits, options, latest, num_rows
) -> tuple[Run, Timing]:
    """One round, and what it took; all coalitions at once where there is time for them."""
    moves: list[tuple[float, int]] = []
    if options.note is not None:
        options = options._replace(note=stopwatch(options.note, moves))

    def asked(budget: int, answers: Answers | None) -> Answers:
        known = None if answers is None else answers.worths
        answers = ask(key, game, estimator, budget, options, known)
        check_worths(answers.worths, game, num_rows)
        return answers

    answers = asked(budget, None if latest is None else latest.answers)
    items_each = math.prod(answers.worths.shape[1:]) // max(1, game.empty.size)  # one per stratum
    each = seconds_per_item(moves) * items_each
    if limits.has_time_for_all(game.num_players, answers.num_evaluations + 2, each):
        answers = asked(2**game.num_players, answers)
    begin = time.monotonic()
    if limits.may_enumerate and is_complete(answers, game.num_players):
        solved = enumerated(answers, game)
    else:
        solved = Run(answers, solve(estimator, answers, game))
    return solved, Timing(answers.num_evaluations + 2, each, time.monotonic() - begin)


def _with_note(
    options: Options, limits: Limits, errors: Sequence[float], sizes: Sequence[int]
) -> Options:
    """The bar says how large the largest error is, what it will cost, and how much time is left."""
    if not limits.in_rounds:
        return options
    error = errors[-1] if errors else np.nan
    known, cost = f"largest error {error:.2%} of the spread", cost_words(limits, errors, sizes)

    def note(_: int) -> str:
        words = [*([] if np.isnan(error) else [known]), *filter(None, [cost])]
        if limits.clock is not None:
            words.append(f"{max(0, limits.clock.left):.0f} s left")
        return ", ".join(words)

    return options._replace(note=note)


def largest_error(spent: Run, game: Game) -> float:
    """The largest standard error as a share of the spread of its output; NaN where unknown.

    Outputs that no coalition changed have no spread to be a share of, and do not count.
    """
    worths = np.asarray(spent.answers.worths)
    if worths.ndim > game.empty.ndim + 1:  # strata: their parts add up to other coalitions' worths
        worths = worths.sum(1)
    everything = np.concatenate([worths, np.stack([game.empty, game.full])])
    spread = everything.max((0, 1)) - everything.min((0, 1))
    shares = np.asarray(spent.estimate.std_error) / np.where(spread > 0, spread, 1)
    return float(np.where(spread > 0, shares, 0).max())


def check_worths(worths: Float[Array | np.ndarray, "..."], game: Game, num_rows: int) -> None:
    """A NaN or infinity in the model's output is found here, and named by row."""
    worths = np.asarray(worths)
    finite = np.isfinite(worths)
    if finite.all():
        return
    flat = worths.reshape(-1, *game.empty.shape)  # coalitions of all strata in front
    shown = finite.reshape(flat.shape)[:, :num_rows]
    bad = np.asarray(~shown.reshape(len(flat), num_rows, -1).all(2))
    if not bad.any():
        return
    rows = np.flatnonzero(bad.any(0))
    raise EvaluationError(
        f"the model returned NaN or infinity for {bad.sum()} of {bad.size} masked inputs, in "
        f"{len(rows)} row(s) (the first is row {rows[0]}, with {bad[:, rows[0]].sum()} of "
        f"{len(bad)}): mend the model, omit the rows, or take a background in which every "
        "combination of values is valid.",
        flat,
    )


def _warn_of_time(clock: Clock, timings: list[Timing], estimator: Estimator, smallest: int) -> None:
    """Where the first round was too long, or a later one much longer than predicted."""
    size, spent = timings[-1].size, clock.seconds - clock.left
    solved = sum(timing.solve_seconds for timing in timings)
    parts = f"{spent:.1f}, {solved:.1f} of them to solve and to compile for it"
    if len(timings) == 1 and size <= smallest:
        message = (
            f"seconds={clock.seconds:g} are too few: the smallest round of {estimator!r}, {size} "
            f"evaluations, took {parts}. Its result is returned."
        )
    elif spent > MAX_OVERRUN * clock.seconds:
        message = (
            f"seconds={clock.seconds:g} were exceeded: {size} evaluations took {parts}, which "
            "nobody can predict. jaxshap.cache_programs() keeps what was compiled."
        )
    else:
        return
    warnings.warn(message, TimeWarning, stacklevel=stacklevel_of_caller())


def _warn(limits: Limits, timings: list[Timing], errors: list[float], estimator: Estimator) -> None:
    size, clock, error = timings[-1].size, limits.clock, errors[-1] if errors else np.nan
    if clock is not None and clock.left < 0 < size - 2:
        _warn_of_time(clock, timings, estimator, smallest=limits.budgets[0])
    if limits.tol is None or limits.is_met(error):
        return
    spent, remedy = f"budget={limits.budgets[-1]}", "a larger budget"
    if clock is not None and size < limits.budgets[-1]:
        spent, remedy = f"seconds={clock.seconds:g}", "more seconds"
    reached = f"the largest standard error is {error:.2g} of the spread. Pass {remedy}."
    if is_hopeless(limits, errors, [timing.size for timing in timings]):
        expected = expected_size(errors, [timing.size for timing in timings], limits.tol)
        spent = f"{size:,} evaluations, and {spent} would be too small"
        reached += f" About {expected:,.2g} evaluations are expected to meet it."
    unknown = f"{estimator!r} gives no standard errors. Pass another estimator."
    reason = unknown if np.isnan(error) else reached
    message = f"tol={limits.tol} is not met with {spent}: {reason}"
    warnings.warn(message, ToleranceWarning, stacklevel=stacklevel_of_caller())
