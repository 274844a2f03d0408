"""Regression on pairs {S, N∖S} that came in at known rates: Shapley values as the best additive
game, with errors.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.least_squares import efficient_least_squares, jackknife_error
from jaxshap.estimators.protocol import Estimate
from jaxshap.games import kernel_mass, num_pairs


def pair_mass(num_players: int) -> Float[np.ndarray, "half"]:
    """The Shapley kernel's mass on the pairs whose smaller side has 1..⌊n/2⌋ players."""
    sizes = np.arange(1, num_players // 2 + 1)
    return kernel_mass(num_players)[: len(sizes)] * np.where(2 * sizes == num_players, 1, 2)


def regress_pairs(
    side: Bool[Array, "pairs n"],
    live: Bool[Array, "pairs"],
    gaps: Float[Array, "pairs *out"],
    total: Float[Array, "*out"],
    rates: Float[np.ndarray, "half"],
    known: Bool[Array, "pairs"] | None = None,
) -> Estimate:
    """Values with Σφ = total that fit the gaps v(S) − v(N∖S) best under the kernel; errors are
    jackknifed.

    With Σφ given, a pair tells of its gap only, so each pair is one row. `rates` say how fast pairs
    with a smaller side of size 1..⌊n/2⌋ came in. Pairs `known` beforehand, whatever brought them,
    stand for themselves; the others are draws, and stand for all the rest. The error is 0 where
    nothing is left to draw, NaN with fewer than two draws.
    """
    num_players = side.shape[1]
    known = jnp.zeros_like(live) if known is None else known & live
    drawn_now = live & ~known
    size = jnp.minimum(side.sum(1), (~side).sum(1)) - 1
    mass, supply = (jnp.asarray(of(num_players), gaps.dtype) for of in (pair_mass, num_pairs))
    rate = jnp.asarray(np.where(np.isinf(rates), 1, rates), gaps.dtype)
    drawn, before = (
        jnp.zeros_like(mass).at[size].add(part.astype(mass.dtype)) for part in (drawn_now, known)
    )
    left = supply - before
    closed = (
        drawn == left
    )  # enumerated: a pair has its own weight; a draw from the others stands for many pairs
    speed = jnp.where(closed, 0, drawn).sum() / jnp.where(closed, 0, rate).sum()
    own = mass / supply
    weight = jnp.where(closed, own, mass * (left / supply) / (speed * rate))
    weight = jnp.where(known, own[size], weight[size])
    design = jnp.where(side, 1, -1).astype(gaps.dtype)
    fit = efficient_least_squares(design, gaps, jnp.where(live, weight, 0), total)
    error = jackknife_error(
        fit, drawn_now & ~closed[size], 1 - (drawn / jnp.maximum(left, 1))[size]
    )
    return Estimate(fit.values, jnp.where(closed.all(), 0, error))
