"""Arrays that games are made of: rows, references and weights, checked against each other."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import PyTree

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import Host
from jaxshap.inputs.players import Players


def checked_inputs(model: Callable, rows, references, players: Players | None) -> tuple[Any, Any]:
    """Inputs as arrays with shapes that fit each other; what JAX does not hold yet stays in numpy."""
    on_host = isinstance(model, Host)
    if players is not None:
        rows, references = (
            jax.tree.map(lambda part: as_array(part, on_host), part) for part in (rows, references)
        )
        players.check(rows, "X")
        players.check(references, "the background")
        for row, reference in zip(jax.tree.leaves(rows), jax.tree.leaves(references), strict=True):
            if row.shape[1:] != reference.shape[1:] or not row.shape[0] or not reference.shape[0]:
                raise InputError(
                    f"X has an array of shape {row.shape} where the background has {reference.shape}: both need rows, "
                    "of the same shape."
                )
            if jnp.issubdtype(row.dtype, jnp.integer) and not jnp.issubdtype(
                reference.dtype, jnp.integer
            ):
                raise InputTypeError(
                    f"X has an array of {row.dtype} where the background has {reference.dtype}: they would mix. "
                    "Pass both as whole numbers, or X as floating-point numbers."
                )
        lengths = [
            sorted({part.shape[0] for part in jax.tree.leaves(tree)}) for tree in (rows, references)
        ]
        if max(map(len, lengths)) > 1:
            raise InputError(
                f"the arrays of an input must have as many rows each; they have {lengths}."
            )
        return rows, jax.tree.map(lambda row, part: part.astype(row.dtype), rows, references)
    return checked_table(model, rows, references)


def checked_table(model: Callable, rows, references) -> tuple[Any, Any]:
    """Rows and references as floating-point tables with the same columns."""
    rows, references = (_floating(part, isinstance(model, Host)) for part in (rows, references))
    for part, what in ((rows, "X"), (references, "the background")):
        if part.ndim != 2 or 0 in part.shape:
            raise InputError(
                f"{what} must be a non-empty table (rows, features), not an array of shape {part.shape}: for other "
                "inputs say who plays, with jaxshap.patches, segments, tokens or leaves."
            )
    if rows.shape[1] != references.shape[1]:
        raise InputError(
            f"X has {rows.shape[1]} columns and the background {references.shape[1]}: they must have the same features."
        )
    return rows, references


def checked_weights(weights: Any, count: int, rows: PyTree) -> Any:
    """One weight for each of `count` background rows, summing to 1; alike where none are given.

    They are as wide as the rows, and at least float32: means must not lose digits.
    """
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(rows)]
    floating = [dtype for dtype in dtypes if jnp.issubdtype(dtype, jnp.floating)]
    dtype = jnp.promote_types(floating[0], jnp.float32) if floating else jnp.result_type(float)
    if weights is None:
        return np.full(count, 1 / count, dtype)
    if np.shape(weights) != (count,):
        raise InputError(
            f"weights have shape {np.shape(weights)} for {count} background rows: pass one a row."
        )
    if isinstance(weights, Tracer):
        return weights / weights.sum()
    weights = np.asarray(weights, np.float64)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise InputError(
            "weights of the background must be non-negative numbers, and not all of them 0."
        )
    return (weights / weights.sum()).astype(dtype)


def as_array(part, on_host: bool):
    """An array as wide as JAX is set to, or for a host model as wide as it came."""
    array = part if isinstance(part, jax.Array) and not on_host else np.asarray(part)
    return array if on_host else array.astype(jax.dtypes.canonicalize_dtype(array.dtype))


def _floating(part, on_host: bool):
    array = part if isinstance(part, jax.Array) and not on_host else np.asarray(part)
    return as_array(
        array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(np.float64), on_host
    )
