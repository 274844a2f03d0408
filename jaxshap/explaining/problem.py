"""What is to be explained: a model, its inputs, what absent means and what is shared out."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.engine import bucket
from jaxshap.games import Game, Host, check_function, check_kind, grouped
from jaxshap.inputs import (
    Inputs,
    as_floating,
    own_columns,
    read_inputs,
    read_model,
    read_output_names,
)
from jaxshap.rewards import reward as rewarded
from jaxshap.values import ValueFunction, baseline, marginal, needs_background


class Problem(NamedTuple):
    """A model and the inputs to explain it on, read and checked."""

    predict: Callable
    inputs: Inputs
    value: ValueFunction
    reward: Callable | None
    classes: tuple[str, ...] | None  # names of the outputs, where the model has them
    row_outputs: np.ndarray | None = None  # names of each row's outputs, where rows have their own
    function: str | None = None  # the name of the function of the outputs that is explained

    @property
    def num_rows(self) -> int:
        return len(jax.tree.leaves(self.inputs.rows)[0])

    @property
    def num_players(self) -> int:
        return len(self.inputs.names)

    @property
    def asked(self) -> tuple[Callable, Any, Any]:
        """The model, and the rows and references that it is asked about, as it gets them."""
        inputs = self.inputs
        if "players" in inputs.options:
            return self.predict, inputs.rows, inputs.references
        return self.predict, as_floating(inputs.rows), as_floating(inputs.references)

    @property
    def predicts_columns(self) -> bool:
        """Whether predictions are explained, and players are the columns of one table."""
        inputs, one_table = self.inputs, isinstance(self.inputs.rows, np.ndarray | jax.Array)
        alone = inputs.groups is None and "players" not in inputs.options
        return self.reward is None and one_table and alone and inputs.features_are_columns

    @property
    def references(self) -> Any:
        """The rows that absent features come from; None where the value function needs none."""
        return self.inputs.references if needs_background(self.value) else None

    def game(self) -> Game:
        """The game of all rows.

        Rows of JAX models are filled up to the next bucket, so that nearby numbers share a program.
        """
        rows = self.inputs.rows
        if self.reward is None and not isinstance(self.predict, Host):
            rows = jax.tree.map(pad_rows, rows, self.inputs.references)
        game = self.game_of(rows)
        return game if self.reward is None else rewarded(game, self.reward)

    def game_of(self, rows: Any) -> Game:
        """The game of these rows, groups of columns being players where there are any."""
        game = self.value(self.predict, rows, self.references, **self.inputs.options)
        check_kind(game, Game, "what value= returned", "a value function that returns a game")
        return game if self.inputs.groups is None else grouped(game, self.inputs.groups)

    def with_references(self, references: Any) -> "Problem":
        """The same with other background rows, all of which weigh alike."""
        options = {name: value for name, value in self.inputs.options.items() if name != "weights"}
        inputs = self.inputs._replace(references=references, options=options)
        return self._replace(inputs=inputs)

    def output_names(
        self, given: Sequence[str] | None, shape: tuple[int, ...]
    ) -> tuple[str, ...] | None:
        classes = self.classes if self.reward is None else None
        if classes is not None and given is None and shape != (len(classes),):
            classes = None  # scores of pairs of classes, say
        return read_output_names(given, classes, shape)

    def model_rows(self, num_evaluations: int) -> int:
        """Rows that the model is asked about per explained row; 0 where that is not known."""
        if self.value not in (marginal, baseline):
            return 0
        return num_evaluations * len(jax.tree.leaves(self.inputs.references)[0])

    def name_of(self, game: Game) -> str:
        """The name of the value function, and of the function of outputs if there is one."""
        return game.name if self.function is None else f"{game.name} ({self.function})"


def read_problem(
    model: Any,
    X: Any,
    background: Any,
    groups: Any,
    feature_names: Sequence[str] | None,
    value: ValueFunction | None,
    reward: Callable | None,
) -> Problem:
    """Everything that people pass in, read once.

    Where no background is needed, the rows stand in its place wherever two inputs are compared.
    """
    if value is not None:
        check_function(value, "value", "a value function, such as jaxshap.conditional", 3)
    background = X if background is None else background
    inputs = read_inputs(X, background, groups, own_columns(model, X, feature_names))
    read = read_model(model, inputs, keeps_whole=True)
    if read.takes_whole:
        inputs = inputs.kept_whole()
    value = marginal if value is None else value
    classes, function = read.output_names, None if reward is not None else read.function
    return Problem(read.predict, inputs, value, reward, classes, function=function)


def pad_rows(rows: Any, references: Any) -> np.ndarray:
    """Up to the next bucket with a background row."""
    rows, references = np.asarray(rows), np.asarray(references)
    missing = bucket(len(rows)) - len(rows)
    filling = np.repeat(references[:1], missing, axis=0).astype(rows.dtype)
    return np.concatenate([rows, filling])
