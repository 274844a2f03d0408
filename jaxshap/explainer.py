"""explain: from a model and a table to an Explanation."""

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Key

from jaxshap.estimation import default_budget, make_plan, plan_size, settle, solve
from jaxshap.estimator import Estimate, Estimator
from jaxshap.evaluation import BatchSize, EvaluationError, Interrupted, evaluate
from jaxshap.explanation import Explanation
from jaxshap.game import Game, Host, grouped
from jaxshap.inputs import Groups, Table, read_background, read_groups, read_model, read_table
from jaxshap.memory import bucket
from jaxshap.trees.convert import is_tree_model, read_trees
from jaxshap.trees.interventional import interventional
from jaxshap.trees.path_dependent import base_margin, path_dependent
from jaxshap.values.marginal import marginal


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    estimator: Estimator | None = None,
    budget: int | None = None,
    tol: float | None = None,
    key: Key[Array, ""] | int = 0,
    groups: Groups | None = None,
    value: Callable[..., Game] = marginal,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
    checkpoint: str | os.PathLike | None = None,
    mesh: Mesh | None = None,
) -> Explanation:
    """Shapley values of the model's prediction for each row of X, absent features drawn from `background`.

    `model` maps rows `(rows, features)` to `(rows,)` or `(rows, outputs)`: a JAX function, a fitted estimator, or any
    other function (which runs on the host). `budget` counts coalitions, each evaluated for all rows at once. With `tol`
    it is spent in rounds until every standard error is at most `tol` times the spread (the largest less the smallest
    worth of its output), or until it is gone. `value` says what absent means: a function of (model, X, background)
    that returns a Game. `checkpoint` is a file that keeps every worth as it comes: the same call with the same file
    goes on where the last one ended, however it ended. `mesh` shares the work out over the devices of a
    `jax.sharding.Mesh`, on one host or many.

    A fitted tree ensemble (scikit-learn, XGBoost, LightGBM) is explained exactly, without evaluations, unless an
    `estimator` or `groups` are given: its raw margin, with the background, or path-dependent where there is none.
    """
    if tol is not None and not tol > 0:
        raise ValueError(f"tol={tol}: pass a positive share of the spread, such as 0.01.")
    table = read_table(X, "X", feature_names)
    if (columns := getattr(model, "feature_names_in_", None)) is not None and table.named:
        table = read_table(X, "X", list(map(str, columns)))
    if estimator is None and groups is None and value is marginal and is_tree_model(model):
        if checkpoint is not None or mesh is not None:
            raise ValueError("exact values of trees need no checkpoint= or mesh=: leave them away, or pass estimator=.")
        references = None if background is None else read_background(background, table)
        return _of_trees(model, table, references, output_names)
    if background is None:
        raise ValueError(
            "pass background=, the rows that absent features come from: without it only a fitted tree ensemble "
            "can be explained, with no estimator=, groups= or value=."
        )
    references = read_background(background, table)
    players = read_groups(groups, table.names)
    predict, classes = read_model(model, np.asarray(table.array), table.names, table.named)
    num_rows = len(table.array)
    rows = table.array if isinstance(predict, Host) else _pad_rows(table.array, references)
    game = value(predict, rows, references)
    if players is not None:
        game = grouped(game, players[0])
    output_names = classes if output_names is None else tuple(map(str, output_names))
    if output_names is not None and game.full.shape[1:] != (len(output_names),):
        raise ValueError(f"there are {len(output_names)} output_names for outputs of shape {game.full.shape[1:]}.")
    if budget is None:
        budget = default_budget(game.num_players) * (1 if tol is None else 64)
    stages = _stages(budget, game.num_players, tol)
    key, _, estimator = settle(key, game.num_players, estimator, stages[0])
    while len(stages) > 1 and not _is_enough(estimator, game.num_players, stages[0]):
        stages = stages[1:]

    def report(estimate: Estimate, num_coalitions: int) -> Explanation:
        values, std_error = (np.moveaxis(np.asarray(part), 0, 1)[:num_rows] for part in estimate)
        return Explanation(
            values=values,
            std_error=std_error,
            base_values=np.asarray(game.empty)[:num_rows],
            data=np.asarray(table.array),
            feature_names=table.names if players is None else players[1],
            output_names=output_names,
            num_evaluations=num_coalitions + 2,
            value_function=game.name,
            estimator=repr(estimator),
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

    estimate, worths = spend(stages[0], None)
    rounds_without_error = 0
    while tol is not None and not (error := _largest_error(estimate, worths, game)) <= tol:
        rounds_without_error = rounds_without_error + 1 if np.isnan(error) else 0
        if len(stages) == 1 or rounds_without_error == 2:  # one round may be too small to show an error
            reached = f"the largest standard error is {error:.2g} of the spread. Pass a larger budget."
            unknown = f"{estimator!r} gives no standard errors. Pass another estimator."
            warnings.warn(
                f"tol={tol} is not met with budget={stages[0]}: {unknown if np.isnan(error) else reached}", stacklevel=2
            )
            break
        stages = stages[1:]
        estimate, worths = spend(stages[0], worths)
    return report(estimate, len(worths))


def _of_trees(model: Any, table: Table, references: Any, output_names: Sequence[str] | None) -> Explanation:
    """Exact values of the raw margin: interventional with references, path-dependent without."""
    ensemble = read_trees(model)
    rows = np.asarray(table.array)
    if references is None:
        values, base, name = path_dependent(ensemble, rows), base_margin(ensemble), "path-dependent"
    else:
        values, base = interventional(ensemble, rows, references), ensemble.predict(references).mean(0)
        name = "interventional"
    values, base = np.asarray(values), np.broadcast_to(np.asarray(base), (len(rows), len(base)))
    if values.shape[2] == 1:
        values, base = values[..., 0], base[:, 0]
    elif output_names is None and len(classes := getattr(model, "classes_", ())) == values.shape[2]:
        output_names = tuple(map(str, classes))
    if output_names is not None and values.shape[2:] != (len(output_names),):
        raise ValueError(f"there are {len(output_names)} output_names for outputs of shape {values.shape[2:]}.")
    return Explanation(
        values=values,
        std_error=np.zeros_like(values),
        base_values=base,
        data=rows,
        feature_names=table.names,
        output_names=None if output_names is None else tuple(map(str, output_names)),
        num_evaluations=0,
        value_function=name if ensemble.structure.link == "identity" else f"{name} ({ensemble.structure.link} margin)",
        estimator="trees",
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


def _largest_error(estimate: Estimate, worths: Float[np.ndarray, "m rows *out"], game: Game) -> float:
    """The largest standard error as a share of the spread of its output; NaN where one is unknown."""
    everything = np.concatenate([worths, np.stack([game.empty, game.full])])
    spread = everything.max((0, 1)) - everything.min((0, 1))
    return float((np.asarray(estimate.std_error) / np.where(spread > 0, spread, 1)).max())


def _salvage(
    key, game: Game, estimator: Estimator, worths: Float[np.ndarray, "done *out"], report
) -> Explanation | None:
    """The explanation that the worths so far amount to, or None where they are too few."""
    if not _is_enough(estimator, game.num_players, len(worths) + 2):
        return None
    plan, coalitions = make_plan(key, game.num_players, estimator, len(worths) + 2)
    return report(solve(estimator, plan, worths[: len(coalitions)], game), len(coalitions))


def _check_finite(worths: Float[np.ndarray, "m rows *out"], num_rows: int) -> None:
    bad = np.asarray((~np.isfinite(worths[:, :num_rows])).reshape(len(worths), num_rows, -1).any(axis=2))
    if bad.any():
        rows = np.flatnonzero(bad.any(0))
        raise EvaluationError(
            f"the model returned NaN or infinity for {bad.sum()} of {bad.size} masked inputs, in {len(rows)} row(s) "
            f"(the first is row {rows[0]}, with {bad[:, rows[0]].sum()} of {len(bad)}): mend the model, leave the rows "
            "out, or take a background in which every combination of values is valid.",
            worths,
        )


def _pad_rows(rows, references):
    """Up to the next bucket with a background row, so that nearby numbers of rows share one compiled program."""
    missing = bucket(len(rows)) - len(rows)
    return np.concatenate([rows, np.repeat(references[:1], missing, axis=0)]).astype(rows.dtype)
