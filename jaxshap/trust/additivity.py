"""How far a game is from additive: what its Shapley values explain of it, and what pairs of players
add to that.

The measure is the Shapley kernel's: coalitions S of size s with weight ∝ 1 / (C(n, s) s (n − s)),
so that the Shapley values are the best additive fit. Beside them, the best fit with pairs only
needs 1{one of i and j in S}: it is the same for S and N∖S, where the additive part has opposite
signs. Its coefficients are −½ of the faithful interactions (FSII).
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Estimate
from jaxshap.games import all_coalitions, draw_independent, kernel_mass, log_binomial

ENOUGH = 0.95  # of the variance, to be called explained
PENALTIES = 10.0 ** np.arange(-8, 1)  # as shares of the mean eigenvalue


class PairSample(NamedTuple):
    """One side of each distinct pair {S, N∖S}, its share of the whole, and how often it was drawn.

    No counts where these are all there are. `coalitions` are both sides, in turn.
    """

    sides: Bool[np.ndarray, "m n"]
    shares: Float[np.ndarray, "m"]
    counts: Int[np.ndarray, "m"] | None

    @property
    def coalitions(self) -> Bool[np.ndarray, "2*m n"]:
        return np.stack([self.sides, ~self.sides], axis=1).reshape(-1, self.sides.shape[1])


class Share(NamedTuple):
    """A share of a game's variance for every output, over all of them together, and their standard
    errors.

    It is below 0 where the values explain less than the mean worth does.
    """

    values: Float[np.ndarray, "*out"]
    std_error: Float[np.ndarray, "*out"]
    overall: float
    overall_error: float

    def __str__(self) -> str:
        error = f" ± {100 * self.overall_error:.1g}" if self.overall_error > 1e-4 else ""
        return f"{100 * self.overall:.1f}{error} %"


class Additivity(NamedTuple):
    """What the values explain of a game, what they do together with pairs, and the strongest of
    these.
    """

    additive: Share
    pairwise: Share
    pairs: Int[np.ndarray, "k 2"]
    interactions: Estimate  # (k, *out)

    @property
    def verdict(self) -> str:
        """One word: additive, pairwise or beyond."""
        if self.additive.overall >= ENOUGH:
            return "additive"
        return "pairwise" if self.pairwise.overall >= ENOUGH else "beyond"


def sample_pairs(key: Key[Array, ""], num_players: int, budget: int) -> PairSample:
    """All pairs where the budget allows it, else independent draws by the Shapley kernel."""
    if num_players < 2:
        raise InputError("a game of one player is additive: there is nothing to measure.")
    if 2**num_players - 2 <= budget:
        sides = np.asarray(
            all_coalitions(num_players)[1 : 2 ** (num_players - 1)]
        )  # those without the last player
        sizes = sides.sum(1)
        shares = kernel_mass(num_players)[sizes - 1] * np.exp(-log_binomial(num_players, sizes))
        return PairSample(sides, shares / shares.sum(), None)
    if budget < 16:
        raise BudgetError(
            f"budget={budget} buys {budget // 2} pairs of coalitions: pass 16 or more."
        )
    drawn = np.asarray(draw_independent(key, num_players, budget // 2, kernel_mass(num_players)))
    sides, counts = np.unique(drawn ^ drawn[:, -1:], axis=0, return_counts=True)
    return PairSample(sides, counts / counts.sum(), counts)


def measure_additivity(
    sample: PairSample,
    worths: Float[np.ndarray, "2*m *out"],
    empty: Float[np.ndarray, "*out"],
    values: Estimate,
    most_pairs: int = 5,
) -> Additivity:
    """From the worths of a sample's coalitions and the values of the same game, (n, *out).

    What is unexplained by the values counts less what their own standard errors account for. The
    pairs are fitted by ridge regression, and a pair {S, N∖S} of a sample is predicted from the
    others, so that noise is not explained.
    """
    shape = np.shape(empty)
    worths = np.asarray(worths, np.float64).reshape(len(sample.sides), 2, -1)
    worths = worths - np.asarray(empty, np.float64).reshape(-1)
    phi, error = (
        np.asarray(part, np.float64).reshape(sample.sides.shape[1], -1) for part in values
    )
    additive = np.stack([sample.sides @ phi, ~sample.sides @ phi], axis=1)
    left = worths - additive
    even, odd = left.mean(1), (left[:, 0] - left[:, 1]) / 2
    mean = np.einsum("m,mko->o", sample.shares, worths) / 2
    variation = ((worths - mean) ** 2).mean(1)
    harmonic = (1 / np.arange(1, sample.sides.shape[1])).sum()
    noise = np.nan_to_num(error**2).sum(0) / (
        2 * harmonic
    )  # E[(Σ_{i∈S} error_i)²] of errors that add up to 0
    fit = _fit_pairs(sample, even, variation)
    chosen, interactions = _strongest(sample, fit, most_pairs, shape)
    return Additivity(
        _share(sample, even**2 + odd**2, variation, noise, shape),
        _share(sample, fit.left_out**2 + odd**2, variation, noise, shape),
        chosen,
        interactions,
    )


def _share(sample: PairSample, unexplained, variation, noise, shape) -> Share:
    """1 − unexplained / variation, a ratio of two means over draws; its error by the delta method."""

    def ratio(top, below, noise):
        top_mean, mean = sample.shares @ top - noise, sample.shares @ below
        safe = np.where(mean > 0, mean, 1)
        found = np.where(mean > 0, top_mean / safe, 0)
        if sample.counts is None:
            return 1 - found, np.zeros_like(found)
        spread = sample.shares @ ((top - noise - found * below) / safe) ** 2
        return 1 - found, np.sqrt(spread / sample.counts.sum())

    each, error = ratio(unexplained, variation, noise)
    overall, overall_error = ratio(unexplained.sum(1), variation.sum(1), noise.sum())
    return Share(each.reshape(shape), error.reshape(shape), float(overall), float(overall_error))


class _Fit(NamedTuple):
    """Prediction errors for each pair of coalitions, each left out in turn, and the map from worths
    to dual weights.
    """

    left_out: Float[np.ndarray, "m outputs"]
    weights: Float[np.ndarray, "m outputs"]
    root: Float[np.ndarray, "m rank"]  # weights = root @ root.T @ even


def _fit_pairs(sample: PairSample, even: Float[np.ndarray, "m outputs"], variation) -> _Fit:
    root = np.sqrt(sample.shares)[:, None]
    vectors, spectrum = _spectrum(sample.sides, root)
    target = root * even
    coordinates = vectors.T @ target
    scale = np.maximum(sample.shares @ variation, np.finfo(float).tiny)
    best = None
    for penalty in PENALTIES * spectrum.mean():
        kept = spectrum / (spectrum + penalty)
        inside = (target - vectors @ (kept[:, None] * coordinates)) / root
        leverage = (vectors**2) @ kept
        left_out = inside / np.maximum(1 - leverage, 1e-9)[:, None]
        if sample.counts is None:  # all there are: nothing to guard against
            best = 0.0, inside, penalty
            break
        score = float((sample.shares @ left_out**2 / scale).sum())
        if best is None or score < best[0]:
            best = score, left_out, penalty
    assert best is not None
    _, left_out, penalty = best
    narrow = root * vectors / np.sqrt(spectrum + penalty)
    return _Fit(left_out, narrow @ (narrow.T @ even), narrow)


def _spectrum(sides: Bool[np.ndarray, "m n"], root: Float[np.ndarray, "m 1"]):
    """Left singular vectors and squared singular values of √share · 1{one of i and j in S}, over
    all pairs i < j.
    """
    number = sides.shape[1]
    first, second = np.triu_indices(number, 1)
    if len(first) <= len(sides):
        features = root * (sides[:, first] ^ sides[:, second])
        spectrum, other = np.linalg.eigh(features.T @ features)
        kept = spectrum > 1e-10 * spectrum[-1]
        return features @ other[:, kept] / np.sqrt(spectrum[kept]), spectrum[kept]
    signs = np.where(
        sides, 1.0, -1.0
    )  # the features' products need no features: they are of (1 − s_i s_j) / 2
    own = signs.sum(1) ** 2
    products = (number**2 - own[:, None] - own + (signs @ signs.T) ** 2) / 8
    spectrum, vectors = np.linalg.eigh(root * products * root.T)
    kept = spectrum > 1e-10 * spectrum[-1]
    return vectors[:, kept], spectrum[kept]


def _strongest(
    sample: PairSample, fit: _Fit, most: int, shape
) -> tuple[Int[np.ndarray, "k 2"], Estimate]:
    """The pairs with the largest interactions over all outputs; errors from those of the
    predictions.
    """
    first, second = np.triu_indices(sample.sides.shape[1], 1)
    signs = np.where(sample.sides, 1.0, -1.0)
    total = fit.weights.sum(0)
    strength = np.zeros(len(first))
    for output in range(fit.weights.shape[1]):
        both = signs.T @ (fit.weights[:, output, None] * signs)
        strength += (total[output] - both[first, second]) ** 2
    chosen = np.argsort(-strength, kind="stable")[:most]
    apart = (sample.sides[:, first[chosen]] ^ sample.sides[:, second[chosen]]).astype(float)
    values = -2 * apart.T @ fit.weights
    reach = -2 * (apart.T @ fit.root) @ fit.root.T  # k, m
    error = np.zeros_like(values) if sample.counts is None else np.sqrt(reach**2 @ fit.left_out**2)
    shape = (len(chosen), *shape)
    pairs = np.stack([first[chosen], second[chosen]], axis=1)
    return pairs, Estimate(*(jax.numpy.asarray(part.reshape(shape)) for part in (values, error)))
