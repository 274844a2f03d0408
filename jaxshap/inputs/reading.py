"""What `explain` is given, read once: rows, background, who plays, and what the result shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import as_numbers, widened
from jaxshap.inputs.arrays import BACKGROUND
from jaxshap.inputs.background import WeightedRows
from jaxshap.inputs.frame_libraries import library_of
from jaxshap.inputs.frames import Frames, read_frames
from jaxshap.inputs.groups import Groups, read_groups
from jaxshap.inputs.players import Players
from jaxshap.inputs.tables import Table, arranged, read_background, read_names, read_table


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
    frames: Frames | None = None  # how the model gets DataFrames, where X is one
    words: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  what codes stand for, by player

    @property
    def owner(self) -> np.ndarray | None:
        """Who owns each entry of one array that is no table of features."""
        players = self.options.get("players")
        owned = None if players is None else players.owner
        return owned if isinstance(owned, np.ndarray) and not self.features_are_columns else None

    def kept_whole(self) -> "Inputs":
        """Whole numbers that stay so on their way to the model: the columns are `Players`."""
        columns = np.arange(self.rows.shape[1])
        players = Players(columns, tuple(map(str, columns)))
        return self._replace(options=self.options | {"players": players})


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
    table, references, frames = _read_tables(X, background, feature_names)
    columns, names = read_groups(groups, table.names) or (None, table.names)
    named = table.names if table.named else None
    one_each = columns is None or all(len(group) == 1 for group in columns)
    shown = widened(np.asarray(table.array)), one_each
    words = _words_of_players(frames, table.names, columns, names) if one_each else {}
    return Inputs(table.array, references, options, columns, names, named, *shown, frames, words)


def _words_of_players(
    frames: Frames | None,
    columns: Sequence[str],
    groups: list[list[int]] | None,
    names: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """By the names of players that own one column each."""
    words = {} if frames is None else frames.words
    owned = columns if groups is None else [columns[column] for (column,) in groups]
    pairs = zip(names, owned, strict=True)
    return {name: words[column] for name, column in pairs if column in words}


def _read_tables(
    X: Any, background: Any, feature_names: Sequence[str] | None
) -> tuple[Table, Any, Frames | None]:
    """Both tables as numbers; DataFrames together, so that their codes agree."""
    if library_of(X) is None or library_of(background) is None:
        table = read_table(X, "X", feature_names)
        return table, read_background(background, table), None
    rows, names = arranged(X, "X", feature_names)
    references, _ = arranged(background, BACKGROUND, names)
    tables = read_frames(rows, references, names)
    return Table(tables.rows, names, True), tables.references, tables.frames


def shown_table(
    X: Any, feature_names: Sequence[str] | None
) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """A table of any columns as numbers to show, and the words that codes stand for."""
    if library_of(X) is None:
        return read_table(X, "X", feature_names), {}
    table, _, frames = _read_tables(X, X, feature_names)
    return table, {} if frames is None else frames.words


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
