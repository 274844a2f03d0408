"""What a reader of an explanation should know before believing or paying for it."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxshap.explaining.explanation import Explanation

TOP = 3  # features whose order people read
MANY_REFERENCES = 1_000  # background rows, from which on a sample of them is worth proposing


def caution(explanation: "Explanation") -> str | None:
    """All notes that apply, or None."""
    notes = ranking_note(explanation), cost_note(explanation)
    return " ".join(note for note in notes if note is not None) or None


def ranking_note(explanation: "Explanation") -> str | None:
    """A sentence where errors are larger than the differences between the top features."""
    cases = [np.moveaxis(part, 1, -1) for part in (explanation.values, explanation.std_error)]
    values, errors = (part.reshape(-1, part.shape[-1]) for part in cases)
    top = min(TOP, values.shape[1] - 1)
    order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, : top + 1]
    sizes, errors = (np.take_along_axis(part, order, 1) for part in (np.abs(values), errors))
    unclear = -np.diff(sizes, axis=1) < np.hypot(errors[:, 1:], errors[:, :-1])
    count, total = int(unclear.any(1).sum()), len(values)
    if not count:
        return None
    where = "" if total == 1 else f" in {count:,} of {total:,} cases"
    return (
        f"Note: errors are larger than differences between the top {top} features{where}, so their "
        "order is not certain; a larger budget makes errors smaller."
    )


def cost_note(explanation: "Explanation") -> str | None:
    """A sentence where every coalition was asked about with each of many background rows."""
    evaluations, num_players = explanation.num_evaluations, explanation.values.shape[1]
    references = explanation.num_model_rows // max(evaluations, 1)
    own_orderings = evaluations <= 2 * num_players + 2  # all that `model_rows=` spends on each
    if explanation.value_function != "marginal" or references < MANY_REFERENCES or own_orderings:
        return None
    return (
        f"Note: each coalition was asked about with {references:,} background rows; "
        "jaxshap.explain(..., model_rows=) spends fewer model rows for errors of this size."
    )
