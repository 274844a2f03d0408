"""`outputs=`: which outputs of a model are kept of what it answers about texts, and their names."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxshap.games import Game, check_function
from jaxshap.inputs import (
    Top,
    check_columns,
    check_outputs,
    name_outputs,
    read_choice,
    read_names,
)

Pick = Callable[[np.ndarray], np.ndarray]  # from all outputs of some inputs to those to keep
Calls = TypeVar("Calls", bound=Any)  # StringCalls or TokenCalls


class Played(NamedTuple):
    """The game of one text, and the names of its own outputs where `Top` chose them."""

    game: Game
    row_outputs: np.ndarray | None = None


class Chosen(NamedTuple):
    """What is explained of a model's outputs: all of them by default."""

    pick: Pick | None = None
    names: tuple[str, ...] | None = None  # of the outputs that are explained
    top: Top | None = None  # each text has outputs of its own
    all_names: tuple[str, ...] | None = None

    def for_text(self, calls: Calls, everyone: Any) -> tuple[Calls, np.ndarray | None]:
        """The calls for a text, which the model has seen as a whole where `Top` chooses."""
        if self.top is None:
            return calls, None
        calls = dataclasses.replace(calls, known={})
        outputs = calls(everyone)
        num_names = None if self.all_names is None else len(self.all_names)
        check_columns(outputs.shape, self.top.count, num_names)
        numbers = np.argsort(-outputs, axis=1, kind="stable")[:, : self.top.count]
        known = {content: own[numbers[0]] for content, own in calls.known.items()}
        pick = _columns(numbers[0], num_names)
        return dataclasses.replace(calls, pick=pick, known=known), name_outputs(
            numbers, self.all_names
        )


def read_chosen(outputs: Any, names: Sequence[str] | None) -> Chosen:
    """Of `outputs=` and `output_names=`, as `jaxshap.explain` takes them."""
    given = None if names is None else read_names(names, "output_names")
    if outputs is None:
        return Chosen(None, given)
    if isinstance(outputs, Top):
        ranks = tuple(f"top {rank + 1}" for rank in range(outputs.count))
        return Chosen(None, ranks, outputs, given)
    if callable(outputs):
        check_function(outputs, "outputs", "a function of the outputs")
        return Chosen(_function(outputs), given)
    numbers = read_choice(outputs, given)
    pick = _columns(np.array(numbers), None if given is None else len(given))
    return Chosen(pick, tuple(name_outputs(numbers, given).tolist()))


def _columns(numbers: np.ndarray, num_names: int | None) -> Pick:
    def pick(outputs: np.ndarray) -> np.ndarray:
        check_columns(outputs.shape, int(numbers.max()) + 1, num_names)
        return outputs[:, numbers]

    return pick


def _function(function: Callable) -> Pick:
    def pick(outputs: np.ndarray) -> np.ndarray:
        own = np.asarray(function(outputs))
        check_outputs(own.shape, own.dtype, len(outputs))
        return own

    return pick
