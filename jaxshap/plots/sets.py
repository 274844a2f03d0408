"""What pictures of sets of players share: one number per set, and names of players."""

from collections.abc import Sequence
from typing import TypeVar

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import check_kind
from jaxshap.inputs import read_names
from jaxshap.interactions import Decomposition, Interactions
from jaxshap.plots.selection import check_one_row, one_output

OfSets = TypeVar("OfSets", Interactions, Decomposition)


def interactions_and_names(
    given: Interactions | Explanation, names: Sequence[str] | None
) -> tuple[Interactions, list[str]]:
    """Interactions of one row and output, and the names of their players."""
    if isinstance(given, Explanation):
        given = one_output(given, "a picture of interactions")
        check_one_row(given, "a picture of interactions")
        names = given.feature_names if names is None else names
        if given.interactions is None:
            raise InputError(
                "this explanation has no interactions: pass interactions=2 to jaxshap.explain."
            )
        given = given.interactions
    kinds = (Interactions, Explanation)
    check_kind(given, kinds, "interactions", "those of an explanation or of jaxshap.interactions")
    return one_number_per_set(given), player_names(names, given.num_players)


def one_number_per_set(record: OfSets) -> OfSets:
    """The record of one row and output; those of several rows or outputs are refused."""
    shape = record.values.shape[1:]
    if any(length != 1 for length in shape):
        raise InputError(
            f"a picture shows one number per set and these have shape {shape}: pick a row and "
            f"output first, such as .pick({', '.join('0' * len(shape))})."
        )
    return record.pick(*(0,) * len(shape)) if shape else record


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
