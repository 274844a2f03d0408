"""The weights of interaction indices: I(S) = Σ_{T⊇S} weight(|S|, |T|) m(T), m by Möbius.

The same index is a sum over Walsh coefficients, as m(T) = (−2)^|T| Σ_{U⊇T} c_U, and over worths.
Möbius coefficients of many players are large and cancel in the sum; Walsh coefficients are not, so
that float32 is enough. Weights are computed as fractions.
"""

import functools
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


def _moebius(size: int, larger: int, order: int) -> Fraction:
    """Harsanyi dividends."""
    return Fraction(larger == size)


def _shapley(size: int, larger: int, order: int) -> Fraction:
    """SII, Grabisch & Roubens (1999)."""
    return Fraction(1, larger - size + 1)


def _banzhaf(size: int, larger: int, order: int) -> Fraction:
    """BII, Grabisch & Roubens (1999)."""
    return Fraction(1, 2 ** (larger - size))


def _aggregated(size: int, larger: int, order: int) -> Fraction:
    """k-SII, Bordt & von Luxburg (2023): SII of larger sets up to `order`, by Bernoulli numbers."""
    extra = larger - size
    steps = range(min(order - size, extra) + 1)
    return sum((comb(extra, j) * bernoulli(j) / (extra - j + 1) for j in steps), Fraction(0))


def _taylor(size: int, larger: int, order: int) -> Fraction:
    """STII, Sundararajan, Dhamdhere & Agarwal (2020): the top order shares out what is above it."""
    if size < order:
        return Fraction(larger == size)
    return Fraction(1, comb(larger, order))


def _faithful(size: int, larger: int, order: int) -> Fraction:
    """FSII, Tsai, Yeh & Ravikumar (2023): the best fit by sets of at most `order` players."""
    if larger <= order:
        return Fraction(larger == size)
    sign = (-1) ** (order - size)
    share = Fraction(size, order + size) * comb(order, size)
    return sign * share * Fraction(comb(larger - 1, order), comb(larger + order - 1, order + size))


WEIGHTS = {
    "Moebius": _moebius,
    "SV": _shapley,
    "BV": _banzhaf,
    "SII": _shapley,
    "k-SII": _aggregated,
    "STII": _taylor,
    "FSII": _faithful,
    "BII": _banzhaf,
}
VALUES = {"SV": "SII", "BV": "BII"}  # values of single players → the index that extends them


@functools.lru_cache(maxsize=64)
def walsh_weights(
    index: str, order: int, num_players: int
) -> Float[np.ndarray, "{order} {num_players}+1"]:
    """The weight of the Walsh coefficient of U for S: by |S| = 1..order and |U∖S| = 0..n."""
    weights = np.zeros((order, num_players + 1))
    for size in range(1, order + 1):
        for extra in range(num_players - size + 1):
            weights[size - 1, extra] = float(walsh_weight(index, order, size, extra))
    weights.flags.writeable = False
    return weights


@functools.cache
def walsh_weight(index: str, order: int, size: int, extra: int) -> Fraction:
    """The weight of the Walsh coefficient of U for S, where |S| = size and |U∖S| = extra."""
    terms = (
        comb(extra, j) * (-2) ** (size + j) * WEIGHTS[index](size, size + j, order)
        for j in range(extra + 1)
    )
    return sum(terms, Fraction(0))


class WorthWeights(NamedTuple):
    """What worths count for the index of a set S, which is the same for all sets of its size.

    Args:
        of_worths: by |S ∩ T| and |T|, the weight of v(T).
        of_sizes: by k, the index in the game that pays 1 to coalitions of k players.
        squares: the sum of squares of the weights of all pairs {T, N∖T} in the odd and in the even
            part of the game.
    """

    of_worths: Float[np.ndarray, "inside sizes"]
    of_sizes: Float[np.ndarray, "sizes"]
    squares: dict[bool, float]


@functools.lru_cache(maxsize=64)
def worth_weights(index: str, order: int, size: int, num_players: int) -> WorthWeights:
    """The weights of worths in the index of a set of `size` players."""
    rest = num_players - size
    backwards: list[Fraction] = []  # of worths of S and k = n−s, n−s−1, …, 0 other players
    for extra in range(rest + 1):  # Pascal's triangle: games of one more player at each turn
        row = [WEIGHTS[index](size, size + extra, order)]
        for fewer in backwards:
            row.append(fewer - row[-1])
        backwards = row
    ahead, zero = backwards[::-1], Fraction(0)

    def weight(inside: int, total: int) -> Fraction:
        other = total - inside
        return (-1) ** (size - inside) * ahead[other] if 0 <= other <= rest else zero

    exact = [[weight(a, k) for k in range(num_players + 1)] for a in range(size + 1)]
    ways = [
        [comb(size, a) * (comb(rest, k - a) if k >= a else 0) for k in range(num_players + 1)]
        for a in range(size + 1)
    ]
    sizes = [
        sum((ways[a][k] * exact[a][k] for a in range(size + 1)), zero)
        for k in range(num_players + 1)
    ]
    squares = {
        odd: float(
            sum(
                (
                    ways[a][k] * (exact[a][k] + (-1) ** odd * exact[size - a][num_players - k]) ** 2
                    for a in range(size + 1)
                    for k in range(num_players + 1)
                ),
                zero,
            )
            / 2
        )
        for odd in (True, False)
    }
    return WorthWeights(
        np.array([[float(number) for number in row] for row in exact]),
        np.array([float(number) for number in sizes]),
        squares,
    )


@functools.cache
def bernoulli(number: int) -> Fraction:
    """1, −1/2, 1/6, 0, −1/30, …"""
    if number == 0:
        return Fraction(1)
    earlier = sum((comb(number + 1, j) * bernoulli(j) for j in range(number)), Fraction(0))
    return -earlier / (number + 1)
