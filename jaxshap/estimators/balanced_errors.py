"""How large the errors of a balanced read-out are: its residuals, scaled by how rough games are.

Balance makes the errors of pairs cancel in the values, as far as games are smooth, and sums of
squares do not show it. So the sum of squares is calibrated for a mixture of the smooth random game
of `balanced_kernel` and of white noise. Two sums of squares, one of them dominated by what no other
pair explains, tell how much noise there is; all strata of a game, with plans of their own, tell it
together. Where they tell little, half of the sum counts as noise, within what a share can be.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.balanced_kernel import noise_variance
from jaxshap.games import array_library

PRIOR_INFORMATION = 12.0  # on the share of noise, of a share anywhere between 0 and 1
NUM_RULE_ENTRIES = 7


Number = Float[Array | np.ndarray, ""]


class Rule(NamedTuple):
    """What the sums of squares are expected to be, from the pairs alone.

    With covariances K of the smooth game and W of noise, and with Q the precision of what an
    additive game leaves: tr QK, tr QW and tr QWQW; then the error of the values and the sum of
    squares that estimates it, for both in units in which they have the same rᵀQr.
    """

    smooth: Number
    crossed: Number
    noise: Number
    smooth_error: Number
    noise_error: Number
    smooth_sum: Number
    noise_sum: Number


def rule_of(
    sides: Bool[np.ndarray, "p n"],
    linear: Float[np.ndarray, "p n"],
    precision: Float[np.ndarray, "p p"],
    variance: Float[np.ndarray, "p"],
    smooth_error: float,
) -> Float[np.ndarray, "7"]:
    """The entries of the `Rule` for at least n pairs, given the error in the smooth game."""
    num_pairs, num_players = sides.shape
    tilt = 2 * sides.mean(1) - 1  # W = 1 + tilt tiltᵀ: what {∅, N} adds to every gap
    shifted = precision @ tilt
    squares = (precision**2).sum(1) + shifted**2  # diagonal of QWQ
    weights = (linear**2).sum(1)
    smooth, crossed = num_pairs - num_players + 1, np.trace(precision) + tilt @ shifted
    noise = (precision**2).sum() + 2 * (shifted**2).sum() + (tilt @ shifted) ** 2
    noise_error = weights.sum() + ((linear.T @ tilt) ** 2).sum() - noise_variance(num_players)
    entries = (
        smooth,
        crossed,
        noise,
        smooth_error / smooth,
        max(noise_error, 0) / crossed,
        weights @ variance / smooth,
        weights @ (variance**2 * squares) / crossed,
    )
    return np.array(entries, float)


def fixed_rule() -> Float[np.ndarray, "7"]:
    """The rule of sums of squares that are right as they are."""
    return np.ones(NUM_RULE_ENTRIES)


def sums_of_squares(
    residuals: Float[Array | np.ndarray, "p out"],
    whitened: Float[Array | np.ndarray, "p out"],
    tilt: Float[Array | np.ndarray, "p 1"],
) -> Float[Array | np.ndarray, "2 out"]:
    """rᵀQr and rᵀQWQr of residuals r, with Qr given."""
    noise = (whitened**2).sum(0) + (tilt * whitened).sum(0) ** 2
    return array_library(residuals).stack([(residuals * whitened).sum(0), noise])


def calibration(
    entries: Float[Array | np.ndarray, "7"], seen: Float[Array | np.ndarray, "strata 2 out"]
) -> Float[Array | np.ndarray, "out"]:
    """Expected squared error over the expected sum of squares, for each output.

    Strata count as independent, in proportion to their sums of squares.
    """
    xp: Any = array_library(seen)
    rule = Rule(*entries)
    each, noisy = seen[:, 0], seen[:, 1].sum(0)
    whole = each.sum(0)
    seen_any = whole > 0
    strata = xp.where(seen_any, whole**2 / xp.where(seen_any, (each**2).sum(0), 1), 0)
    ratio = xp.where(seen_any, noisy / xp.where(seen_any, whole, 1), 0)
    weight = strata * rule.smooth / (2 * rule.crossed)
    told = weight * (rule.smooth * ratio - rule.crossed)
    spread = xp.maximum(rule.smooth * rule.noise - rule.crossed**2, 0)
    information = weight * spread / rule.crossed + PRIOR_INFORMATION
    share = xp.clip((told + PRIOR_INFORMATION / 2) / information, 0, 1)
    error = rule.smooth_error * (1 - share) + rule.noise_error * share
    return error / (rule.smooth_sum * (1 - share) + rule.noise_sum * share)
