"""Shapley values of an ensemble, path by path: rows in chunks, by tables within bounds of memory,
or directly.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import bucket
from jaxshap.trees.ensemble import MISSING, Ensemble, Structure
from jaxshap.trees.paths import MOST_WITH_TABLE, Paths, merged_paths
from jaxshap.trees.tables import MOST_DENSE, ROWS_AT_ONCE, apply_tables, pairs, patterns, tables

TABLE_BYTES = 2**27  # of the tables that are held at once
TABLE_COST = 0.3  # of a path with k features, times 4**k


class Kind(NamedTuple):
    """What an absent feature is taken to be: for tables, how likely each pattern of the background
    is; and directly.

    `others` is what both need beside the paths: codes of a background, or nothing. `cost` is that
    of a path and a row without tables, in the units of `TABLE_COST`.
    """

    chances: Callable[
        [Paths, Any], tuple[Float[Array, "paths patterns"], Float[Array, "paths patterns"]]
    ]
    direct: Callable[..., Float[Array, "places rows"]]
    others: Any
    cost: float


def attribute(
    ensemble: Ensemble, rows: Any, kind: Kind, order: int
) -> Float[Array, "rows *players outputs"]:
    """Values of every row (`order` 1), or the interaction of each two features, once, on one side
    (`order` 2).
    """
    merged = merged_paths(ensemble.structure)
    codes = jnp.asarray(merged.structure.encode_narrow(rows))
    count = len(codes)
    size = min(ROWS_AT_ONCE, bucket(count))
    chunks = bucket(-(-count // size))
    codes = (
        jnp.pad(codes, ((0, chunks * size - count), (0, 0)), mode="edge")
        .reshape(chunks, size, -1)
        .swapaxes(1, 2)
    )
    structure = ensemble.structure
    values = _centred(ensemble)
    num_places = structure.num_outputs * structure.num_features**order
    total = jnp.zeros((chunks, num_places, size), values.dtype)
    for group in merged.groups:
        width = group.column.shape[1]
        slots = values.shape[1] * (width if order == 1 else len(pairs(width)))
        too_long = width > (MOST_WITH_TABLE if order == 1 else MOST_DENSE)
        is_direct = too_long or kind.cost * count < TABLE_COST * 4**width
        most = (
            2**12
            if is_direct
            else max(64, TABLE_BYTES // (slots * 2**width * values.dtype.itemsize))
        )
        for part in _parts(group, most):
            places = _places(part, structure, values.shape[1], order)
            if is_direct:
                found = _direct_sum(
                    kind.direct, order, num_places, part, places, values, codes, kind.others
                )
            else:
                siblings = min(len(part.leaf), bucket(int((part.sibling >= 0).sum())))
                how = kind.chances, order, num_places, siblings
                found = _table_sum(*how, part, places, values, codes, kind.others)
            total = total + found
    found = total.swapaxes(1, 2).reshape(chunks * size, num_places)[:count]
    shape = (structure.num_features,) * order
    return jnp.moveaxis(found.reshape(count, structure.num_outputs, *shape), 1, -1)


def with_diagonal(
    once: Float[Array, "rows n n outputs"], values: Float[Array, "rows n outputs"]
) -> Float[Array, "rows n n outputs"]:
    """Interactions as shap has them: each half off the diagonal, the rest of a feature's value on
    it.
    """
    both = (once + once.swapaxes(1, 2)) / 2
    diagonal = jnp.arange(values.shape[1])
    return both.at[:, diagonal, diagonal].set(values - both.sum(2))


def _table_sum_of(
    chances: Callable,
    order: int,
    num_places: int,
    siblings: int,
    paths: Paths,
    places,
    values,
    codes,
    others,
):
    own, sibling = chances(paths, others)
    entries = tables(own, sibling, paths, values, siblings, order)
    return jax.lax.map(
        lambda chunk: apply_tables(entries, patterns(paths, chunk), places, num_places), codes
    )


def _direct_sum_of(
    direct: Callable, order: int, num_places: int, paths: Paths, places, values, codes, others
):
    return jax.lax.map(
        lambda chunk: direct(paths, places, values, chunk, others, order, num_places), codes
    )


_table_sum = jax.jit(_table_sum_of, static_argnums=(0, 1, 2, 3))
_direct_sum = jax.jit(_direct_sum_of, static_argnums=(0, 1, 2))


def _centred(ensemble: Ensemble) -> Float[Array, "leaves outputs"]:
    """Leaf values less their mean over the tree: the same Shapley values, and less for float32 to
    round.
    """
    tree = ensemble.structure.tree_of_leaf
    number = len(ensemble.structure.roots)
    counts = jnp.asarray(np.bincount(tree, minlength=number), ensemble.values.dtype)
    means = jax.ops.segment_sum(ensemble.values, tree, number) / counts[:, None]
    return ensemble.values - means[tree]


def _parts(group: Paths, most: int) -> list[Paths]:
    """At most `most` paths each, the last padded with paths that every row meets and that give
    nothing.
    """
    size = min(most, bucket(len(group.leaf)))
    found = []
    for start in range(0, len(group.leaf), size):
        part = Paths(*(array[start : start + size] for array in group))
        missing = size - len(part.leaf)
        fillers = Paths(0, 0, -1, MISSING - 1, True, 1.0, 1.0, 0, -1)  # pyright: ignore[reportArgumentType]
        found.append(
            Paths(
                *(
                    _padded(array, missing, filler)
                    for array, filler in zip(part, fillers, strict=True)
                )
            )
        )
    return found


def _padded(array: np.ndarray, missing: int, filler) -> np.ndarray:
    return np.concatenate([array, np.full((missing, *array.shape[1:]), filler, array.dtype)])


def _places(
    paths: Paths, structure: Structure, leaf_outputs: int, order: int
) -> Int[np.ndarray, "paths slots"]:
    """Where each slot of a table is added: by output, then by feature or by the two features."""
    player, features = paths.player.astype(np.int64), structure.num_features
    if order == 1:
        within, size = player, features
    else:
        first, second = np.array(pairs(player.shape[1])).T
        within, size = player[:, first] * features + player[:, second], features**2
    if structure.outputs is None:
        return (
            (np.arange(leaf_outputs)[None, :, None] * size + within[:, None])
            .reshape(len(player), -1)
            .astype(np.int32)
        )
    output = structure.outputs[structure.tree_of_leaf[paths.leaf]]
    return (output[:, None] * size + within).astype(np.int32)
