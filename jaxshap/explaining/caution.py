"""Whether errors are small enough for the order of the largest features to mean something."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxshap.explaining.explanation import Explanation

TOP = 3  # features whose order people read


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
