"""What gradients are asked of: a JAX model, rows and references, and who plays, all checked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.errors import InputError, InputTypeError, UnsupportedModelError
from jaxshap.explaining import Explanation, Problem, read_problem
from jaxshap.games import Game, Host
from jaxshap.gradients.paths import Paths
from jaxshap.inputs import Groups, Players
from jaxshap.values import ValueFunction, baseline, check_repeatable


class Question(NamedTuple):
    """A problem that was read, the game that it belongs to, and the paths of its rows."""

    problem: Problem
    game: Game
    paths: Paths
    weights: np.ndarray  # of the references


def read_question(
    model: Any,
    X: Any,
    background: Any,
    groups: Groups | Players | None,
    feature_names: Sequence[str] | None,
    value: ValueFunction,
) -> Question:
    """Everything that people pass in, refused by name where it has no gradients."""
    problem = read_problem(model, X, background, groups, feature_names, value, None)
    if isinstance(problem.predict, Host):
        raise UnsupportedModelError(
            "gradients need a model that JAX can differentiate, and this one runs on the host: "
            "write it in JAX, or use jaxshap.explain, which needs no gradients."
        )
    _check_floating(problem)
    if value is baseline:
        _check_one_reference(problem)
    columns = problem.inputs._replace(groups=None)  # groups are summed over, not masked
    game = problem._replace(inputs=columns).game()
    check_repeatable(game, *problem.asked)
    masked: Any = game.value
    owner = _owner(problem)
    paths = Paths(masked.model, masked.rows, masked.references, owner, problem.num_players)
    _check_differentiable(paths)
    return Question(problem, game, paths, np.asarray(masked.weights, np.float64))


def reported(question: Question, values: Any, std_error: Any, **fields: Any) -> Explanation:
    """The explanation of the rows that were asked about, without those that fill up a bucket."""
    problem, game, *_ = question
    rows = slice(problem.num_rows)
    return Explanation(
        values=np.asarray(values[rows], game.full.dtype),
        std_error=np.asarray(std_error[rows], game.full.dtype),
        base_values=np.asarray(game.empty)[rows],
        data=problem.inputs.data,
        feature_names=problem.inputs.names,
        value_function=game.name,
        absent="",
        **fields,
    )


def _owner(problem: Problem) -> Any:
    """Who owns each entry of an input."""
    if (players := problem.inputs.options.get("players")) is not None:
        return jax.tree.map(jnp.asarray, players.owner)
    groups = problem.inputs.groups or [[column] for column in range(problem.num_players)]
    owner = np.empty(sum(map(len, groups)), int)
    for number, columns in enumerate(groups):
        owner[columns] = number
    return jnp.asarray(owner)


def _check_one_reference(problem: Problem) -> None:
    lengths = {len(leaf) for leaf in jax.tree.leaves(problem.inputs.references)}
    if lengths != {1}:
        raise InputError(
            "integrated gradients begin at one baseline row, and the background has "
            f"{max(lengths)}: pass one row, or use jaxshap.gradients.expected_gradients for a "
            "background."
        )


def _check_floating(problem: Problem) -> None:
    """Whole numbers have no path between them; a table is read as floating-point numbers."""
    players = problem.inputs.options.get("players")
    if players is None:
        return
    named = jax.tree_util.tree_leaves_with_path(problem.inputs.rows)
    for (path, leaf), owner in zip(named, jax.tree.leaves(players.owner), strict=True):
        if not jnp.issubdtype(leaf.dtype, jnp.floating) and (np.asarray(owner) >= 0).any():
            raise InputTypeError(
                f"X{jax.tree_util.keystr(path)} has {leaf.dtype}, and whole numbers have no "
                "gradients: pass floating-point numbers, such as the embeddings of tokens, or use "
                "jaxshap.explain."
            )


def _check_differentiable(paths: Paths) -> None:
    """The model can be traced, as was checked before: what fails now is its derivative."""
    one = jax.ShapeDtypeStruct((1,), jnp.int32), jax.ShapeDtypeStruct((1,), jnp.float32)
    try:
        jax.eval_shape(lambda paths, *places: paths.gains(paths.rows, *places), paths, *one)
    except Exception as error:
        raise UnsupportedModelError(
            f"JAX cannot differentiate this model ({type(error).__name__}): use jaxshap.explain, "
            "which needs no gradients."
        ) from error
