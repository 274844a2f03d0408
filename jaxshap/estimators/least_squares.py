"""Weighted least squares under the efficiency constraint, with what its error bars need."""

from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float


class Fit(NamedTuple):
    """Values and, for the jackknife, the residuals and how each row moves the values."""

    values: Float[Array, "n *out"]
    residuals: Float[Array, "rows *out"]
    influence: Float[Array, "rows n"]
    leverage: Float[Array, "rows"]


class LeastSquares(NamedTuple):
    """Coefficients with their standard errors, and each row's error when it is left out."""

    coefficients: Float[Array, "n out"]
    std_error: Float[Array, "n out"]
    left_out: Float[Array, "rows out"]


def sequence_after(first: Float[Array, "..."], then: Float[Array, "..."]) -> Float[Array, "..."]:
    """`then` unchanged, but not available before `first` has been computed.

    Two batched factorisations that run at the same time may hang XLA's CPU threads.
    """
    # 0 whatever `first` holds, but the compiler cannot tell
    zero = jnp.where(jnp.isfinite(first.reshape(-1)[0]), 0, 1e-30)
    return then + zero.astype(then.dtype)


def efficient_least_squares(
    design: Float[Array, "rows n"],
    target: Float[Array, "rows *out"],
    weights: Float[Array, "rows"],
    total: Float[Array, "*out"],
) -> Fit:
    """φ minimising Σ weights (target − design φ)² subject to Σφ = total.

    φ = total/n + ψ with ψ ⊥ 1, so the design is centred within each row; a multiple of 11ᵀ fills
    the direction that no row covers, and does not touch ψ. A ridge of a few rounding errors keeps
    rank-deficient designs finite. One factorisation serves all outputs.
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
    remainder = outputs - design.sum(1, keepdims=True) * start
    influence = cho_solve(cho_factor(gram), weighted.T).T
    direction = influence.T @ remainder
    residuals = remainder - centred @ direction
    values = start + direction - direction.mean(0)
    return Fit(
        values.reshape(num_players, *total.shape),
        residuals.reshape(target.shape),
        influence,
        (influence * centred).sum(1),
    )


def jackknife_error(
    fit: Fit, sampled: Bool[Array, "rows"], unseen: Float[Array, "rows"]
) -> Float[Array, "n *out"]:
    """Standard error from leaving out one sampled row at a time, in closed form.

    `unseen` is the share of a row's stratum that was not drawn (the finite-population correction).
    NaN with fewer than two sampled rows.
    """
    count = sampled.sum().astype(unseen.dtype)
    share = jnp.where(sampled, unseen, 0) * (count / (count - 1))
    spare = jnp.where(sampled, 1 - fit.leverage, 1)[:, None]
    left_out = fit.residuals.reshape(len(sampled), -1) / spare
    variance = (fit.influence**2).T @ (share[:, None] * left_out**2)
    return jnp.sqrt(jnp.where(count < 2, jnp.nan, variance)).reshape(fit.values.shape)


def least_squares(
    design: Float[Array, "rows n"], target: Float[Array, "rows out"], live: Bool[Array, "rows"]
) -> LeastSquares:
    """Coefficients b minimising Σ (target − design b)² over live rows; errors are jackknifed."""
    design = jnp.where(live[:, None], design, 0)
    gram = design.T @ design
    ridge = 16 * jnp.finfo(gram.dtype).eps * jnp.trace(gram) / len(gram)
    influence = cho_solve(cho_factor(gram + ridge * jnp.eye(len(gram), dtype=gram.dtype)), design.T)
    coefficients = influence @ target
    residuals = target - design @ coefficients
    coefficients = coefficients + influence @ residuals  # undoes the ridge, and rounding with it
    residuals = target - design @ coefficients
    spare = jnp.maximum(1 - (influence.T * design).sum(1), 64 * jnp.finfo(gram.dtype).eps)
    left_out = jnp.where(live[:, None], residuals / spare[:, None], 0)
    return LeastSquares(coefficients, jnp.sqrt((influence**2) @ left_out**2), left_out)


def debiased_odd_fit(
    signs: Float[Array, "rows n"],
    odd: Float[Array, "rows out"],
    live: Bool[Array, "rows"],
    whole: Float[Array, "out"],
) -> LeastSquares:
    """Coefficients of the odd part of a game: ⅔ from balanced rows and ⅓ from single players.

    They sum to `whole` = (v(N) − v(∅))/2. The first n rows are the single players. Balanced rows
    see interactions of three players with the opposite sign of single players and half the size,
    so this mean is free of them. Errors are jackknifed over the balanced rows.
    """
    num_players = signs.shape[1]
    single_signs = signs[:num_players]
    is_alone = single_signs.sum(1) < 0  # otherwise the row is the complement of a single player
    row_of_player = ((single_signs > 0) == is_alone[:, None]).astype(odd.dtype)
    worth_alone = jnp.where(is_alone, 1, -1).astype(odd.dtype)[:, None] * odd[:num_players]
    alone = (whole + row_of_player.T @ worth_alone) / 2
    balanced = least_squares(signs[num_players:], odd[num_players:], live[num_players:])
    # three players have no pairs beyond the single players, which then determine everything
    exhausted = len(signs) == num_players
    coefficients = alone if exhausted else (2 * balanced.coefficients + alone) / 3
    coefficients = coefficients + (whole - coefficients.sum(0)) / num_players
    std_error = jnp.zeros_like(coefficients) if exhausted else 2 / 3 * balanced.std_error
    return LeastSquares(coefficients, std_error, balanced.left_out)
