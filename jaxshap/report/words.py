"""What a report says in words, made from the fields of an explanation and its diagnosis."""

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.explaining import Explanation, caution, plural
from jaxshap.trust import Diagnosis, Dilution, Stability

MAX_COMPARED_PAIRS = 2_000_000  # pairs of features over all rows whose order is judged
MAX_LISTED_SETS = 8
READINGS = {
    "additive": "nearly additive",
    "pairwise": "not additive",
    "beyond": "far from additive",
}


class Card(NamedTuple):
    """One diagnostic of the page; several lines of text make a wide card."""

    heading: str
    headline: str
    text: str
    meaning: str = ""


def lead(explanation: Explanation, diagnosis: Diagnosis | None) -> str:
    """The first sentences: what the page shows, and what the diagnosis makes of it."""
    precision = "exact" if explanation.exact else "with standard errors"
    kind = explanation.value_function
    opening = f"{size_of(explanation)}: {kind} {plural(explanation.kind)}, {precision}."
    note = caution(explanation)
    opening = opening if note is None else f"{opening} {note}"
    if diagnosis is None:
        return opening
    additivity = diagnosis.additivity
    reading = READINGS[additivity.verdict]
    return f"{opening} The model is {reading} here: {additivity.meaning}."


def size_of(explanation: Explanation) -> str:
    """Rows × features × outputs."""
    rows, features, *outputs = explanation.values.shape
    count = f"{rows:,} row{'s' * (rows > 1)} × {features:,} feature{'s' * (features > 1)}"
    return count + "".join(f" × {number} output{'s' * (number > 1)}" for number in outputs)


def facts_of(explanation: Explanation, packages: Sequence[str] = ()) -> dict[str, str]:
    """What was explained and how, by the explanation itself."""
    kind = explanation.value_function
    meaning = explanation.absent
    if explanation.exact:
        precision = "exact, without sampling"
    elif np.isnan(explanation.std_error).any():
        precision = "sampled; some standard errors are unknown"
    else:
        precision = "sampled; every value has a standard error"
    evaluations = "none: read from the trees themselves"
    if explanation.num_evaluations:
        evaluations = f"{explanation.num_evaluations:,} coalitions, each for all rows"
    return {
        "Explained": size_of(explanation),
        "Value function": kind + (f": {meaning}." if meaning else ""),
        "Estimator": f"{explanation.estimator} ({precision})",
        "Evaluations": evaluations,
        "Versions": versions("numpy", *packages),
    }


def versions(*packages: str) -> str:
    """The versions of jaxshap, JAX and Python, and of these packages where they are installed."""
    known = []
    for name in ("jaxshap", "jax", *packages):
        try:
            known.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join([*known, f"Python {platform.python_version()}"])


def diagnostics(
    explanation: Explanation, diagnosis: Diagnosis | None, undiagnosed: str
) -> list[Card]:
    """The cards of the diagnosis, each with one sentence on what it means."""
    sets = [] if explanation.interactions is None else [_interactions(explanation)]
    if diagnosis is not None:
        texts = {finding.topic: finding.text for finding in diagnosis.findings()}
        cards = [
            _additivity(diagnosis, texts),
            _ranking(explanation, diagnosis.stability),
            _off_manifold(diagnosis, texts),
        ]
        return cards + ([_dilution(diagnosis.diluted)] if diagnosis.diluted else []) + sets
    missing = Card("Additivity and off-manifold share", "not measured", undiagnosed)
    if len(explanation.feature_names) == 1:
        return [missing]
    return [missing, _ranking(explanation, _stability(explanation)), *sets]


