"""What a report says in words."""

import importlib.metadata
import platform
from collections.abc import Sequence

import numpy as np

from jaxshap.explaining import Explanation
from jaxshap.trust import Diagnosis, Dilution, Stability

ABSENT = {
    "marginal": "an absent feature takes its values from the background rows, whatever the other features are",
    "interventional": "an absent feature takes its values from the background rows, whatever the other features are",
    "path-dependent": "an absent feature follows the training counts in the trees, so two models with the same "
    "predictions can have different values",
    "baseline": "an absent feature has the value it has in one reference row",
    "conditional": "an absent feature is drawn given the features that are present",
    "manifold": "an absent feature comes from background rows with which the mixture looks like data",
}
MOST_COMPARED = 2_000_000  # pairs of features over all rows
READING = {"additive": "nearly additive", "pairwise": "not additive", "beyond": "far from additive"}


def lead(explanation: Explanation, diagnosis: Diagnosis | None) -> str:
    """The first sentences: what this is, and what the diagnosis makes of it."""
    exact = not explanation.std_error.any()
    how = "exact" if exact else "with standard errors"
    found = f"{size_of(explanation)}: {explanation.value_function} Shapley values, {how}."
    if diagnosis is None:
        return found
    word = diagnosis.additivity.verdict
    return f"{found} The model is {READING[word]} here: {diagnosis.additivity.meaning}."


def size_of(explanation: Explanation) -> str:
    rows, features, *outputs = explanation.values.shape
    count = f"{rows:,} row{'s' * (rows > 1)} × {features:,} feature{'s' * (features > 1)}"
    return count + "".join(f" × {number} outputs" for number in outputs)


def facts_of(explanation: Explanation, packages: Sequence[str] = ()) -> dict[str, str]:
    """What was explained and how, by the explanation itself."""
    kind = explanation.value_function
    meaning = next((text for word, text in ABSENT.items() if kind.startswith(word)), None)
    if not explanation.std_error.any():
        how = "exact, without sampling"
    elif np.isnan(explanation.std_error).any():
        how = "sampled; some standard errors are unknown"
    else:
        how = "sampled; every value has a standard error"
    evaluations = f"{explanation.num_evaluations:,} coalitions, each for all rows"
    return {
        "Explained": size_of(explanation),
        "Value function": kind + (f": {meaning}." if meaning else ""),
        "Estimator": f"{explanation.estimator} ({how})",
        "Evaluations": evaluations
        if explanation.num_evaluations
        else "none: read from the trees themselves",
        "Versions": versions("numpy", *packages),
    }


def versions(*packages: str) -> str:
    """Of jaxshap, JAX and Python, and of these packages where they are installed."""
    known = []
    for name in ("jaxshap", "jax", *packages):
        try:
            known.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join([*known, f"Python {platform.python_version()}"])


def diagnostics(
    explanation: Explanation, diagnosis: Diagnosis | None, undiagnosed: str
) -> list[tuple[str, str, str, str]]:
    """Heading, headline, findings and meaning of each: what was found, and one sentence on what it
    means.
    """
    if diagnosis is None:
        cards = [("Additivity and off-manifold share", "not measured", undiagnosed, "")]
        if len(explanation.feature_names) > 1:
            cards.append(_ranking(explanation, _stability(explanation)))
    else:
        lines = {
            line.partition(":")[0].partition(" (")[0]: line for line in str(diagnosis).splitlines()
        }
        said = diagnosis.verdict.partition(": ")[2]
        found = f"{said[0].upper()}{said[1:]} {lines.get('Strongest pairs', '')}"
        meaning = "Shapley values add up; this asks how much of what the model does to subsets of features a sum can say."
        cards = [
            ("Additivity", diagnosis.additivity.verdict, found, meaning),
            _ranking(explanation, diagnosis.stability),
        ]
        if (outside := diagnosis.off_manifold) is not None:
            meaning = "There the model was asked about combinations of values it may never have seen, and guesses."
            text = lines["Off-manifold"].removeprefix("Off-manifold: ")
            cards.append(("Off-manifold share", f"{outside.overall:.1%}", text, meaning))
        else:
            text = "It needs a background table of 20 rows or more to compare with, and no missing values."
            cards.append(("Off-manifold share", "not measured", text, ""))
        if diagnosis.diluted:
            cards.append(_dilution(diagnosis.diluted))
    return cards


def _dilution(found: Sequence[Dilution]) -> tuple[str, str, str, str]:
    """All groups in one card, a line each."""
    lines = [
        f"{', '.join(one.features)} (rank correlation ≥ {one.dependence:.2f}): alone the strongest has {one.alone:.3g} "
        f"(rank {one.rank_alone}), as one player {one.together:.3g} (rank {one.rank_together})."
        for one in found
    ]
    meaning = (
        "Features that tell the same thing share their credit, and each looks weaker than what it tells: explain them "
        "as one player (groups= in Python)."
    )
    return (
        "Diluted features",
        f"{len(found)} group{'s' * (len(found) > 1)}",
        "\n".join(lines),
        meaning,
    )


def _stability(explanation: Explanation) -> Stability:
    """Of as many rows as there is room for: it compares every two features in each of them."""
    _, number, *outputs = explanation.values.shape
    rows = max(1, MOST_COMPARED // int(np.prod([number**2, *outputs])))
    return explanation[:rows].stability(top=min(3, number - 1))


def _ranking(explanation: Explanation, found: Stability) -> tuple[str, str, str, str]:
    if not explanation.std_error.any():
        text = "The values are exact for this model and background: no sampling error can change their order or signs."
        return "Ranking", "certain", text, "Another background, or other training data, still can."
    certain = f"certain in {found.certain.mean():.0%} of cases"
    part = (
        "rows"
        if len(found.certain) == len(explanation)
        else f"the first {len(found.certain):,} rows"
    )
    part += " and outputs" * (found.certain.ndim > 1)
    text = (
        f"The {found.top} largest values are certain at {found.level:.0%} in {int(found.certain.sum()):,} of "
        f"{found.certain.size:,} cases ({part}); another random key would find "
        f"{found.order.mean():.1%} of the order and {found.signs.mean():.1%} of the signs."
    )
    return (
        "Ranking",
        certain,
        text,
        "Where it is not certain, which feature comes first may be sampling error.",
    )
