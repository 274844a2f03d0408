"""Sets of few players, smallest first and then in lexicographic order: what components and
interactions belong to.
"""

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

from jaxshap.errors import InputError

MOST_SETS = 2**22  # whose worths are asked for and held at once

PlayerSet = int | Sequence[int]


def num_sets(num_players: int, order: int) -> int:
    """How many sets have at most `order` players, ∅ counted."""
    return sum(math.comb(num_players, size) for size in range(order + 1))


@functools.lru_cache(maxsize=16)
def sets_up_to(num_players: int, order: int) -> Bool[np.ndarray, "sets n"]:
    """Who is in each set of at most `order` players; ∅ is the first, {0} the second."""
    found = np.zeros((num_sets(num_players, order), num_players), bool)
    for size, start in zip(range(order + 1), starts(num_players, order), strict=True):
        members = _of_size(num_players, size)
        found[start + np.arange(len(members))[:, None], members] = True
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=16)
def without_each(num_players: int, order: int) -> Int[np.ndarray, "order sets"]:
    """Where each set stands once its j-th player has left, for j = 0..order−1; −1 where it has no
    j-th player.
    """
    found = np.full((order, num_sets(num_players, order)), -1, np.int32)
    for size, start in zip(range(1, order + 1), starts(num_players, order)[1:], strict=True):
        members = _of_size(num_players, size)
        for turn in range(size):
            below = starts(num_players, order)[size - 1]
            found[turn, start : start + len(members)] = below + _rank(
                np.delete(members, turn, axis=1), num_players
            )
    found.flags.writeable = False
    return found


def position(players: PlayerSet, num_players: int, order: int) -> int:
    """Where this set stands in `sets_up_to`."""
    members = sorted({players} if isinstance(players, int | np.integer) else set(players))
    if not all(
        isinstance(member, int | np.integer) and 0 <= member < num_players for member in members
    ):
        raise KeyError(f"{players!r} is not a set of players from 0 to {num_players - 1}.")
    if len(members) > order:
        raise KeyError(
            f"{players!r} has {len(members)} players: sets of at most {order} are known here."
        )
    return starts(num_players, order)[len(members)] + int(
        _rank(np.array([members], int), num_players)[0]
    )


def starts(num_players: int, order: int) -> list[int]:
    """Where the sets of 0, 1, …, order players begin."""
    return [0, *itertools.accumulate(math.comb(num_players, size) for size in range(order))]


def check_order(order: int, num_players: int) -> None:
    if (
        isinstance(order, bool)
        or not isinstance(order, int | np.integer)
        or not 1 <= order <= num_players
    ):
        raise InputError(
            f"order={order}: pass a whole number between 1 and {num_players}, the number of players."
        )


def check_index(index: tuple, shape: tuple[int, ...]) -> None:
    """JAX takes the last entry where an index is too large."""
    try:
        np.broadcast_to(0, shape)[index]
    except IndexError as error:
        raise IndexError(f"{index} is not among rows and outputs of shape {shape}.") from error


def _of_size(num_players: int, size: int) -> Int[np.ndarray, "sets size"]:
    count = math.comb(num_players, size)
    flat = itertools.chain.from_iterable(itertools.combinations(range(num_players), size))
    return np.fromiter(flat, np.int32, count * size).reshape(count, size)


def _rank(members: Int[np.ndarray, "sets size"], num_players: int) -> Int[np.ndarray, "sets"]:
    """The place of each set among those of its size: all but those that come after it."""
    size = members.shape[1]
    after = np.zeros(len(members), np.int64)
    for turn in range(size):
        ways = np.array(
            [math.comb(num_players - 1 - player, size - turn) for player in range(num_players)]
        )
        after += ways[members[:, turn]]
    return math.comb(num_players, size) - 1 - after
