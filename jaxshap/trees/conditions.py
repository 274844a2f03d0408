"""The paths of an ensemble as products of conditions, for whatever is multilinear in them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.inputs import checked_weights
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.paths import Paths, merged_paths
from jaxshap.trees.tables import patterns


class Conditions(NamedTuple):
    """Leaves whose paths have k features: with features S present a row gets the leaf's value times
    Π_{i∈S} met_i Π_{i∉S} absent_i, and the mean of this over what absent features may be.

    Args:
        player: the feature of each condition; padding is met by all.
        met: 1 where a row meets the condition, otherwise 0.
        absent: 1 where a background row meets it; or the one rate of training rows that do.
        values: the leaf's value, per output.
    """

    player: Int[np.ndarray, "paths k"]
    met: Float[Array, "paths k rows"]
    absent: Float[Array, "paths k background"]
    values: Float[Array, "paths outputs"]


def path_conditions(ensemble: Ensemble, rows: Any, background: Any = None) -> Iterator[Conditions]:
    """The conditions of all paths, those with about as many features together.

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features).
        background: the rows that absent features come from; without it they go both ways at a
            split, as the training rows did.

    Yields:
        The `Conditions` of one number of features.
    """
    merged = merged_paths(ensemble.structure)
    structure = ensemble.structure
    codes = [
        jnp.asarray(merged.structure.encode_narrow(table)).T
        for table in ([rows] if background is None else [rows, background])
    ]
    for group in merged.groups:
        pairs = np.flatnonzero(group.sibling >= 0)
        own = Paths(*(np.concatenate([part, part[pairs]]) for part in group))
        is_sibling = np.arange(len(own.leaf)) >= len(group.leaf)
        leaf = np.where(is_sibling, own.sibling, own.leaf)
        met = [_bits(own, is_sibling, table, ensemble.values.dtype) for table in codes]
        if background is None:
            rates = own.rates.copy()
            rates[is_sibling, -1] = own.sibling_rate[is_sibling]
            met.append(jnp.asarray(rates, ensemble.values.dtype)[:, :, None])
        values = ensemble.values[leaf]
        if structure.outputs is not None:  # each tree belongs to one of the outputs
            output = structure.outputs[structure.tree_of_leaf[leaf]]
            spread = np.eye(structure.num_outputs)[output]
            values = values * jnp.asarray(spread, values.dtype)
        yield Conditions(own.player, met[0], met[1], values)


def background_shares(background: Any, weights: Any, dtype: Any) -> Float[np.ndarray, "background"]:
    """How much each background row counts, in all 1; the rates of training rows count once."""
    if background is None:
        return np.ones(1, dtype)
    count = len(background)
    if weights is None:
        return np.full(count, 1 / count, dtype)
    weights = np.asarray(checked_weights(weights, count, np.zeros(0, dtype)))
    return weights / weights.sum()


def _bits(
    paths: Paths, is_sibling: np.ndarray, codes: Array, dtype
) -> Float[Array, "paths k rows"]:
    """Which conditions are met; a sibling's last one is the opposite of its twin's."""
    width = paths.column.shape[1]
    pattern = patterns(paths, codes).astype(jnp.uint32)
    turned = (is_sibling.astype(np.uint32) << np.uint32(width - 1))[:, None]
    bits = (pattern ^ jnp.asarray(turned))[:, None] >> jnp.arange(width, dtype=jnp.uint32)[:, None]
    return (bits & 1).astype(dtype)
