"""Players that stand together in larger parts of a text, such as words in sentences."""

from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.estimators import Estimator
from jaxshap.hierarchies import Winter, hierarchy
from jaxshap.texts.dividing import Divide, Divided


def nested(divided: Divided, within: Divide, where: str) -> Estimator | None:
    """The estimator of Owen values; None where all players stand in one part, or each in its own.

    A player outside all parts is a group of its own.
    """
    parts = np.asarray(within(divided.text), np.int64).reshape(-1, 2)
    groups: dict[Any, list[int]] = {}
    for number, (begin, end) in enumerate(divided.spans.tolist()):
        inside = np.flatnonzero((parts[:, 0] <= begin) & (end <= parts[:, 1]))
        across = (parts[:, 0] < end) & (begin < parts[:, 1])
        if not len(inside) and across.any():
            raise InputError(
                f"{where} has the player {divided.names[number]!r} in more than one of the parts "
                "of within=: pass players that end where the parts do."
            )
        groups.setdefault(int(inside[0]) if len(inside) else f"alone {number}", []).append(number)
    if len(groups) in (1, len(divided.names)):
        return None
    return Winter(hierarchy(list(groups.values())))
