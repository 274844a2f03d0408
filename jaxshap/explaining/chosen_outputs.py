"""`outputs=`: the problem of explaining some outputs of a model, or a function of them."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining.picked_models import (
    CHOICE,
    INPUT,
    Columns,
    RowColumns,
    Transformed,
    top_numbers,
    wrapped,
)
from jaxshap.explaining.problem import Problem
from jaxshap.games import Host, check_function
from jaxshap.inputs import STAYS, Players, Top, name_outputs, read_choice, read_names


def choose_outputs(problem: Problem, outputs: Any, given: Sequence[str] | None) -> Problem:
    """The problem of these outputs alone; `given` names all outputs of the model, or what a
    function returns.
    """
    if problem.reward is not None:
        raise InputError("reward= says what is shared out: omit outputs=.")
    if callable(outputs):
        check_function(outputs, "outputs", "a function of the outputs")
        predict = wrapped(Transformed, problem.predict, outputs)
        return problem._replace(predict=predict, classes=_read(given), function=_name(outputs))
    names = problem.classes if given is None else _read(given)
    if isinstance(outputs, Top):
        return _top(outputs.count, problem, names)
    numbers = read_choice(outputs, names)
    predict = wrapped(Columns, problem.predict, numbers, None if names is None else len(names))
    return problem._replace(predict=predict, classes=tuple(name_outputs(numbers, names).tolist()))


def _read(given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else read_names(given, "output_names")


def _name(function: Callable) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "function of outputs" if name == "<lambda>" else name


def _top(count: int, problem: Problem, names: tuple[str, ...] | None) -> Problem:
    """Numbers of outputs go with the rows, as a part of the input that is never taken away."""
    inputs, predict = problem.inputs, problem.predict
    rows, references = inputs.rows, inputs.references
    players = inputs.options.get("players")
    if players is None:
        rows, references = (_floating(table, predict) for table in (rows, references))
        columns = np.arange(rows.shape[1])
        players = Players(columns, tuple(map(str, columns)))
    numbers = top_numbers(predict, rows, count, None if names is None else len(names))
    nothing = np.zeros((len(jax.tree.leaves(references)[0]), count), numbers.dtype)
    owner: Any = {INPUT: players.owner, CHOICE: np.asarray(STAYS)}
    inputs = inputs._replace(
        rows={INPUT: rows, CHOICE: numbers},
        references={INPUT: references, CHOICE: nothing},
        options=inputs.options | {"players": Players(owner, players.names)},
    )
    return problem._replace(
        predict=wrapped(RowColumns, predict),
        inputs=inputs,
        classes=_ranks(count),
        row_outputs=name_outputs(numbers, names),
    )


def _ranks(count: int) -> tuple[str, ...]:
    return tuple(f"top {rank + 1}" for rank in range(count))


def _floating(table: Any, predict: Callable) -> Any:
    """A table as value functions read it."""
    array = np.asarray(table)
    if np.issubdtype(array.dtype, np.floating):
        return table
    return array.astype(np.float64 if isinstance(predict, Host) else jnp.result_type(float))


def choose_of_explanation(explanation: Any, outputs: Any) -> Any:
    """Of values that are there for all outputs, as of trees."""
    names = explanation.output_names
    if explanation.values.ndim < 3:
        raise InputError("the model has one output: omit outputs=.")
    if not isinstance(outputs, Top):
        numbers = list(read_choice(outputs, names))
        picked = explanation[:, :, numbers]
        shown = tuple(name_outputs(numbers, names).tolist())
        return dataclasses.replace(picked, output_names=shown)
    totals = explanation.base_values + explanation.values.sum(1)
    if outputs.count > totals.shape[1]:
        raise InputError(f"{outputs} asks for more than the model's {totals.shape[1]} outputs.")
    numbers = np.argsort(-totals, axis=1, kind="stable")[:, : outputs.count]
    fields = {
        name: np.take_along_axis(getattr(explanation, name), numbers[:, None], 2)
        for name in ("values", "std_error")
    }
    sets = explanation.interactions
    return dataclasses.replace(
        explanation,
        **fields,
        interactions=None if sets is None else sets.chosen(numbers),
        base_values=np.take_along_axis(explanation.base_values, numbers, 1),
        output_names=_ranks(outputs.count),
        row_outputs=name_outputs(numbers, names),
        source=None,
    )
