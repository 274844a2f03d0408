"""What a search for a few interactions among many tries, and what it cannot find."""

import math
from typing import NamedTuple

from jaxshap.estimators.odd.greedy import MAX_CHOSEN, NUM_FOLDS

MAX_SMALL_SETS = 4096  # single players or pairs that a regression chooses from
MAX_LARGER_SETS = 1024  # sets of two players more
STRONG_PAIRS = 45  # whose unions are the sets of four players that are tried
MAX_SEARCH_FLOPS = 4e11  # for all outputs together; above, nothing is searched
MIN_SEARCH_PLAYERS = 10  # the default budget buys all coalitions of fewer


class Search(NamedTuple):
    """How many sets of two, three and four players a search chose from, for each output.

    What it found is used where it predicts coalitions left out better than a process alone does.

    Attributes:
        pairs: pairs tried, of all or of those that go best with the worths.
        threes: sets of three, those that go best with what single players leave.
        fours: sets of four that unite two strong pairs.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda s: (s[0] & s[1]).astype(jnp.float32) + s.mean(), 12)
        >>> pairs = jaxshap.estimate_interactions(0, game, budget=200)
        >>> pairs.searched
        Search(pairs=66, threes=220, fours=990)
    """

    pairs: int
    threes: int
    fours: int

    @property
    def could_have_missed(self) -> str:
        """What a search of this kind does not find, in words."""
        return (
            "sets of four players of whom no two pairs show, sets of five or more, weak sets "
            "beside strong ones, and what no coalition shows"
        )


def search_flops(num_rows: int, num_players: int) -> float:
    """Of a search for one output: each step compares every product with every row, twice."""
    small = min(math.comb(num_players, 2), MAX_SMALL_SETS)
    steps = num_steps(num_rows)
    return 8.0 * NUM_FOLDS * steps * num_rows * (small + MAX_LARGER_SETS + steps)


def search_among(num_rows: int, num_players: int, num_outputs: int) -> Search | None:
    """What is tried; None where players are few, or outputs so many that it would take long."""
    quick = num_outputs * search_flops(num_rows, num_players) <= MAX_SEARCH_FLOPS
    if not quick or num_players < MIN_SEARCH_PLAYERS:
        return None
    pairs = min(math.comb(num_players, 2), MAX_SMALL_SETS)
    threes, fours = num_larger(num_players, True), num_larger(pairs, False)
    return Search(pairs, threes, fours)


def num_larger(num_small: int, odd: bool) -> int:
    """How many sets of three players, or unions of two pairs, are tried."""
    if odd:
        return max(1, min(math.comb(num_small, 3), MAX_LARGER_SETS))
    return max(1, math.comb(min(num_small, STRONG_PAIRS), 2))


def num_steps(num_rows: int) -> int:
    """How many products one fit chooses at most."""
    return max(1, min(num_rows // 3, MAX_CHOSEN))
