"""How far a game is from additive: what its Shapley values explain of it, and what pairs add.

The measure is the Shapley kernel's: coalitions S of size s with weight ∝ 1 / (C(n, s) s (n − s)),
so that the Shapley values are the best additive fit.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxshap.estimators import Estimate
from jaxshap.trust.intervals import quantile
from jaxshap.trust.pair_fit import fit_pairs, strongest_pairs
from jaxshap.trust.pair_samples import PairSample

EXPLAINED_SHARE = 0.95  # of the variance, from which on it counts as explained
Verdict = Literal["additive", "pairwise", "beyond"]
MEANINGS: dict[Verdict, str] = {
    "additive": "the values tell nearly all there is",
    "pairwise": "the values alone mislead; interactions of two features tell the rest",
    "beyond": "features interact in threes or more; no list of values tells it",
}


class Share(NamedTuple):
    """A share of a game's variance over coalitions, per output and over all outputs together.

    It is below 0 where the values explain less than the mean worth does. It prints as a
    percentage with its 95 % interval.

    Attributes:
        values: the share per output.
        std_error: their standard errors, 0 where every coalition was evaluated.
        overall: the share over all outputs together.
        overall_error: its standard error.

    Example:
        >>> import jaxshap
        >>> def product(x):
        ...     return x[:, 0] * x[:, 1]
        >>> explained = jaxshap.explain(product, [[1.0, 1.0]], [[0.0, 0.0]])
        >>> print(explained.diagnose().additivity.pairwise)
        100.0 %
    """

    values: Float[np.ndarray, "*out"]
    std_error: Float[np.ndarray, "*out"]
    overall: float
    overall_error: float

    def __str__(self) -> str:
        half = f"{100 * quantile(0.95, np.inf) * self.overall_error:.1f}"
        return f"{100 * self.overall:.1f}{f' ± {half}' if half != '0.0' else ''} %"


class Additivity(NamedTuple):
    """How much of a game the Shapley values explain, alone and together with pairs of players.

    Attributes:
        additive: the share of the variance that the values explain.
        pairwise: the share that values and pairs explain together.
        pairs: the players of the strongest pairs, strongest first.
        interactions: the faithful interactions (FSII) of these pairs, of shape (pairs, *out).

    Example:
        >>> import jaxshap
        >>> def product(x):
        ...     return x[:, 0] * x[:, 1] + x[:, 2]
        >>> explained = jaxshap.explain(product, [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]])
        >>> additivity = explained.diagnose().additivity
        >>> additivity.verdict, additivity.pairs[0].tolist()
        ('pairwise', [0, 1])
    """

    additive: Share
    pairwise: Share
    pairs: Int[np.ndarray, "k 2"]
    interactions: Estimate

    @property
    def verdict(self) -> Verdict:
        """One word: additive, pairwise or beyond, by which share reaches 95 %."""
        if self.additive.overall >= EXPLAINED_SHARE:
            return "additive"
        return "pairwise" if self.pairwise.overall >= EXPLAINED_SHARE else "beyond"

    @property
    def meaning(self) -> str:
        """What the verdict means for a reader of the values."""
        return MEANINGS[self.verdict]


def measure_additivity(
    sample: PairSample,
    worths: Float[np.ndarray, "coalitions *out"],
    empty: Float[np.ndarray, "*out"],
    values: Estimate,
    most_pairs: int = 5,
) -> Additivity:
    """From the worths of a sample's coalitions and the values (n, *out) of the same game.

    What the standard errors of the values account for does not count as unexplained. The pairs are
    fitted by ridge regression, and each pair {S, N∖S} of a sample is predicted from all other
    pairs, so that noise is not explained.
    """
    shape, num_players = np.shape(empty), sample.sides.shape[1]
    gains = np.asarray(worths, np.float64).reshape(len(sample.sides), 2, -1)
    gains = gains - np.asarray(empty, np.float64).reshape(-1)
    phi, error = (np.asarray(field, np.float64).reshape(num_players, -1) for field in values[:2])
    residuals = gains - np.stack([sample.sides @ phi, ~sample.sides @ phi], axis=1)
    even, odd = residuals.mean(1), (residuals[:, 0] - residuals[:, 1]) / 2
    mean = np.einsum("m,mko->o", sample.shares, gains) / 2
    variation = ((gains - mean) ** 2).mean(1)
    harmonic = (1 / np.arange(1, num_players)).sum()
    # E[(Σ_{i∈S} error_i)²] of errors that sum to 0
    noise = np.nan_to_num(error**2).sum(0) / (2 * harmonic)
    fit = fit_pairs(sample, even, variation)
    pairs, interactions = strongest_pairs(sample, fit, most_pairs, shape)
    return Additivity(
        _share(sample, even**2 + odd**2, variation, noise, shape),
        _share(sample, fit.left_out**2 + odd**2, variation, noise, shape),
        pairs,
        interactions,
    )


def _share(
    sample: PairSample,
    unexplained: Float[np.ndarray, "m outputs"],
    variation: Float[np.ndarray, "m outputs"],
    noise: Float[np.ndarray, "outputs"],
    shape: tuple[int, ...],
) -> Share:
    """1 − (unexplained − noise) / variation, per output and over all of them."""
    values, errors = _explained(sample, unexplained, variation, noise)
    totals = (array.sum(-1, keepdims=True) for array in (unexplained, variation, noise))
    overall, overall_error = _explained(sample, *totals)
    return Share(values.reshape(shape), errors.reshape(shape), overall.item(), overall_error.item())


def _explained(
    sample: PairSample,
    unexplained: Float[np.ndarray, "m outputs"],
    variation: Float[np.ndarray, "m outputs"],
    noise: Float[np.ndarray, "outputs"],
) -> tuple[Float[np.ndarray, "outputs"], Float[np.ndarray, "outputs"]]:
    """One minus a ratio of two means over draws, and its error by the delta method."""
    mean = sample.shares @ variation
    scale = np.where(mean > 0, mean, 1)
    ratio = np.where(mean > 0, (sample.shares @ unexplained - noise) / scale, 0)
    if sample.counts is None:
        return 1 - ratio, np.zeros_like(ratio)
    spread = sample.shares @ ((unexplained - noise - ratio * variation) / scale) ** 2
    return 1 - ratio, np.sqrt(spread / sample.counts.sum())
