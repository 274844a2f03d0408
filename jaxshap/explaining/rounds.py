"""Rounds of evaluation: all of the budget at once, or doubling until a tolerance is met."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.engine import Options, Run, default_budget, is_enough, run, salvage
from jaxshap.errors import EvaluationError, Interrupted, ToleranceWarning
from jaxshap.estimators import Estimator
from jaxshap.games import Game

TOLERANCE_BUDGET = 64  # default budgets that `tol=` may spend


def budget_of_rounds(num_players: int, tol: float | None) -> int:
    """The budget where none is named: that of `estimate`, or many times as much for a tolerance."""
    return default_budget(num_players) * (1 if tol is None else TOLERANCE_BUDGET)


def run_rounds(
    key: Key[Array, ""],
    game: Game,
    estimator: Estimator,
    rounds: list[int],
    tol: float | None,
    options: Options,
    num_rows: int,
    report: Callable[[Run], Any],
) -> Run:
    """Each round keeps the worths of the one before; the last stays, and says if it is not enough.

    On Ctrl-C, or where the model fails, the error carries what `report` makes of what is there.
    """

    def spend(budget: int, known: Any) -> Run:
        try:
            spent = run(key, game, estimator, budget, options, known)
            check_worths(spent.answers.worths, game, num_rows)
        except (Interrupted, EvaluationError) as stop:
            saved = salvage(key, game, estimator, stop)
            stop.explanation = None if saved is None else report(saved)
            raise
        return spent

    latest = spend(rounds[0], None)
    rounds_without_error = 0
    for number, budget in enumerate(rounds):
        if tol is None or (error := largest_error(latest, game)) <= tol:
            break
        rounds_without_error = rounds_without_error + 1 if np.isnan(error) else 0
        # one round may be too small to show an error
        if number + 1 == len(rounds) or rounds_without_error == 2:
            _warn(tol, budget, error, estimator)
            break
        latest = spend(rounds[number + 1], latest.answers.worths)
    return latest


def plan_rounds(budget: int, num_players: int, tol: float | None) -> list[int]:
    """Budgets of the rounds: all at once, or doubling up to all of it."""
    rounds = [budget]
    while tol is not None and rounds[0] > 2 * first_round(num_players):
        rounds.insert(0, rounds[0] // 2)
    return rounds


def enough_rounds(rounds: list[int], estimator: Estimator, num_players: int) -> list[int]:
    """Without those at the beginning that the estimator can do nothing with."""
    while len(rounds) > 1 and not is_enough(estimator, num_players, rounds[0]):
        rounds = rounds[1:]
    return rounds


def first_round(num_players: int) -> int:
    """About where rounds begin."""
    return max(256, 8 * num_players)


def largest_error(spent: Run, game: Game) -> float:
    """The largest standard error as a share of the spread of its output; NaN where unknown."""
    worths = np.asarray(spent.answers.worths)
    if (
        worths.ndim > game.empty.ndim + 1
    ):  # strata: their parts add up to worths of other coalitions
        worths = worths.sum(1)
    everything = np.concatenate([worths, np.stack([game.empty, game.full])])
    spread = everything.max((0, 1)) - everything.min((0, 1))
    return float((np.asarray(spent.estimate.std_error) / np.where(spread > 0, spread, 1)).max())


def check_worths(worths: Float[Array | np.ndarray, "..."], game: Game, num_rows: int) -> None:
    """A NaN or infinity in the model's output is found here, and named by row."""
    worths = np.asarray(worths)
    finite = np.isfinite(worths)
    if finite.all():
        return
    flat = worths.reshape(-1, *game.empty.shape)  # coalitions of all strata in front
    shown = finite.reshape(flat.shape)[:, :num_rows]
    bad = ~shown.reshape(len(flat), num_rows, -1).all(2)
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


def _warn(tol: float, budget: int, error: float, estimator: Estimator) -> None:
    reached = f"the largest standard error is {error:.2g} of the spread. Pass a larger budget."
    unknown = f"{estimator!r} gives no standard errors. Pass another estimator."
    reason = unknown if np.isnan(error) else reached
    message = f"tol={tol} is not met with budget={budget}: {reason}"
    warnings.warn(message, ToleranceWarning, stacklevel=4)
