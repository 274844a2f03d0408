"""What `explain` is given, read once: rows, background, who plays, and what the result shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import as_numbers, widened
from jaxshap.inputs.arrays import BACKGROUND
from jaxshap.inputs.background import WeightedRows
from jaxshap.inputs.groups import Groups, read_groups
from jaxshap.inputs.players import Players
from jaxshap.inputs.tables import read_background, read_names, read_table


class Inputs(NamedTuple):
    """Rows and references, who plays, and what the result shows of them."""

    rows: Any
    references: Any
    options: dict[
        str, Any
    ]  # of the value function: weights of the references, players, where there are any
    groups: list[list[int]] | None  # of columns
    names: tuple[str, ...]  # of the players
    columns: tuple[str, ...] | None  # of a table that has names
    data: Any
    features_are_columns: bool  # of the data, in the same order


def read_inputs(
    X, background, groups: Groups | Players | None, feature_names: Sequence[str] | None
) -> Inputs:
    """A table, whose columns or groups of columns play, or anything that `Players` divide."""
    background, options = read_weights(background)
    if isinstance(groups, Players):
        rows, references = (
            _read_leaves(X, groups, "X"),
            _read_leaves(background, groups, BACKGROUND),
        )
        groups.check(rows, "X")
        groups.check(references, BACKGROUND)
        names = groups.names
        if feature_names is not None:
            names = read_names(feature_names, "feature_names")
        if len(names) != len(groups):
            raise InputError(f"there are {len(names)} feature_names for {len(groups)} players.")
        options |= {"players": groups}
        return Inputs(rows, references, options, None, names, None, *_shown(rows, groups))
    table = read_table(X, "X", feature_names)
    references = read_background(background, table)
    columns, names = read_groups(groups, table.names) or (None, table.names)
    named = table.names if table.named else None
    one_each = columns is None or all(len(group) == 1 for group in columns)
    shown = widened(np.asarray(table.array)), one_each
    return Inputs(table.array, references, options, columns, names, named, *shown)


def read_weights(background) -> tuple[Any, dict[str, Any]]:
    """A background and the weights that may come with it, as from `kmeans`."""
    if isinstance(background, WeightedRows):
        return background.rows, {"weights": background.weights}
    return background, {}


def _read_leaves(inputs: Any, players: Players, what: str) -> Any:
    """Each array of an input; lists of rows are one array where the players are those of one."""
    if isinstance(inputs, list | tuple) and isinstance(players.owner, np.ndarray):
        return as_numbers(inputs, what)
    return jax.tree.map(lambda leaf: as_numbers(leaf, what), inputs)


def _shown(rows: Any, players: Players) -> tuple[Any, bool]:
    """One array as it is, or with columns in the order of the players that own one each; several
    by name. And whether each player is a column.
    """
    paths, _ = jax.tree_util.tree_flatten_with_path(rows)
    if len(paths) == 1:
        array, owner = (
            widened(np.asarray(paths[0][1])),
            np.asarray(jax.tree.leaves(players.owner)[0]),
        )
        one_each = array.ndim == 2 and owner.shape == array.shape[1:] == (len(players),)
        return (array[:, np.argsort(owner)], True) if one_each else (array, False)
    named = {_path_name(path): widened(np.asarray(leaf)) for path, leaf in paths}
    if len(named) < len(paths):  # "a.b" beside b in a
        named = {jax.tree_util.keystr(path): widened(np.asarray(leaf)) for path, leaf in paths}
    return named, False


def _path_name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
