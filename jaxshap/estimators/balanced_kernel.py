"""What gaps v(S) − v(N∖S) have in common in a smooth random game whose players are all alike.

The covariance is that of `OddGP` with equal length scales, fixed: k_θ + w k_{8θ} + ν 1, Σθ = 1.5.
Players relabelled at random make every game such a game up to the energies of its orders, and what
is read out of it depends little on those: halving or doubling these constants moved the error of
read-outs by at most a tenth on ten games.
"""

import math

import numpy as np
from jaxtyping import Bool, Float

SMOOTH, ROUGH = 1.5, 12.0  # Σθ of the two components
ROUGH_SHARE, OWN_SHARE = 0.03, 0.01  # w, and ν: what no other pair tells about


def covariance(sides: Bool[np.ndarray, "p n"]) -> Float[np.ndarray, "p p"]:
    """Of the gaps of these pairs, less their share of v(N) − v(∅) if all players were the same."""
    return covariance_between(sides, sides) + OWN_SHARE * np.eye(len(sides))


def covariance_between(
    sides: Bool[np.ndarray, "p n"], others: Bool[np.ndarray, "q n"]
) -> Float[np.ndarray, "p q"]:
    """The same between different pairs."""
    num_players = sides.shape[1]
    table = _by_agreement(num_players)
    first, second = (np.where(part, 1, -1).astype(np.float32) for part in (sides, others))
    agreement = ((first @ second.T + num_players) / 2).astype(np.int32)
    shared = [table[part.sum(1)] for part in (sides, others)]  # with {∅, N}
    tilt = [part.mean(1, dtype=np.float64) for part in (first, second)]
    whole = table[-1] + OWN_SHARE
    crossed = np.outer(tilt[0], shared[1] - whole * tilt[1] / 2)
    crossed += np.outer(shared[0] - whole * tilt[0] / 2, tilt[1])
    return table[agreement] - crossed


def own_variance(sides: Bool[np.ndarray, "p n"]) -> Float[np.ndarray, "p"]:
    """The diagonal of the covariance."""
    num_players = sides.shape[1]
    table, size = _by_agreement(num_players), sides.sum(1)
    tilt, whole = 2 * size / num_players - 1, table[-1] + OWN_SHARE
    return whole * (1 + tilt**2) - 2 * tilt * table[size]


def exact_variance(num_players: int) -> float:
    """Σ over players of the variance of φ_i − (v(N) − v(∅))/n, which unbiased read-outs add to."""
    energies = _energies(num_players, SMOOTH) + ROUGH_SHARE * _energies(num_players, ROUGH)
    return _of_values(energies, num_players) + OWN_SHARE * noise_variance(num_players)


def noise_variance(num_players: int) -> float:
    """The same of a game of independent gaps with variance 1."""
    orders = range(1, num_players + 1, 2)
    logs = np.array([_log_binomial(num_players, order) for order in orders])
    return _of_values(np.exp(logs - (num_players - 1) * math.log(2)), num_players)


def _of_values(energies: Float[np.ndarray, "odd"], num_players: int) -> float:
    """An order of j players with variance κ_j has the share κ_j (1/j − 1/n)."""
    orders = np.arange(1, num_players + 1, 2)
    return float((energies * (1 / orders - 1 / num_players)).sum())


def _by_agreement(num_players: int) -> Float[np.ndarray, "counts"]:
    """The covariance of two pairs by how many players are on the same side of both."""
    inner = 2 * np.arange(num_players + 1) / num_players - 1

    def component(total):
        size = np.abs(inner) * total
        return (
            np.sign(inner) * (np.exp(size - total) - np.exp(-size - total)) / -np.expm1(-2 * total)
        )

    return component(SMOOTH) + ROUGH_SHARE * component(ROUGH)


def _energies(num_players: int, total: float) -> Float[np.ndarray, "odd"]:
    """How much of sinh(θ z·z')/sinh(nθ) belongs to products of 1, 3, 5, … signs."""
    theta = total / num_players
    log_whole = num_players * math.log(math.cosh(theta)) - math.log(math.sinh(total))
    logs = (
        _log_binomial(num_players, order) + order * math.log(math.tanh(theta)) + log_whole
        for order in range(1, num_players + 1, 2)
    )
    return np.exp(np.array(list(logs)))


def _log_binomial(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)
