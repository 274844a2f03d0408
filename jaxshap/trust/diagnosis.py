"""Diagnosis: what an explanation leaves out and how far to believe it, as a record and in words."""

import dataclasses
from typing import Literal, NamedTuple

import numpy as np

from jaxshap.trust.additivity import Additivity
from jaxshap.trust.intervals import quantile
from jaxshap.trust.off_manifold import OffManifold
from jaxshap.trust.rankings import Stability
from jaxshap.trust.redundancy import Dilution

MIN_PAIR_SHARE = 0.02  # of the strongest pair, below which a pair is not mentioned
Topic = Literal["additivity", "pairs", "ranking", "off-manifold", "dilution"]
HEADINGS: dict[Topic, str] = {
    "pairs": "Strongest pairs (root mean square)",
    "ranking": "Ranking",
    "off-manifold": "Off-manifold",
    "dilution": "Diluted",
}


class Finding(NamedTuple):
    """One finding of a diagnosis, in words.

    Attributes:
        topic: "additivity", "pairs", "ranking", "off-manifold" or "dilution".
        verdict: the finding in a word or a number, such as "pairwise" or "12 %".
        text: the finding in a sentence, without the verdict or a heading.

    Example:
        >>> import jaxshap
        >>> def product(x):
        ...     return x[:, 0] * x[:, 1] + x[:, 2]
        >>> explained = jaxshap.explain(product, [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]])
        >>> [(finding.topic, finding.verdict) for finding in explained.diagnose().findings()]
        [('additivity', 'pairwise'), ('pairs', 'x0 × x1'), ('ranking', '1 of 1')]
    """

    topic: Topic
    verdict: str
    text: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What `Explanation.diagnose` returns; it prints as a few lines, the verdict first.

    Programs read the fields; `findings` holds the same in words, for people.

    Attributes:
        additivity: how much of the game the values explain, alone and with pairs.
        stability: how certain the ranking of the values is.
        off_manifold: how many of the evaluated points lie outside of the data; None without a
            background table of 20 rows or more, or where values are missing.
        diluted: features that share their credit with others; None without such a background.
        feature_names: the names of the features.
        num_evaluations: how many coalitions the diagnosis evaluated.

    Example:
        >>> import jaxshap
        >>> def product(x):
        ...     return x[:, 0] * x[:, 1] + x[:, 2]
        >>> explained = jaxshap.explain(product, [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]])
        >>> diagnosis = explained.diagnose(budget=100)
        >>> diagnosis.additivity.verdict, diagnosis.stability.certain.tolist()
        ('pairwise', [True])
        >>> print(diagnosis.off_manifold)
        None
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
        finding = self._additivity()
        return f"{finding.verdict}: {finding.text}"

    def findings(self) -> list[Finding]:
        """All findings in words, the verdict on additivity first.

        Returns:
            A finding each on additivity, on the strongest pairs unless the game is additive, on
            the ranking and on off-manifold points where measured, and one per group of diluted
            features.
        """
        findings = [self._additivity(), self._ranking()]
        if self.additivity.verdict != "additive":
            findings.insert(1, self._pairs())
        if self.off_manifold is not None:
            findings.append(self._off_manifold(self.off_manifold))
        for group in self.diluted or []:
            findings.append(Finding("dilution", " and ".join(group.features), str(group)))
        return findings

    def __repr__(self) -> str:
        _, *others = self.findings()
        lines = (f"{HEADINGS[finding.topic]}: {finding.text}" for finding in others)
        asked = f"Judged by {self.num_evaluations:,} coalitions that were evaluated anew."
        if self.additivity.additive.overall_error > 0:
            asked += " Every ± is half of a 95 % interval."
        return "\n".join([self.verdict, *lines, asked])

    def _additivity(self) -> Finding:
        measured = self.additivity
        text = (
            f"values explain {measured.additive} of how the output varies over coalitions, with "
            f"pairs {measured.pairwise} ({measured.meaning})."
        )
        return Finding("additivity", measured.verdict, text)

    def _pairs(self) -> Finding:
        interactions = self.additivity.interactions
        reach = quantile(0.95, interactions.degrees)
        values, errors = (np.asarray(field) for field in interactions[:2])
        errors = reach * errors
        axes = tuple(range(1, values.ndim))
        sizes, spreads = np.sqrt((values**2).mean(axes)), np.sqrt((errors**2).mean(axes))
        names = [" × ".join(self.feature_names[i] for i in pair) for pair in self.additivity.pairs]
        mentioned = [
            f"{name} {size:.3g}" + (f" ± {spread:.1g}" if spread > 0 else "")
            for name, size, spread in zip(names, sizes, spreads, strict=True)
            if size > MIN_PAIR_SHARE * sizes[0]
        ]
        return Finding("pairs", names[0], ", ".join(mentioned) + ".")

    def _ranking(self) -> Finding:
        ranking = self.stability
        cases = f"{int(ranking.certain.sum()):,} of {ranking.certain.size:,}"
        text = (
            f"the top {ranking.top} are certain at {_percent(ranking.level)} in {cases} cases; "
            f"another key would find {_percent(ranking.order.mean())} of the order and "
            f"{_percent(ranking.signs.mean())} of the signs."
        )
        return Finding("ranking", cases, text)

    def _off_manifold(self, outside: OffManifold) -> Finding:
        shares = outside.by_feature.mean(0)
        worst = int(shares.argmax())
        text = (
            f"{_percent(outside.overall)} of the points asked about lie outside of the data (of "
            f"new data {_percent(outside.expected)} would), most of all for "
            f"{self.feature_names[worst]} ({_percent(shares[worst])} of its gains)."
        )
        if outside.overall > 2 * outside.expected:
            text += " See what value=jaxshap.manifold says."
        return Finding("off-manifold", _percent(outside.overall), text)


def _percent(share: float | np.floating) -> str:
    return f"{100 * share:.3g} %"
