"""Arguments of explain that do not go together."""

from typing import Any

from jaxshap.engine import Options
from jaxshap.errors import InputError
from jaxshap.explaining.problem import Problem
from jaxshap.values import marginal, needs_background


def check_background(background: Any, value: Any) -> None:
    """A background where one is needed, and only there."""
    needed = needs_background(value)
    if background is None and needed:
        raise InputError(
            "pass background=, the rows that absent features come from: without it only a fitted "
            "tree ensemble can be explained, with no estimator=, groups=, value= or reward=, and "
            "images with a value of jaxshap.images."
        )
    if background is not None and not needed:
        raise InputError(
            f"value={value!r} makes absent parts of the rows themselves: omit the background."
        )


def check_tree_options(options: Options, separate_draws: bool) -> None:
    if options.checkpoint is not None or options.mesh is not None or separate_draws:
        raise InputError(
            "exact values of trees need no checkpoint=, mesh= or separate_draws=: omit them, or "
            "pass estimator=."
        )


def check_sampled(
    problem: Problem, estimator: Any, budget: Any, tol: Any, separate_draws: bool, options: Options
) -> None:
    """What `model_rows=` does not go with, and what it needs."""
    if any(option is not None for option in (estimator, budget, tol)) or separate_draws:
        raise InputError(
            "model_rows= says what to spend and how: omit budget=, tol=, seconds=, estimator= "
            "and separate_draws=."
        )
    if problem.reward is not None or problem.value is not marginal:
        raise InputError("model_rows= is for marginal values: omit value= and reward=.")
    if problem.row_outputs is not None:
        raise InputError(
            "model_rows= does not go with outputs=Top(...): name or number the outputs."
        )
    players = problem.inputs.options.get("players")
    if players is not None and players.some_stay:
        raise InputError(
            "model_rows= needs players that own all of the input, and some entries here belong to "
            "none: omit model_rows=, or make them players."
        )
    if options.checkpoint is not None:
        raise InputError("model_rows= goes without checkpoint=: omit one of them.")
