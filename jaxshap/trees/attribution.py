"""Shapley values of an ensemble, path by path: by tables within bounds of memory, or directly."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import bucket
from jaxshap.games import check_kind
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.paths import MAX_TABLE_FEATURES, Paths, merged_paths
from jaxshap.trees.structure import MISSING, Structure
from jaxshap.trees.tables import (
    MAX_DENSE_FEATURES,
    ROWS_AT_ONCE,
    apply_tables,
    pairs,
    patterns,
    tables,
)

MAX_TABLE_BYTES = 2**27  # of the tables that are held at once
MIN_PATHS_WITH_TABLE = 64  # that are held at once, however large their tables
PATHS_WITHOUT_TABLE = 2**12  # that are summed in one call
MIN_BUCKET = 16  # to which paths and leaves are padded, so that small ensembles share programs
TABLE_COST = 0.3  # of a path with k features, times 4**k


class Kind(NamedTuple):
    """What an absent feature is taken to be, in both ways of summing.

    `chances` says how likely each pattern of the background is, for tables; `direct` sums without
    tables. `others` is what both need beside the paths: codes of a background, or nothing. `cost`
    is that of a path and a row without tables, in the units of `TABLE_COST`.
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
    """Values of every row (`order` 1), or interactions of two features, on one side (`order` 2)."""
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    merged = merged_paths(ensemble.structure)
    codes = jnp.asarray(merged.structure.encode_narrow(rows))
    count = len(codes)
    size = min(ROWS_AT_ONCE, bucket(count))
    chunks = bucket(-(-count // size))
    codes = jnp.pad(codes, ((0, chunks * size - count), (0, 0)), mode="edge")
    codes = codes.reshape(chunks, size, -1).swapaxes(1, 2)
    structure, values = ensemble.structure, _centred(ensemble)
    num_places = structure.num_outputs * structure.num_features**order
    total = jnp.zeros((chunks, num_places, size), values.dtype)
    for group in merged.groups:
        width = group.column.shape[1]
        is_direct = _is_direct(kind, width, count, order)
        slots = values.shape[1] * (width if order == 1 else len(pairs(width)))
        fitting = MAX_TABLE_BYTES // (slots * 2**width * values.dtype.itemsize)
        most = PATHS_WITHOUT_TABLE if is_direct else max(MIN_PATHS_WITH_TABLE, fitting)
        for part in _parts(group, most):
            data = part, _places(part, structure, values.shape[1], order), values, codes
            if is_direct:
                total += _direct_sum(kind.direct, order, num_places, *data, kind.others)
            else:
                siblings = min(len(part.leaf), bucket(int((part.sibling >= 0).sum())))
                static = kind.chances, order, num_places, siblings
                total += _table_sum(*static, *data, kind.others)
    by_row = total.swapaxes(1, 2).reshape(chunks * size, num_places)[:count]
    shape = (structure.num_features,) * order
    return jnp.moveaxis(by_row.reshape(count, structure.num_outputs, *shape), 1, -1)


def with_diagonal(
    once: Float[Array, "rows n n outputs"], values: Float[Array, "rows n outputs"]
) -> Float[Array, "rows n n outputs"]:
    """Interactions as shap has them: each half off the diagonal, the rest of φ_i on it."""
    both = (once + once.swapaxes(1, 2)) / 2
    diagonal = jnp.arange(values.shape[1])
    return both.at[:, diagonal, diagonal].set(values - both.sum(2))


def _is_direct(kind: Kind, width: int, num_rows: int, order: int) -> bool:
    """Whether paths with this many features are summed without tables."""
    if width > (MAX_TABLE_FEATURES if order == 1 else MAX_DENSE_FEATURES):
        return True
    return kind.cost * num_rows < TABLE_COST * 4**width


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


def _centred(ensemble: Ensemble) -> Float[Array, "bucket outputs"]:
    """Leaf values less their mean per tree: the same Shapley values, less rounding in float32.

    Padded with zeros, so that similar ensembles share programs.
    """
    tree = ensemble.structure.tree_of_leaf
    number = len(ensemble.structure.roots)
    counts = jnp.asarray(np.bincount(tree, minlength=number), ensemble.values.dtype)
    means = jax.ops.segment_sum(ensemble.values, tree, number) / counts[:, None]
    spare = max(MIN_BUCKET, bucket(len(tree))) - len(tree)
    return jnp.pad(ensemble.values - means[tree], ((0, spare), (0, 0)))


def _parts(group: Paths, most: int) -> list[Paths]:
    """At most `most` paths each; the last is padded with paths that every row meets.

    Padding adds nothing: its features are met whoever is absent.
    """
    size = min(most, max(MIN_BUCKET, bucket(len(group.leaf))))
    fillers = 0, 0, -1, MISSING - 1, True, 1.0, 1.0, 0, -1
    parts = []
    for start in range(0, len(group.leaf), size):
        arrays = (array[start : start + size] for array in group)
        padded = (
            _padded(array, size, filler) for array, filler in zip(arrays, fillers, strict=True)
        )
        parts.append(Paths(*padded))
    return parts


def _padded(array: np.ndarray, size: int, filler: float | int) -> np.ndarray:
    missing = size - len(array)
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
        places = np.arange(leaf_outputs)[None, :, None] * size + within[:, None]
        return places.reshape(len(player), -1).astype(np.int32)
    output = structure.outputs[structure.tree_of_leaf[paths.leaf]]
    return (output[:, None] * size + within).astype(np.int32)
