"""What pictures of sets of players share: one number per set, and names of players."""

from collections.abc import Sequence
from typing import TypeVar

from jaxshap.errors import InputError
from jaxshap.games import check_kind
from jaxshap.inputs import read_names
from jaxshap.interactions import Decomposition, Interactions

OfSets = TypeVar("OfSets", Interactions, Decomposition)


def check_one_number(record: OfSets) -> OfSets:
    """The record, where it holds one number per set."""
    kinds = (Interactions, Decomposition)
    check_kind(record, kinds, "the first argument", "what jaxshap.interactions makes")
    if record.values.ndim > 1:
        zeros = ", ".join("0" * (record.values.ndim - 1))
        raise InputError(
            f"a picture shows one number per set and these have shape {record.values.shape[1:]}: "
            f"pick a row and output first, such as .pick({zeros})."
        )
    return record


def player_names(names: Sequence[str] | None, number: int) -> list[str]:
    """These names, one per player, or x0, x1, …."""
    if names is None:
        return [f"x{player}" for player in range(number)]
    names = read_names(names, "names")
    if len(names) != number:
        raise InputError(
            f"there are {len(names)} names for {number} players: pass one name per player."
        )
    return list(map(str, names))
