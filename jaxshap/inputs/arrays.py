"""Arrays that games are made of: rows, references and weights, checked against each other."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import PyTree

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import Host, as_array, as_numbers, at_least_float32
from jaxshap.inputs.narrowing import narrowed, warn_of_rounding
from jaxshap.inputs.players import Players

BACKGROUND = "the background"


def checked_inputs(model: Callable, rows, references, players: Players | None) -> tuple[Any, Any]:
    """Inputs as arrays whose shapes fit each other; what JAX does not hold stays in numpy."""
    on_host = isinstance(model, Host)
    if players is not None:
        rows, references = (
            jax.tree.map(
                lambda leaf, what=what: _as_wide(as_numbers(leaf, what), what, on_host), tree
            )
            for tree, what in ((rows, "X"), (references, BACKGROUND))
        )
        players.check(rows, "X")
        players.check(references, BACKGROUND)
        for row, reference in zip(jax.tree.leaves(rows), jax.tree.leaves(references), strict=True):
            if row.shape[1:] != reference.shape[1:] or not row.shape[0] or not reference.shape[0]:
                raise InputError(
                    f"X has an array of shape {row.shape} where the background has "
                    f"{reference.shape}: both need rows, "
                    "of the same shape."
                )
            if jnp.issubdtype(row.dtype, jnp.integer) and not jnp.issubdtype(
                reference.dtype, jnp.integer
            ):
                raise InputTypeError(
                    f"X has an array of {row.dtype} where the background has {reference.dtype}: "
                    "they would mix. "
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
    on_host = isinstance(model, Host)
    given = as_numbers(rows, "X"), as_numbers(references, BACKGROUND)
    rows, references = (
        _floating(array, what, on_host)
        for array, what in zip(given, ("X", BACKGROUND), strict=True)
    )
    for part, what in ((rows, "X"), (references, BACKGROUND)):
        if part.ndim != 2 or 0 in part.shape:
            raise InputError(
                f"{what} must be a non-empty table (rows, features), not an array of shape "
                f"{part.shape}: for other "
                "inputs say who plays, with jaxshap.patches, segments, tokens or leaves."
            )
    if rows.shape[1] != references.shape[1]:
        raise InputError(
            f"X has {rows.shape[1]} columns and the background {references.shape[1]}: they must "
            "have the same features."
        )
    if not on_host:
        warn_of_rounding(given, (rows, references))
    return rows, references


def checked_weights(weights: Any, count: int, rows: PyTree) -> Any:
    """One weight for each of `count` background rows, summing to 1; alike where none are given.

    They are as wide as the rows, and at least float32: means must not lose digits.
    """
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(rows)]
    floating = [dtype for dtype in dtypes if jnp.issubdtype(dtype, jnp.floating)]
    dtype = at_least_float32(floating[0]) if floating else jnp.result_type(float)
    if weights is None:
        return np.full(count, 1 / count, dtype)
    weights = as_array(weights, "weights")
    if weights.shape != (count,):
        raise InputError(
            f"weights have shape {weights.shape} for {count} background rows: pass one a row."
        )
    if isinstance(weights, Tracer):
        return weights / weights.sum()
    weights = np.asarray(as_numbers(weights, "the weights"), np.float64)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise InputError(
            "weights of the background must be non-negative numbers, and not all of them 0."
        )
    return (weights / weights.sum()).astype(dtype)


def check_complete(table: Any, what: str) -> None:
    """Refuse missing and infinite entries where distances or correlations are taken of a table."""
    if isinstance(table, Tracer):
        return
    bad = ~np.isfinite(np.asarray(table, np.float64)).all(1)
    if bad.any():
        raise InputError(
            f"{what} has missing or infinite entries in {bad.sum()} rows, the first is row "
            f"{bad.argmax()}, and distances between rows are needed here: leave them out or fill "
            "the entries first."
        )


def is_whole(*tables: Any) -> bool:
    """Whether these are arrays of whole numbers."""
    arrays = [leaf for table in tables for leaf in jax.tree.leaves(table)]
    return all(jnp.issubdtype(array.dtype, jnp.integer) for array in arrays)


def as_floating(table: Any) -> Any:
    """A table as models on the host get it."""
    return table if jnp.issubdtype(table.dtype, jnp.floating) else np.asarray(table, np.float64)


def _as_wide(array: Any, what: str, on_host: bool) -> Any:
    """An array as wide as JAX is set to, or for a host model in numpy and as wide as it came."""
    return np.asarray(array) if on_host else narrowed(array, what)


def _floating(array: Any, what: str, on_host: bool) -> Any:
    if not on_host and not jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(jnp.result_type(float))
    array = as_floating(array) if on_host else array
    return _as_wide(array, what, on_host)
