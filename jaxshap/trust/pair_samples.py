"""Pairs of coalitions {S, N∖S}: all of them, or a sample by the Shapley kernel."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.engine import read_budget, read_key
from jaxshap.errors import BudgetError, InputError
from jaxshap.games import all_coalitions, draw_independent, kernel_mass, log_binomial, read_whole

MIN_BUDGET = 16  # evaluations, below which a sample of pairs says nothing


class PairSample(NamedTuple):
    """One side of each distinct pair {S, N∖S}, its share of the whole, and how often it was drawn.

    `counts` is None where the sample holds every pair.
    """

    sides: Bool[np.ndarray, "m n"]
    shares: Float[np.ndarray, "m"]
    counts: Int[np.ndarray, "m"] | None

    @property
    def coalitions(self) -> Bool[np.ndarray, "coalitions n"]:
        """Both sides of every pair, in turn."""
        return np.stack([self.sides, ~self.sides], axis=1).reshape(-1, self.sides.shape[1])


def sample_pairs(key: Key[Array, ""], num_players: int, budget: int) -> PairSample:
    """All pairs where the budget allows it, else independent draws by the Shapley kernel."""
    num_players = read_whole(num_players, "num_players")
    budget = read_budget(budget, num_players)
    if num_players < 2:
        raise InputError("a game of one player is additive: there is nothing to measure.")
    if 2**num_players - 2 <= budget:
        without_last = slice(1, 2 ** (num_players - 1))  # one side of each pair
        sides = np.asarray(all_coalitions(num_players)[without_last])
        sizes = sides.sum(1)
        shares = kernel_mass(num_players)[sizes - 1] * np.exp(-log_binomial(num_players, sizes))
        return PairSample(sides, shares / shares.sum(), None)
    if budget < MIN_BUDGET:
        needed = min(MIN_BUDGET, 2**num_players - 2)
        raise BudgetError(
            f"budget={budget} buys {budget // 2} pairs of coalitions: pass {needed} or more.",
            needed=needed,
        )
    drawn = np.asarray(
        draw_independent(read_key(key), num_players, budget // 2, kernel_mass(num_players))
    )
    sides, counts = np.unique(drawn ^ drawn[:, -1:], axis=0, return_counts=True)
    return PairSample(sides, counts / counts.sum(), counts)
