"""The best fit by pairs of players to the even part of a game, by ridge regression.

Besides the Shapley values, the best fit with pairs only needs 1{one of i and j in S}: it is the
same for S and N∖S, where the additive part has opposite signs. Its coefficients are −½ of the
faithful interactions (FSII).
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.estimators import Estimate, stated
from jaxshap.trust.pair_samples import PairSample

PENALTIES = 10.0 ** np.arange(-8, 1)  # as shares of the mean eigenvalue
MIN_EIGENVALUE = 1e-10  # relative to the largest; below it a direction is rounding error


class PairFit(NamedTuple):
    """Errors of predicting each pair of coalitions from all other pairs, and the dual weights.

    The interactions are linear in the dual weights, and `weights = root @ root.T @ even`.
    """

    left_out: Float[np.ndarray, "m outputs"]
    weights: Float[np.ndarray, "m outputs"]
    root: Float[np.ndarray, "m rank"]


def fit_pairs(
    sample: PairSample,
    even: Float[np.ndarray, "m outputs"],
    variation: Float[np.ndarray, "m outputs"],
) -> PairFit:
    """The fit to `even`, with the penalty whose left-out predictions are best.

    Outputs count in units of their `variation`. Where the sample holds every pair there is no
    noise to guard against, and the penalty is the least.
    """
    root = np.sqrt(sample.shares)[:, None]
    vectors, spectrum = _spectrum(sample.sides, root)
    target = root * even
    coordinates = vectors.T @ target
    scale = np.maximum(sample.shares @ variation, np.finfo(float).tiny)
    best = None
    for penalty in PENALTIES * spectrum.mean():
        kept = spectrum / (spectrum + penalty)
        residuals = (target - vectors @ (kept[:, None] * coordinates)) / root
        if sample.counts is None:
            best = 0.0, residuals, penalty
            break
        leverage = (vectors**2) @ kept
        left_out = residuals / np.maximum(1 - leverage, 1e-9)[:, None]
        score = float((sample.shares @ left_out**2 / scale).sum())
        if best is None or score < best[0]:
            best = score, left_out, penalty
    assert best is not None
    _, left_out, penalty = best
    narrow = root * vectors / np.sqrt(spectrum + penalty)
    return PairFit(left_out, narrow @ (narrow.T @ even), narrow)


def strongest_pairs(
    sample: PairSample, fit: PairFit, most: int, shape: tuple[int, ...]
) -> tuple[Int[np.ndarray, "k 2"], Estimate]:
    """The `most` pairs of players with the largest interactions over all outputs.

    Their standard errors follow from the errors of the left-out predictions.
    """
    first, second = np.triu_indices(sample.sides.shape[1], 1)
    signs = np.where(sample.sides, 1.0, -1.0)
    total = fit.weights.sum(0)
    strength = np.zeros(len(first))
    for output in range(fit.weights.shape[1]):
        products = signs.T @ (fit.weights[:, output, None] * signs)
        strength += (total[output] - products[first, second]) ** 2
    chosen = np.argsort(-strength, kind="stable")[:most]
    pairs = np.stack([first[chosen], second[chosen]], axis=1)
    apart = (sample.sides[:, pairs[:, 0]] ^ sample.sides[:, pairs[:, 1]]).astype(float)
    values = -2 * apart.T @ fit.weights
    errors, exact = np.zeros_like(values), sample.counts is None
    if not exact:
        by_prediction = -2 * (apart.T @ fit.root) @ fit.root.T  # (k, m)
        errors = np.sqrt(by_prediction**2 @ fit.left_out**2)
    shape = (len(chosen), *shape)
    arrays = (jnp.asarray(array.reshape(shape)) for array in (values, errors))
    return pairs, stated(*arrays, exact=exact)


def _spectrum(
    sides: Bool[np.ndarray, "m n"], root: Float[np.ndarray, "m 1"]
) -> tuple[Float[np.ndarray, "m rank"], Float[np.ndarray, "rank"]]:
    """Left singular vectors and squared singular values of √share · 1{one of i and j in S}."""
    number = sides.shape[1]
    first, second = np.triu_indices(number, 1)
    if len(first) <= len(sides):
        features = root * (sides[:, first] ^ sides[:, second])
        spectrum, right = np.linalg.eigh(features.T @ features)
        kept = spectrum > MIN_EIGENVALUE * spectrum[-1]
        return features @ right[:, kept] / np.sqrt(spectrum[kept]), spectrum[kept]
    # With signs s_i the features are (1 − s_i s_j) / 2, whose products need no features.
    signs = np.where(sides, 1.0, -1.0)
    squares = signs.sum(1) ** 2
    products = (number**2 - squares[:, None] - squares + (signs @ signs.T) ** 2) / 8
    spectrum, vectors = np.linalg.eigh(root * products * root.T)
    kept = spectrum > MIN_EIGENVALUE * spectrum[-1]
    return vectors[:, kept], spectrum[kept]
