"""Diagnosis: what an explanation leaves out and how far to believe it, in a few lines."""

import dataclasses

import numpy as np

from jaxshap.trust.additivity import Additivity
from jaxshap.trust.off_manifold import OffManifold
from jaxshap.trust.rankings import Stability
from jaxshap.trust.redundancy import Dilution

WEAK = 0.02  # of the strongest pair, below which a pair is not worth a mention
MEANING = {
    "additive": "the values tell nearly all there is",
    "pairwise": "the values alone mislead; interactions of two features tell the rest",
    "beyond": "features interact in threes or more; no list of values tells it",
}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """All that `Explanation.diagnose` found; prints as a few lines, the verdict first.

    `off_manifold` and `diluted` are None without a table of a background, of 20 rows or more, to
    compare with; `off_manifold` also where values are missing.

    Example:
        >>> import jaxshap
        >>> explained = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]])
        >>> found = explained.diagnose(budget=100)
        >>> found.additivity.verdict, found.stability.certain.tolist(), found.off_manifold
        ('pairwise', [True], None)
    """

    additivity: Additivity
    stability: Stability
    off_manifold: OffManifold | None
    diluted: list[Dilution] | None
    feature_names: tuple[str, ...]
    num_evaluations: int

    @property
    def verdict(self) -> str:
        """One line: additive, pairwise or beyond, with the shares that say so."""
        word, found = self.additivity.verdict, self.additivity
        return (
            f"{word}: values explain {found.additive} of how the output varies over coalitions, with pairs "
            f"{found.pairwise} ({MEANING[word]})."
        )

    def __repr__(self) -> str:
        lines = [self.verdict, *self._pairs(), self._ranking()]
        if self.off_manifold is not None:
            lines.append(self._outside(self.off_manifold))
        lines += [f"Diluted: {one}" for one in self.diluted or []]
        return "\n".join(lines)

    def _pairs(self) -> list[str]:
        if self.additivity.verdict == "additive":
            return []
        values, errors = (np.asarray(part) for part in self.additivity.interactions)
        axes = tuple(range(1, values.ndim))
        sizes, errors = np.sqrt((values**2).mean(axes)), np.sqrt((errors**2).mean(axes))
        names = [" × ".join(self.feature_names[i] for i in pair) for pair in self.additivity.pairs]
        found = [
            item for item in zip(names, sizes, errors, strict=True) if item[1] > WEAK * sizes[0]
        ]
        parts = [f"{name} {size:.3g} ± {error:.1g}" for name, size, error in found]
        return ["Strongest pairs (root mean square): " + ", ".join(parts) + "."]

    def _ranking(self) -> str:
        found = self.stability
        return (
            f"Ranking: the top {found.top} are certain at {_percent(found.level)} in {int(found.certain.sum()):,} of "
            f"{found.certain.size:,} cases; another key would find {_percent(found.order.mean())} of the order and "
            f"{_percent(found.signs.mean())} of the signs."
        )

    def _outside(self, found: OffManifold) -> str:
        shares = found.by_feature.mean(0)
        worst = int(shares.argmax())
        advice = (
            " See what value=jaxshap.manifold says." if found.overall > 2 * found.expected else ""
        )
        return (
            f"Off-manifold: {_percent(found.overall)} of the points asked about lie outside of the data (of new data "
            f"{_percent(found.expected)} would), most of all for {self.feature_names[worst]} "
            f"({_percent(shares[worst])} of its gains).{advice}"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
