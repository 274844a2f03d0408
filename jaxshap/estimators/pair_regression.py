"""Regression on pairs {S, N∖S} that came in at known rates: the best additive game, with errors."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.least_squares import efficient_least_squares, jackknife_error
from jaxshap.estimators.protocol import Estimate
from jaxshap.estimators.stating import stated
from jaxshap.games import kernel_mass, num_pairs


def pair_mass(num_players: int) -> Float[np.ndarray, "{num_players}//2"]:
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
    """Values with Σφ = total that best fit the gaps v(S) − v(N∖S) under the Shapley kernel.

    With Σφ given, only the gap of a pair matters, so each pair is one row. `rates` say how fast
    pairs with a smaller side of size 1..⌊n/2⌋ came in. `known` pairs, chosen beforehand, represent
    themselves; the remaining ones are draws, and represent all pairs that are not known. Errors are
    jackknifed: exact if no pair is left to draw, unknown with fewer than two draws.
    """
    num_players = side.shape[1]
    known = jnp.zeros_like(live) if known is None else known & live
    is_draw = live & ~known
    size = jnp.minimum(side.sum(1), (~side).sum(1)) - 1
    mass = jnp.asarray(pair_mass(num_players), gaps.dtype)
    supply = jnp.asarray(num_pairs(num_players), gaps.dtype)
    rate = jnp.asarray(np.where(np.isinf(rates), 1, rates), gaps.dtype)
    drawn, num_known = (
        jnp.zeros_like(mass).at[size].add(rows.astype(mass.dtype)) for rows in (is_draw, known)
    )
    left = supply - num_known
    enumerated = drawn == left  # a pair then has its own weight; otherwise a draw represents many
    speed = jnp.where(enumerated, 0, drawn).sum() / jnp.where(enumerated, 0, rate).sum()
    own = mass / supply
    weight = jnp.where(enumerated, own, mass * (left / supply) / (speed * rate))
    weight = jnp.where(known, own[size], weight[size])
    design = jnp.where(side, 1, -1).astype(gaps.dtype)
    fit = efficient_least_squares(design, gaps, jnp.where(live, weight, 0), total)
    unseen = 1 - (drawn / jnp.maximum(left, 1))[size]
    counted = is_draw & ~enumerated[size]
    error = jackknife_error(fit, counted, unseen)
    spare = jnp.minimum(counted.sum() - 1, live.sum() - (num_players - 1))
    return stated(fit.values, error, degrees=jnp.maximum(spare, 1), exact=enumerated.all())
