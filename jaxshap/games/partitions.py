"""Groups that together hold everything once."""

import operator
from typing import Any

import numpy as np
from jaxtyping import Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games.arguments import shown


def read_partition(groups: Any, count: int, what: str) -> tuple[Int[np.ndarray, "count"], int]:
    """The group that each of `count` players or columns is in, and how many groups there are."""
    if not np.iterable(groups):
        raise InputTypeError(f"groups={shown(groups)}: pass one list of {what} per group.")
    members = [_members(group) for group in groups]
    listed = sorted(player for group in members for player in group)
    if listed != list(range(count)) or not all(members):
        raise InputError(
            f"groups must name each of the {what} 0..{count - 1} once and none may be "
            f"empty: got {members}."
        )
    group_of = np.empty(count, int)
    for number, group in enumerate(members):
        group_of[group] = number
    return group_of, len(members)


def _members(group: Any) -> list[int]:
    """The player numbers of a group."""
    try:
        players = list(group)
        if not any(isinstance(player, bool) for player in players):
            return [operator.index(player) for player in players]
    except TypeError:
        pass
    raise InputTypeError(
        f"{shown(group)} is not a group: pass a list of player numbers, such as [0, 3] "
        "(np.flatnonzero(mask) for a mask)."
    )
