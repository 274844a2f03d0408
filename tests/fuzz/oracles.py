"""What answers must be: by enumeration in float64, by definition, or in what they claim."""

import itertools
import math
from typing import Any

import numpy as np
from known_games import brute_force_shapley
from scipy.special import stdtr, stdtrit

ROUNDING = 256 * np.finfo(np.float32).eps  # of the largest worth, in float32
SIGMAS = 10  # standard errors, or as unlikely a number of them with few degrees of freedom


def bits(num_players: int) -> np.ndarray:
    """Who is in each of the 2**n coalitions."""
    return (np.arange(2**num_players)[:, None] >> np.arange(num_players)) & 1 == 1


def mixed_worths(model: Any, rows: Any, background: Any, weights: Any, players: Any) -> np.ndarray:
    """v(S) of the marginal game by its definition, `(2**n, rows, outputs)`."""
    weights = np.asarray(weights, np.float64) / np.sum(weights)
    worths = []
    for members in bits(len(players)):
        present = np.zeros(rows.shape[1], bool)
        for player in np.flatnonzero(members):
            present[players[player]] = True
        of_rows = [weights @ model.exactly(np.where(present, row, background)) for row in rows]
        worths.append(of_rows)
    return np.array(worths)


def check_estimate(
    estimate: Any, worths: np.ndarray, *, size: Any = 0.0, efficient: bool = True, calibrated: bool
) -> None:
    """Values, errors and exactness of what was estimated, beside the worths of all coalitions.

    `estimate` has its players first, or is anything with the same four fields. `size` is that of
    numbers on the way to the worths, of which rounding is a share. A `calibrated` one is compared
    with the truth also where it is not exact.
    """
    truth = brute_force_shapley(worths)
    rounding = ROUNDING * np.broadcast_to(np.maximum(np.abs(worths).max(0), size), truth.shape)
    fields = (estimate.values, estimate.std_error, estimate.exact, estimate.degrees)
    values, errors, exact, degrees = (np.asarray(field) for field in fields)
    assert values.shape == errors.shape == truth.shape
    assert values.dtype == errors.dtype
    values, errors = values.astype(np.float64), errors.astype(np.float64)
    assert np.isfinite(values).all()
    assert (np.isnan(errors) | (errors >= 0)).all()
    exact = np.broadcast_to(exact, values.shape)
    np.testing.assert_array_equal(errors == 0, exact)  # 0 means exact, and nothing else does
    degrees = np.broadcast_to(degrees, values.shape)
    assert (degrees >= 0).all()
    assert (np.abs(values - truth)[exact] <= rounding[exact]).all()
    if efficient:
        assert (np.abs(values.sum(0) - worths[-1] + worths[0]) <= len(values) * rounding[0]).all()
    if calibrated:
        known = (errors > 0) & (degrees > 0)
        reach = stdtrit(degrees[known], stdtr(np.inf, SIGMAS)) * errors[known]
        assert (np.abs(values - truth)[known] <= reach + rounding[known]).all()


def interaction_index(worths: np.ndarray, players: tuple[int, ...]) -> np.ndarray:
    """The Shapley interaction index of a set of players, from its definition."""
    number = len(worths).bit_length() - 1
    others = [player for player in range(number) if player not in players]
    total = np.zeros(worths.shape[1:])
    for size in range(len(others) + 1):
        weight = math.factorial(size) * math.factorial(number - size - len(players))
        weight /= math.factorial(number - len(players) + 1)
        for coalition in itertools.combinations(others, size):
            total += weight * difference(worths, players, coalition)
    return total


def difference(worths: np.ndarray, players: Any, coalition: Any) -> np.ndarray:
    """What a set of players adds to a coalition beyond what its parts add."""
    total = np.zeros(worths.shape[1:])
    for size in range(len(players) + 1):
        for part in itertools.combinations(players, size):
            index = sum(2**player for player in (*part, *coalition))
            total += (-1) ** (len(players) - size) * worths[index]
    return total
