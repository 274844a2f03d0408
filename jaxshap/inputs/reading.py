"""What `explain` is given, read once: rows, background, who plays, and what the result shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import InputError
from jaxshap.inputs.background import WeightedRows
from jaxshap.inputs.groups import Groups, read_groups
from jaxshap.inputs.players import Players
from jaxshap.inputs.tables import read_background, read_table


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


def read_inputs(
    X, background, groups: Groups | Players | None, feature_names: Sequence[str] | None
) -> Inputs:
    """A table, whose columns or groups of columns play, or anything that `Players` divide."""
    background, options = read_weights(background)
    if isinstance(groups, Players):
        rows, references = (jax.tree.map(_as_leaf, part) for part in (X, background))
        groups.check(rows, "X")
        groups.check(references, "the background")
        if feature_names is not None and len(feature_names) != len(groups):
            raise InputError(
                f"there are {len(feature_names)} feature_names for {len(groups)} players."
            )
        names = groups.names if feature_names is None else tuple(map(str, feature_names))
        return Inputs(
            rows, references, options | {"players": groups}, None, names, None, _shown(rows)
        )
    table = read_table(X, "X", feature_names)
    references = read_background(background, table)
    columns, names = read_groups(groups, table.names) or (None, table.names)
    named = table.names if table.named else None
    return Inputs(table.array, references, options, columns, names, named, np.asarray(table.array))


def read_weights(background) -> tuple[Any, dict[str, Any]]:
    """A background and the weights that may come with it, as from `kmeans`."""
    if isinstance(background, WeightedRows):
        return background.rows, {"weights": background.weights}
    return background, {}


def _as_leaf(part):
    return part if isinstance(part, jax.Array) else np.asarray(part)


def _shown(rows) -> Any:
    """One array as it is; several by name."""
    paths, _ = jax.tree_util.tree_flatten_with_path(rows)
    named = {
        jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf)
        for path, leaf in paths
    }
    return next(iter(named.values())) if len(named) == 1 else named
