"""Interaction indices as sums over nodes: what a product of signs counts for a set of players.

With v = Σ_U a_U Π_{i∈U} z_i, every index of interactions is I(S) = Σ_{U⊇S} g(|S|, |U∖S|) a_U. Where
a_U is a product of one number for each player, the sum is ∫ Π_{r∉S} (1 + t ρ_r z_r) dμ(t), for any
measure μ whose moments ∫ t^d dμ are the g(|S|, d): here one that sits on Gauss–Legendre nodes.
"""

import functools
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.games import walsh_weight

MAX_DEGREE = 79  # products of more signs are left out; they have no weight in a smooth game


class NodeWeights(NamedTuple):
    """Measures on the `positions` between −1 and 1 for the sets of one size, in one half of a game.

    Args:
        positions: where the nodes are.
        cross: the weights with moments g(d), for the index itself.
        variance: the weights with moments g(d)², for its variance.
    """

    positions: Float[np.ndarray, "nodes"]
    cross: Float[np.ndarray, "nodes"]
    variance: Float[np.ndarray, "nodes"]


@functools.lru_cache(maxsize=256)
def node_weights(index: str, order: int, size: int, num_players: int, odd: bool) -> NodeWeights:
    """The measures for products of an odd or of an even number of signs; others count 0."""
    degree = min(num_players - size, MAX_DEGREE)
    moments = [sign_weight(index, order, size, extra) for extra in range(degree + 1)]
    moments = [m if (size + extra) % 2 == odd else Fraction(0) for extra, m in enumerate(moments)]
    positions, base = np.polynomial.legendre.leggauss(degree + 1)
    return NodeWeights(
        positions,
        _with_moments(moments, positions, base),
        _with_moments([moment**2 for moment in moments], positions, base),
    )


def diagonal_nodes(index: str, order: int, size: int, num_players: int) -> NodeWeights:
    """The measure for both halves of a game together; its `variance` means nothing."""
    odd, even = (node_weights(index, order, size, num_players, half) for half in (True, False))
    return odd._replace(cross=odd.cross + even.cross)


def has_weight(index: str, order: int, size: int, num_players: int, odd: bool) -> bool:
    """Whether this half of a game matters to the index of sets of this size."""
    return any(
        sign_weight(index, order, size, extra) != 0
        for extra in range(min(num_players - size, MAX_DEGREE) + 1)
        if (size + extra) % 2 == odd
    )


def sign_weight(index: str, order: int, size: int, extra: int) -> Fraction:
    """g: what the coefficient of a product of size + extra signs, +1 for members, counts."""
    return (-1) ** (size + extra) * walsh_weight(index, order, size, extra)


def _with_moments(
    moments: list[Fraction], positions: Float[np.ndarray, "nodes"], base: Float[np.ndarray, "nodes"]
) -> Float[np.ndarray, "nodes"]:
    """Weights w with Σ w t^d equal to each moment: a series of Legendre polynomials on the nodes.

    The coefficients of the series cancel in floating point, and are fractions therefore.
    """
    before: list[Fraction] = []
    polynomial, series = [Fraction(1)], []
    for degree in range(len(moments)):
        projection = sum((c * m for c, m in zip(polynomial, moments, strict=False)), Fraction(0))
        series.append(float(projection * Fraction(2 * degree + 1, 2)))
        shifted = [Fraction(0), *polynomial]  # (d + 1) P_{d+1} = (2 d + 1) t P_d − d P_{d−1}
        before += [Fraction(0)] * (len(shifted) - len(before))
        after = [
            ((2 * degree + 1) * s - degree * b) / (degree + 1)
            for s, b in zip(shifted, before, strict=True)
        ]
        before, polynomial = polynomial, after
    return base * np.polynomial.legendre.legval(positions, np.array(series))