def _interactions(explanation: Explanation) -> Card:
    """The strongest sets of two players and more, one line each, over all rows and outputs."""
    found: Any = explanation.interactions
    several = found.members.sum(1) > 1
    sizes, errors = (
        np.sqrt((np.asarray(field)[several].reshape(several.sum(), -1) ** 2).mean(1))
        for field in (found.values, found.std_error)
    )
    sets = [players for players in found.sets if len(players) > 1]
    lines = [
        f"{' × '.join(explanation.feature_names[player] for player in sets[place])}: "
        f"{sizes[place]:.3g} (standard error {errors[place]:.2g})"
        for place in np.argsort(-sizes)[:MAX_LISTED_SETS]
    ]
    meaning = (
        "Root mean squares over rows of what features do together beyond what fewer of them do: "
        f"the index {found.index}, of up to {found.order} features."
    )
    if found.searched is not None:
        tried = found.searched
        meaning += (
            f" A search for the strongest of many chose from {tried.pairs:,} pairs, "
            f"{tried.threes:,} sets of three and {tried.fours:,} of four, and could have missed "
            f"{tried.could_have_missed}."
        )
    count = f"{len(sets):,} set{'s' * (len(sets) > 1)}, the strongest first"
    return Card("Interactions", count, "\n".join(lines), meaning)


def _additivity(diagnosis: Diagnosis, texts: Mapping[str, str]) -> Card:
    sentence = texts["additivity"]
    text = f"{sentence[0].upper()}{sentence[1:]}"
    if "pairs" in texts:
        text += f" Strongest pairs (root mean square): {texts['pairs']}"
    meaning = (
        "Shapley values add up; this asks how much of what the model does to subsets of features a "
        "sum can say."
    )
    return Card("Additivity", diagnosis.additivity.verdict, text, meaning)


def _off_manifold(diagnosis: Diagnosis, texts: Mapping[str, str]) -> Card:
    heading = "Off-manifold share"
    if diagnosis.off_manifold is None:
        text = (
            "It needs a background table of 20 rows or more to compare with, and no missing values."
        )
        return Card(heading, "not measured", text)
    share = f"{diagnosis.off_manifold.overall:.1%}"
    meaning = (
        "There the model was asked about combinations of values it may never have seen, and "
        "guesses."
    )
    return Card(heading, share, texts["off-manifold"], meaning)


def _dilution(groups: Sequence[Dilution]) -> Card:
    """All groups in one card, one line each."""
    lines = [
        f"{', '.join(group.features)} (rank correlation ≥ {group.dependence:.2f}): alone the "
        f"strongest has {group.alone:.3g} (rank {group.rank_alone}), as one player "
        f"{group.together:.3g} (rank {group.rank_together})."
        for group in groups
    ]
    meaning = (
        "Features that tell the same thing share their credit, and each looks weaker than what it "
        "tells: explain them as one player (groups= in Python)."
    )
    count = f"{len(groups)} group{'s' * (len(groups) > 1)}"
    return Card("Diluted features", count, "\n".join(lines), meaning)


def _stability(explanation: Explanation) -> Stability:
    """The stability of as many rows as there is room for: every two features are compared."""
    _, number, *outputs = explanation.values.shape
    rows = max(1, MAX_COMPARED_PAIRS // int(np.prod([number**2, *outputs])))
    return explanation[:rows].stability(top=min(3, number - 1))


def _ranking(explanation: Explanation, stability: Stability) -> Card:
    if explanation.exact:
        text = (
            "The values are exact for this model and background: no sampling error can change "
            "their order or signs."
        )
        meaning = "Another background, or other training data, still can."
        return Card("Ranking", "certain", text, meaning)
    certain = stability.certain
    judged = "rows" if len(certain) == len(explanation) else f"the first {len(certain):,} rows"
    judged += " and outputs" * (certain.ndim > 1)
    text = (
        f"The {stability.top} largest values are certain at {stability.level:.0%} in "
        f"{int(certain.sum()):,} of {certain.size:,} cases ({judged}); another random key would "
        f"find {stability.order.mean():.1%} of the order and {stability.signs.mean():.1%} of the "
        "signs."
    )
    meaning = "Where it is not certain, which feature comes first may be sampling error."
    return Card("Ranking", f"certain in {certain.mean():.0%} of cases", text, meaning)
