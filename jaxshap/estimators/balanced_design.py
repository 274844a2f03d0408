"""Balanced pairs: one endless sequence of pairs {S, N∖S} for each number of players, on the host.

The first n − 1 pairs have every size of the smaller side twice (n/2 once) and are as orthogonal as
sets of these sizes can be made; then all sizes come in alike. Nothing here is random to a caller:
the sequence depends on the number of players alone, so that a plan is a prefix of it.
"""

import functools
import itertools
import math
import threading
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.estimators.balanced_kernel import covariance

MAX_ENUMERATED_PLAYERS = 14  # up to here, candidates are all pairs there are
MAX_EXHAUSTED_PLAYERS = 16  # up to here, the sequence goes on until all pairs are out
POOL_ENTRIES = 2**18  # signs of candidates that are compared with each pair that comes in
MAX_SAMPLED_PAIRS = 8192  # that balance and read-outs are made for
NUM_STARTS, MAX_PLAYERS_OF_STARTS = 8, 64  # first rounds to choose from; one beyond these players


class PairSequence:
    """The pairs of `num_players` players in their order, drawn when they are first asked for."""

    def __init__(self, num_players: int):
        self._source = _sequence(num_players)
        self._sides: Bool[np.ndarray, "known n"] = np.zeros((0, num_players), bool)
        self._lock = threading.Lock()

    def first(self, count: int) -> Bool[np.ndarray, "count n"]:
        """The smaller side of the first `count` pairs, or of all pairs if there are fewer."""
        with self._lock:
            more = list(itertools.islice(self._source, max(0, count - len(self._sides))))
            if more:
                self._sides = np.concatenate([self._sides, more])
            return self._sides[:count]


@functools.lru_cache(maxsize=64)
def pair_sequence(num_players: int) -> PairSequence:
    """The one sequence for this number of players."""
    return PairSequence(num_players)


