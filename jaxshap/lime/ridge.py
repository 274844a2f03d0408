"""Weighted ridge regression with jackknifed standard errors, on all columns or on a selection."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputTypeError
from jaxshap.lime.selections import Selection


class Line(NamedTuple):
    """target ≈ intercept + design @ coefficients, for which `score` is the weighted R².

    Columns that are omitted or do not vary have the coefficient 0 and no standard error (NaN).
    """

    coefficients: Float[Array, "n"]
    std_error: Float[Array, "n"]
    intercept: Float[Array, ""]
    score: Float[Array, ""]


def weighted_ridge(
    design: Float[Array, "rows n"],
    target: Float[Array, "rows"],
    weights: Float[Array, "rows"],
    ridge: Float[Array, ""],
    selection: Selection | None = None,
    drawn: Bool[Array, "rows"] | None = None,
) -> Line:
    """Coefficients b that minimise Σ weights (target − intercept − design b)² + ridge |b|².

    Standard errors are jackknifed over the rows that were `drawn`, given the selection: they say
    how far b would move with other rows from the same source, not how far the ridge pulls it to 0.
    """
    total = weights.sum()
    column_means, target_mean = weights @ design / total, weights @ target / total
    columns, centred = design - column_means, target - target_mean
    weighted = columns * weights[:, None]
    gram, moments = columns.T @ weighted, weighted.T @ centred
    kept = jnp.ones(len(gram), bool) if selection is None else _kept(selection, gram, moments)
    inverse = _inverse(gram, kept, ridge)
    coefficients = inverse @ moments
    residuals = centred - columns @ coefficients
    coefficients += inverse @ (weighted.T @ residuals - ridge * coefficients)  # undoes rounding
    residuals = centred - columns @ coefficients
    influence = weighted @ inverse
    spare = 1 - (influence * columns).sum(1) - weights / total  # one less the leverage
    left_out = residuals / jnp.maximum(spare, 64 * jnp.finfo(gram.dtype).eps)
    left_out = left_out if drawn is None else jnp.where(drawn, left_out, 0)
    error = jnp.sqrt((influence**2).T @ left_out**2)
    return Line(
        coefficients=coefficients,
        std_error=jnp.where(kept & (jnp.diag(gram) > 0), error, jnp.nan),
        intercept=target_mean - column_means @ coefficients,
        score=1 - weights @ residuals**2 / (weights @ centred**2),
    )


def _kept(
    selection: Selection, gram: Float[Array, "n n"], moments: Float[Array, "n"]
) -> Bool[Array, "n"]:
    kept: Any = selection(gram, moments)
    if getattr(kept, "shape", None) != moments.shape or kept.dtype != bool:
        raise InputTypeError(
            f"selection returned {kept} for {len(moments)} columns: it must return a mask, true "
            "for each column to keep."
        )
    return kept


def _inverse(
    gram: Float[Array, "n n"], kept: Bool[Array, "n"], ridge: Float[Array, ""]
) -> Float[Array, "n n"]:
    """Of gram + ridge among the columns kept, 0 elsewhere; regularised by a few rounding errors."""
    variance = jnp.diag(gram) + ridge
    kept = kept & (variance > 0)
    unit = jnp.sqrt(jnp.where(kept, variance, 1))
    units, both = jnp.outer(unit, unit), kept[:, None] & kept
    identity = jnp.eye(len(gram), dtype=gram.dtype)
    scaled = jnp.where(both, (gram + ridge * identity) / units, identity)
    factor = cho_factor(scaled + 16 * jnp.finfo(gram.dtype).eps * identity)
    return jnp.where(both, cho_solve(factor, identity) / units, 0)
