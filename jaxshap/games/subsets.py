"""Small sets of players, smallest first and then in lexicographic order.

Components and interactions belong to such sets.
"""

import functools
import itertools
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from jaxshap.errors import InputError, SelectionError
from jaxshap.games.arguments import shown

MOST_SETS = 2**22  # sets whose worths are evaluated and held in memory at once

PlayerSet = int | np.integer | Collection[int | np.integer]


def num_sets(num_players: int, order: int) -> int:
    """How many sets have at most `order` players, ∅ included."""
    return sum(math.comb(num_players, size) for size in range(order + 1))


def starts(num_players: int, order: int) -> list[int]:
    """Where the sets of 0, 1, …, order players begin."""
    return [0, *itertools.accumulate(math.comb(num_players, size) for size in range(order))]


@functools.lru_cache(maxsize=16)
def sets_up_to(num_players: int, order: int) -> Bool[np.ndarray, "sets {num_players}"]:
    """The members of each set of at most `order` players; ∅ is the first, {0} the second."""
    members = np.zeros((num_sets(num_players, order), num_players), bool)
    for size, start in enumerate(starts(num_players, order)):
        players = sets_of_size(num_players, size)
        members[start + np.arange(len(players))[:, None], players] = True
    members.flags.writeable = False
    return members


@functools.lru_cache(maxsize=16)
def without_each(num_players: int, order: int) -> Int[np.ndarray, "{order} sets"]:
    """Where each set stands without its j-th player, j = 0..order−1; −1 if there is no such one."""
    begins = starts(num_players, order)
    positions = np.full((order, num_sets(num_players, order)), -1, np.int32)
    for size in range(1, order + 1):
        players = sets_of_size(num_players, size)
        sets = slice(begins[size], begins[size] + len(players))
        for turn in range(size):
            smaller = _rank(np.delete(players, turn, axis=1), num_players)
            positions[turn, sets] = begins[size - 1] + smaller
    positions.flags.writeable = False
    return positions


def position(players: PlayerSet, num_players: int, order: int) -> int:
    """Where this set stands in `sets_up_to`; a SelectionError if it does not."""
    several = isinstance(players, Collection) and getattr(players, "ndim", 1) > 0
    given: Any = players
    listed: list[Any] = list(given) if several else [given]
    known = all(
        isinstance(member, int | np.integer)
        and not isinstance(member, bool)
        and 0 <= member < num_players
        for member in listed
    )
    if isinstance(players, str | bytes) or not known:
        raise SelectionError(
            f"{shown(players)} is not a set of players from 0 to {num_players - 1}."
        )
    members = sorted(set(listed))
    if len(members) > order:
        raise SelectionError(
            f"{players!r} has {len(members)} players: sets of at most {order} are known here."
        )
    rank = _rank(np.array([members], int), num_players)[0]
    return starts(num_players, order)[len(members)] + int(rank)


def set_positions(
    players: Int[np.ndarray, "*sets size"], num_players: int
) -> Int[np.ndarray, "*sets"]:
    """Where sets of one size stand in `sets_up_to`, the players of each in ascending order."""
    size = players.shape[-1]
    ranks = _rank(players.reshape(-1, size), num_players)
    return (starts(num_players, size)[size] + ranks).reshape(players.shape[:-1])


def check_order(order: Any, num_players: int) -> None:
    """Refuse an order that is no whole number between 1 and the number of players."""
    is_whole = isinstance(order, int | np.integer) and not isinstance(order, bool)
    if not is_whole or not 1 <= order <= num_players:
        raise InputError(
            f"order={order}: pass a whole number between 1 and {num_players}, "
            "the number of players."
        )


def check_num_sets(order: int, num_players: int) -> None:
    """Refuse more sets than memory holds."""
    if num_sets(num_players, order) > MOST_SETS:
        raise InputError(
            f"there are {num_sets(num_players, order):,} sets of up to {order} of {num_players} "
            f"players, and at most {MOST_SETS:,} can be held: pass a lower order, such as order=2."
        )


def check_index(index: tuple, shape: tuple[int, ...]) -> None:
    """Raise here: JAX would silently clamp an index that is out of range."""
    try:
        np.broadcast_to(0, shape)[index]
    except (IndexError, TypeError, ValueError) as error:
        raise SelectionError(
            f"{shown(index)} is not among rows and outputs of shape {shape}."
        ) from error


def sets_of_size(num_players: int, size: int) -> Int[np.ndarray, "sets {size}"]:
    """The players of each set of this size, in lexicographic order."""
    count = math.comb(num_players, size)
    flat = itertools.chain.from_iterable(itertools.combinations(range(num_players), size))
    return np.fromiter(flat, np.int32, count * size).reshape(count, size)


def _rank(players: Int[np.ndarray, "sets size"], num_players: int) -> Int[np.ndarray, "sets"]:
    """The place of each set among those of its size, from the number of sets that come after it."""
    size = players.shape[1]
    num_after = np.zeros(len(players), np.int64)
    for turn in range(size):
        ways = [math.comb(num_players - 1 - player, size - turn) for player in range(num_players)]
        num_after += np.array(ways)[players[:, turn]]
    return math.comb(num_players, size) - 1 - num_after
