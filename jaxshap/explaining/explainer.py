"""explain: from a model and a table to an Explanation."""

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Key

from jaxshap.engine import BatchSize, default_budget, evaluate, make_plan, plan_size, settle, solve
from jaxshap.errors import (
    EvaluationError,
    InputError,
    Interrupted,
    ModelOutputError,
    ToleranceWarning,
)
from jaxshap.estimators import Estimate, Estimator
from jaxshap.explaining.explanation import Explanation
from jaxshap.explaining.source import Source
from jaxshap.explaining.task import Task
from jaxshap.explaining.tree_explainer import explain_trees
from jaxshap.games import Game
from jaxshap.inputs import Groups, Players, own_columns, read_inputs, read_model, read_output_names
from jaxshap.trees import is_tree_model
from jaxshap.values import marginal


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    estimator: Estimator | None = None,
    budget: int | None = None,
    tol: float | None = None,
    key: Key[Array, ""] | int = 0,
    groups: Groups | Players | None = None,
    value: Callable[..., Game] = marginal,
    reward: Callable | None = None,
    separate_draws: bool = False,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
    checkpoint: str | os.PathLike | None = None,
    mesh: Mesh | None = None,
) -> Explanation:
    """Shapley values of the model's prediction for each row of X, absent features drawn from
    `background`.

    `model` maps rows `(rows, features)` to `(rows,)` or `(rows, outputs)`: a JAX function, a fitted
    estimator, or any other function (which runs on the host). `budget` counts coalitions, each
    evaluated for all rows at once. With `tol` it is spent in rounds until every standard error is
    at most `tol` times the spread (the largest less the smallest worth of its output), or until it
    is gone. `checkpoint` is a file that keeps every worth as it comes: the same call with the same
    file goes on where the last one ended, however it ended. `mesh` shares the work out over the
    devices of a `jax.sharding.Mesh`, on one host or many.

    Players are the columns, or `groups` of them, by name or number; for images, sequences and other
    inputs, whatever `jaxshap.patches`, `segments`, `tokens`, `leaves` or `together` make of them.
    `value` says what absent means: a function of (model, X, background) that returns a Game.
    `reward` is what is explained instead of the outputs: see `jaxshap.rewards.reward`. The
    background may be a `jaxshap.WeightedRows`, as from `jaxshap.kmeans`.

    All rows share their coalitions, which is cheapest and most accurate for each row;
    `separate_draws` gives each its own, so that their errors are independent and a mean over rows
    gains from their number.

    A fitted tree ensemble (scikit-learn, XGBoost, LightGBM, CatBoost) is explained exactly, without
    evaluations, unless an `estimator`, `groups`, a `value` or a `reward` is given: its raw margin,
    with the background, or path-dependent where there is none.

    Example:
        >>> import jaxshap
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0], [1.0, 1.0]])
        >>> explained.values.tolist(), explained.base_values.tolist()
        ([[1.0, 1.5]], [1.5])
    """
    if tol is not None and not tol > 0:
        raise InputError(f"tol={tol}: pass a positive share of the spread, such as 0.01.")
    if (
        estimator is None
        and groups is None
        and reward is None
        and value is marginal
        and is_tree_model(model)
    ):
        if checkpoint is not None or mesh is not None or separate_draws:
            raise InputError(
                "exact values of trees need no checkpoint=, mesh= or separate_draws=: leave them away, or pass "
                "estimator=."
            )
        return explain_trees(model, X, background, feature_names, output_names)
    if background is None:
        raise InputError(
            "pass background=, the rows that absent features come from: without it only a fitted tree ensemble "
            "can be explained, with no estimator=, groups=, value= or reward=."
        )
    inputs = read_inputs(X, background, groups, own_columns(model, X, feature_names))
    predict, classes = read_model(model, inputs)
    task = Task(predict, inputs, value, reward)
    num_rows = len(jax.tree.leaves(inputs.rows)[0])
    if separate_draws:
        if any(option is not None for option in (tol, reward, checkpoint, mesh)) or progress:
            raise InputError(
                "separate_draws= does not go with tol=, reward=, checkpoint=, mesh= or progress=: leave them away."
            )
        key, budget, estimator = settle(key, len(inputs.names), estimator, budget)
        found, empty, name = task.separately(key, estimator, budget, batch_size)
        if not np.isfinite(found.values).all():
            raise ModelOutputError(
                "the model returned NaN or infinity for masked inputs: explain without separate_draws= "
                "to see for which rows."
            )
        output_names = read_output_names(output_names, classes, empty.shape[1:])
        size = plan_size(estimator, len(inputs.names), budget)
        source = task.source(task.game)
        return _reported(
            found, empty, size, task, source, output_names, estimator, name, shared_draws=False
        )
    game = task.game()
    output_names = read_output_names(
        output_names, classes if reward is None else None, game.full.shape[1:]
    )
    if budget is None:
        budget = default_budget(game.num_players) * (1 if tol is None else 64)
    stages = _stages(budget, game.num_players, tol)
    key, _, estimator = settle(key, game.num_players, estimator, stages[0])
    while len(stages) > 1 and not _is_enough(estimator, game.num_players, stages[0]):
        stages = stages[1:]

    def report(found: Estimate, size: int) -> Explanation:
        return _reported(
            found,
            game.empty,
            size,
            task,
            task.source(lambda: game),
            output_names,
            estimator,
            game.name,
        )

    how = {"batch_size": batch_size, "progress": progress, "checkpoint": checkpoint, "mesh": mesh}

    def spend(budget: int, known: np.ndarray | None) -> tuple[Estimate, np.ndarray]:
        plan, coalitions = make_plan(key, game.num_players, estimator, budget)
        try:
            worths = np.asarray(evaluate(game, coalitions, known=known, **how))
            _check_finite(worths, num_rows)
        except (Interrupted, EvaluationError) as stop:
            stop.explanation = _salvage(key, game, estimator, stop.worths, report)
            raise
        return solve(estimator, plan, worths, game), worths

    found, worths = spend(stages[0], None)
    rounds_without_error = 0
    while tol is not None and not (error := _largest_error(found, worths, game)) <= tol:
        rounds_without_error = rounds_without_error + 1 if np.isnan(error) else 0
        if (
            len(stages) == 1 or rounds_without_error == 2
        ):  # one round may be too small to show an error
            reached = (
                f"the largest standard error is {error:.2g} of the spread. Pass a larger budget."
            )
            unknown = f"{estimator!r} gives no standard errors. Pass another estimator."
            warnings.warn(
                f"tol={tol} is not met with budget={stages[0]}: {unknown if np.isnan(error) else reached}",
                ToleranceWarning,
                stacklevel=2,
            )
            break
        stages = stages[1:]
        found, worths = spend(stages[0], worths)
    return report(found, len(worths))


