"""Weighted least squares under the efficiency constraint, with what its error bars need."""

from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float


class Fit(NamedTuple):
    """Values, and for the jackknife: residuals, and how each row moves the values."""

    values: Float[Array, "n *out"]
    residuals: Float[Array, "rows *out"]
    influence: Float[Array, "rows n"]
    leverage: Float[Array, "rows"]


def efficient_least_squares(
    design: Float[Array, "rows n"],
    target: Float[Array, "rows *out"],
    weights: Float[Array, "rows"],
    total: Float[Array, "*out"],
) -> Fit:
    """φ minimising Σ weights (target − design φ)² among those with Σφ = total; one factorisation serves all outputs.

    φ = total/n + ψ with ψ ⊥ 1, so the design is centred within each row; a multiple of 11ᵀ fills the direction that
    is left without a row, and does not touch ψ. A ridge of a few rounding errors keeps rank-deficient designs finite.
    """
    num_players = design.shape[1]
    outputs = target.reshape(len(target), -1)
    start = total.reshape(1, -1) / num_players
    centred = design - design.mean(1, keepdims=True)
    weighted = centred * weights[:, None]
    gram = centred.T @ weighted
    scale = jnp.trace(gram) / num_players
    ridge = 16 * jnp.finfo(gram.dtype).eps * jnp.eye(num_players, dtype=gram.dtype)
    gram = gram + scale * (1 / num_players + ridge)
    rest = outputs - design.sum(1, keepdims=True) * start
    influence = cho_solve(cho_factor(gram), weighted.T).T
    direction = influence.T @ rest
    residuals = rest - centred @ direction
    values = start + direction - direction.mean(0)
    return Fit(
        values.reshape(num_players, *total.shape),
        residuals.reshape(target.shape),
        influence,
        (influence * centred).sum(1),
    )


def jackknife_error(fit: Fit, sampled: Bool[Array, "rows"], unseen: Float[Array, "rows"]) -> Float[Array, "n *out"]:
    """Standard error from leaving out one sampled row at a time, in closed form; NaN with fewer than two of them.

    `unseen` is the share of a row's stratum that was not drawn (the finite-population correction).
    """
    count = sampled.sum().astype(unseen.dtype)
    share = jnp.where(sampled, unseen, 0) * (count / (count - 1))
    moved = fit.residuals.reshape(len(sampled), -1) / jnp.where(sampled, 1 - fit.leverage, 1)[:, None]
    variance = (fit.influence**2).T @ (share[:, None] * moved**2)
    return jnp.sqrt(jnp.where(count < 2, jnp.nan, variance)).reshape(fit.values.shape)