def _sequence(num_players: int) -> Iterator[Bool[np.ndarray, "n"]]:
    """Distinct pairs, one after the other: all there are, or as many as are made for."""
    rng = np.random.default_rng([20, num_players])
    pairs = _first_round(num_players, rng)
    yield from pairs
    taken, sizes = set(_codes(pairs)), _sizes(num_players)
    chosen = np.where(pairs, 1, -1).astype(np.float32)
    while len(taken) < min(2 ** (num_players - 1) - 1, MAX_SAMPLED_PAIRS):
        pool = _Pool(num_players, taken, chosen, rng)
        for size in itertools.islice(sizes, pool.num_picks):
            side = pool.pop(size)
            if side is not None:
                taken.update(_codes(side[None]))
                yield side
        chosen = np.concatenate([chosen, pool.popped()])
    if num_players <= MAX_EXHAUSTED_PLAYERS:
        for size in range(1, num_players // 2 + 1):
            yield from _candidates(num_players, size, taken, math.inf, rng)


class _Pool:
    """Candidates of every size, and how close each is to the pairs chosen: Σ (z·z')⁴, z = ±1.

    Orthogonal arrays of strength 4 have the least such sum. It is a sum of integers, so that the
    order does not depend on rounding.
    """

    def __init__(self, num_players: int, taken: set[bytes], chosen: Float[np.ndarray, "p n"], rng):
        every = num_players <= MAX_ENUMERATED_PLAYERS
        per_size = math.inf if every else max(1, 2 * POOL_ENTRIES // num_players**2)
        half = range(1, num_players // 2 + 1)
        sides = [_candidates(num_players, size, taken, per_size, rng) for size in half]
        self._ends = np.cumsum([0, *map(len, sides)])
        self._signs = np.where(np.concatenate(sides), 1, -1).astype(np.float32)
        self._score = np.zeros(len(self._signs))
        self._popped: list[int] = []
        self._choice = per_size > 1
        for start in range(0, len(chosen) if self._choice else 0, 256):
            self._score += _fourth_power(self._signs @ chosen[start : start + 256].T).sum(1)
        # all candidates, or a quarter of those of each size before new ones come
        turns = 2 * max(map(len, sides)) if every else max(1, int(per_size) // 4)
        self.num_picks = len(half) * turns

    def pop(self, size: int) -> Bool[np.ndarray, "n"] | None:
        """The best candidate of this size, which is one no more; None if there is none left."""
        start, end = self._ends[size - 1 : size + 1]
        if start == end:
            return None
        best = start + int(np.argmin(self._score[start:end]))
        if np.isinf(self._score[best]):
            return None
        if self._choice:
            self._score += _fourth_power(self._signs @ self._signs[best])
        self._score[best] = np.inf
        self._popped.append(best)
        return self._signs[best] > 0

    def popped(self) -> Float[np.ndarray, "picks n"]:
        """Signs of the candidates taken, in their order."""
        return self._signs[self._popped]


def _sizes(num_players: int) -> Iterator[int]:
    """Odd sizes 1..n/2, then even ones, again and again; n/2 itself every other time.

    So any n/2 pairs have all sizes: extra pairs of a few sizes help least.
    """
    half = num_players // 2
    order = [*range(1, half + 1, 2), *range(2, half + 1, 2)]
    for turn in itertools.count():
        yield from (size for size in order if turn % 2 == 0 or 2 * size < num_players)


def _first_round(num_players: int, rng: np.random.Generator) -> Bool[np.ndarray, "rows n"]:
    """n − 1 pairs with every size twice (n/2 once): with any such pairs that determine an additive
    game, solving for it is unbiased for every game under random relabelling.

    An ordering's nested pairs are one choice, which has up to twice the error of orthogonal ones.
    """
    starts = NUM_STARTS if num_players <= MAX_PLAYERS_OF_STARTS else 1
    rounds = [_orthogonal_round(num_players, rng) for _ in range(starts)]
    return min(rounds, key=lambda sides: round(_round_error(sides), 9))


def _orthogonal_round(num_players: int, rng: np.random.Generator) -> Bool[np.ndarray, "rows n"]:
    """Each set holds the largest entries of a random direction orthogonal to the sets before it."""
    num_candidates = 16 if num_players <= 2 * MAX_PLAYERS_OF_STARTS else 2
    sides = np.zeros((num_players - 1, num_players), bool)
    basis = np.zeros((num_players - 1, num_players))
    for place in range(num_players - 1):
        size, known = place // 2 + 1, basis[:place]
        directions = rng.normal(size=(num_candidates, num_players))
        directions -= directions.mean(1, keepdims=True)
        directions -= (directions @ known.T) @ known
        candidates = np.zeros((num_candidates, num_players), bool)
        np.put_along_axis(candidates, np.argsort(directions, 1)[:, -size:], True, 1)
        rest = candidates - size / num_players
        rest -= (rest @ known.T) @ known
        best = np.argmax((rest**2).sum(1).round(9))  # rounded: ties go to the first
        remaining = rest[best] - (rest[best] @ known.T) @ known
        sides[place], basis[place] = candidates[best], remaining / np.linalg.norm(remaining)
    return sides


def _round_error(sides: Bool[np.ndarray, "rows n"]) -> float:
    """Expected squared size of the values that solve for an additive game, up to a constant."""
    signs = np.where(sides, 1.0, -1.0)
    solution = np.linalg.pinv(signs - signs.mean(1, keepdims=True))
    return float(((solution @ covariance(sides)) * solution).sum())


def _candidates(
    num_players: int, size: int, taken: set[bytes], count: float, rng: np.random.Generator
) -> Bool[np.ndarray, "k n"]:
    """Up to `count` sets of this size that are not taken, in random order; all of them if few."""
    supply = math.comb(num_players, size) // (2 if 2 * size == num_players else 1)
    if supply <= 4 * count:
        members = itertools.combinations(range(num_players), size)
        members = np.array(list(itertools.islice(members, supply)))  # of n/2: those with player 0
        members = members[rng.permutation(supply)]
    else:
        members = rng.random((int(count), num_players)).argpartition(size, 1)[:, :size]
    sides = np.zeros((len(members), num_players), bool)
    np.put_along_axis(sides, members, True, 1)
    fresh: dict[bytes, int] = {}
    for place, code in enumerate(_codes(sides)):
        if code not in taken and len(fresh) < count:
            fresh.setdefault(code, place)
    return sides[list(fresh.values())]


def _codes(sides: Bool[np.ndarray, "k n"]) -> list[bytes]:
    """One for each pair, the same for both of its sides."""
    return [packed.tobytes() for packed in np.packbits(sides ^ sides[:, :1], axis=1)]


def _fourth_power(inner: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    square = inner.astype(np.float64) ** 2
    return square * square
