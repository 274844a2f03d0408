"""What an estimate amounts to for the person who asked: an Explanation."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxshap.estimators import Estimate, Estimator
from jaxshap.explaining.explanation import Explanation
from jaxshap.explaining.problem import Problem
from jaxshap.explaining.source import Source
from jaxshap.games import Game
from jaxshap.interactions import Interactions


def reported(
    estimate: Estimate,
    empty: Any,
    num_coalitions: int,
    problem: Problem,
    source: Source,
    output_names: tuple[str, ...] | None,
    estimator: Estimator,
    game: Game,
    *,
    shared_draws: bool = True,
    sets: Interactions | None = None,
) -> Explanation:
    """The explanation of the rows that were asked about."""
    shown: Any = jax.tree.map(lambda a: np.moveaxis(np.asarray(a), 0, 1)[source.rows], estimate)
    return Explanation(
        values=shown.values,
        std_error=shown.std_error,
        exact=bool(np.all(shown.exact)),
        degrees=shown.degrees,
        base_values=np.asarray(empty)[source.rows],
        data=problem.inputs.data,
        feature_names=problem.inputs.names,
        output_names=output_names,
        num_evaluations=num_coalitions + 2,
        num_model_rows=problem.model_rows(num_coalitions + 2),
        value_function=problem.name_of(game),
        estimator=repr(estimator),
        shared_draws=shared_draws,
        absent=game.absent,
        kind=estimator.kind,
        source=source,
        features_are_columns=problem.inputs.features_are_columns,
        row_outputs=problem.row_outputs,
        words=problem.inputs.words,
        owner=problem.inputs.owner,
        interactions=None if sets is None else sets.at(source.rows),
    )


def source_of(problem: Problem, game: Callable[[], Game]) -> Source:
    """Where the explanation comes from; rows that only fill up a bucket are not shown."""
    asked = problem.asked if problem.predicts_columns else None
    return Source(game, np.arange(problem.num_rows), (), problem.inputs.groups, asked)