def _reported(
    found: Estimate,
    empty: Any,
    num_coalitions: int,
    task: Task,
    source: Source,
    output_names: tuple[str, ...] | None,
    estimator: Estimator,
    name: str,
    *,
    shared_draws: bool = True,
) -> Explanation:
    values, std_error = (np.moveaxis(np.asarray(part), 0, 1)[source.rows] for part in found)
    return Explanation(
        values=values,
        std_error=std_error,
        base_values=np.asarray(empty)[source.rows],
        data=task.inputs.data,
        feature_names=task.inputs.names,
        output_names=output_names,
        num_evaluations=num_coalitions + 2,
        value_function=name,
        estimator=repr(estimator),
        shared_draws=shared_draws,
        source=source,
    )


def _stages(budget: int, num_players: int, tol: float | None) -> list[int]:
    """Budgets of the rounds: all at once, or doubling up to all of it."""
    stages = [budget]
    while tol is not None and stages[0] > 2 * max(256, 8 * num_players):
        stages.insert(0, stages[0] // 2)
    return stages


def _is_enough(estimator: Estimator, num_players: int, budget: int) -> bool:
    """Whether the estimator can do anything with this budget."""
    try:
        plan_size(estimator, num_players, budget)
    except ValueError:
        return False
    return True


def _largest_error(found: Estimate, worths: Float[np.ndarray, "m rows *out"], game: Game) -> float:
    """The largest standard error as a share of the spread of its output; NaN where one is unknown."""
    everything = np.concatenate([worths, np.stack([game.empty, game.full])])
    spread = everything.max((0, 1)) - everything.min((0, 1))
    return float((np.asarray(found.std_error) / np.where(spread > 0, spread, 1)).max())


def _salvage(
    key, game: Game, estimator: Estimator, worths: Float[np.ndarray, "done *out"], report
) -> Explanation | None:
    """The explanation that the worths so far amount to, or None where they are too few."""
    if not _is_enough(estimator, game.num_players, len(worths) + 2):
        return None
    plan, coalitions = make_plan(key, game.num_players, estimator, len(worths) + 2)
    return report(solve(estimator, plan, worths[: len(coalitions)], game), len(coalitions))


def _check_finite(worths: Float[np.ndarray, "m rows *out"], num_rows: int) -> None:
    if not len(worths):  # a single player has no coalitions but ∅ and N, which the game has checked
        return
    bad = np.asarray(
        (~np.isfinite(worths[:, :num_rows])).reshape(len(worths), num_rows, -1).any(axis=2)
    )
    if bad.any():
        rows = np.flatnonzero(bad.any(0))
        raise EvaluationError(
            f"the model returned NaN or infinity for {bad.sum()} of {bad.size} masked inputs, in {len(rows)} row(s) "
            f"(the first is row {rows[0]}, with {bad[:, rows[0]].sum()} of {len(bad)}): mend the model, leave the rows "
            "out, or take a background in which every combination of values is valid.",
            worths,
        )
