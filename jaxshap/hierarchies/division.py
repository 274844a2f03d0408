"""One node's value shared out among its parts, by all gains of theirs or by some."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.hierarchies.enumeration import bits_of, unions_of
from jaxshap.hierarchies.hierarchy import Node

Neighbours = tuple[tuple[Node, ...], ...]


class Division(NamedTuple):
    """Coalitions, one bit per player, whose worths divide a node.

    Attributes:
        coalitions: `(draws, 2 k + 2)`, an ordering of the node's k parts walked both ways; or all
            unions of parts in all contexts, `(contexts, 2**k)`.
        orders: which part joins at each step of each walk, `(draws, 2, k)`; None if all are there.
        weights: how likely each context is, if all are there.
    """

    coalitions: np.ndarray
    orders: np.ndarray | None
    weights: np.ndarray | None


def enumerated(node: Node, neighbours: Neighbours, most: int) -> Division | None:
    """All contexts and all unions of parts, or None if these are more than `most`."""
    parts = [bits_of(part) for part in _parts(node)]
    counts = [len(others) for others in neighbours]
    if 2 ** (len(parts) + sum(counts)) > most:
        return None
    contexts, weights = [0], [1.0]
    for others in neighbours:
        unions = unions_of([bits_of(other) for other in others])
        chances = [_chance(index.bit_count(), len(others) + 1) for index in range(len(unions))]
        contexts = [one | union for one in contexts for union in unions]
        weights = [one * chance for one in weights for chance in chances]
    table = [[one | union for union in unions_of(parts)] for one in contexts]
    return Division(np.array(table, object), None, np.array(weights))


def sampled(
    node: Node, neighbours: Neighbours, draws: int, numbers: np.random.Generator
) -> Division:
    """Random orderings of the parts in random contexts, each with its reverse, no two alike.

    Draws that are alike would agree with each other and seem to be certain.
    """
    parts = [bits_of(part) for part in _parts(node)]
    above = [[bits_of(other) for other in others] for others in neighbours]
    walks: dict[tuple[int, ...], np.ndarray] = {}
    while len(walks) < draws:  # there are more contexts than draws, or all were enumerated
        order = numbers.permutation(len(parts))
        before, after = _context(above, numbers)
        there, back = _walk(before, parts, order), _walk(after, parts, order[::-1])
        if (*back, *there) not in walks:
            walks[*there, *back] = np.stack([order, order[::-1]])
    return Division(np.array(list(walks), object), np.array(list(walks.values())), None)


def divided(
    division: Division,
    known: dict[int, Any],
    value: Float[np.ndarray, "*out"],
    variance: Float[np.ndarray, "*out"],
) -> tuple[Float[np.ndarray, "k *out"], Float[np.ndarray, "k *out"]]:
    """Values and variances of the parts, which sum to the value of the whole.

    What was sampled is no more certain than the rounding of its worths.
    """
    worths = np.array([[known[bits] for bits in row] for row in division.coalitions])
    if division.orders is None:
        gains, own = _all_gains(worths, division), 0.0
        count = len(gains)
    else:
        draws = _drawn_gains(worths, division.orders)
        count = draws.shape[1]
        centred = draws - draws.mean(1, keepdims=True)
        rounding = np.finfo(worths.dtype).eps * np.abs(worths).max((0, 1))
        gains = draws.mean(0)
        own = np.maximum(centred.var(0, ddof=1) / len(draws), rounding**2)
    values = value / count + gains - gains.mean(0)
    return values, own + np.broadcast_to(variance / count**2, values.shape)


def _drawn_gains(worths: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """What each part adds in each draw, the mean of both ways, `(draws, k, *out)`."""
    draws, _, count = orders.shape
    walks = worths.astype(np.float64).reshape(draws, 2, count + 1, *worths.shape[2:])
    steps = np.diff(walks, axis=2)
    places = np.argsort(orders, axis=2).reshape(draws, 2, count, *(1,) * (steps.ndim - 3))
    return np.take_along_axis(steps, np.broadcast_to(places, steps.shape), 2).mean(1)


def _all_gains(worths: np.ndarray, division: Division) -> np.ndarray:
    """The value of each part, from all unions of parts in all contexts."""
    mean = np.tensordot(
        np.asarray(division.weights), worths.astype(np.float64), (0, 0)
    )  # (2**k, *out)
    count = int(math.log2(len(mean)))
    values = np.zeros((count, *mean.shape[1:]))
    for part, union in itertools.product(range(count), range(len(mean))):
        if not union >> part & 1:
            gain = mean[union | 1 << part] - mean[union]
            values[part] += _chance(union.bit_count(), count) * gain
    return values


def _context(above: list[list[int]], numbers: np.random.Generator) -> tuple[int, int]:
    """Who is in before the node in a random ordering, and who in its reverse."""
    before = after = 0
    for others in above:
        order = numbers.permutation(len(others) + 1)
        place = int(np.argmax(order == len(others)))  # where the node stands
        for other in order[:place]:
            before |= others[other]
        for other in order[place + 1 :]:
            after |= others[other]
    return before, after


def _walk(start: int, parts: list[int], order: np.ndarray) -> list[int]:
    return list(itertools.accumulate((parts[part] for part in order), int.__or__, initial=start))


def _chance(size: int, count: int) -> float:
    """How likely a set of this size is to stand before one of `count` in a random ordering."""
    return 1 / (count * math.comb(count - 1, size))


def _parts(node: Node) -> tuple[Node, ...]:
    return (node,) if isinstance(node, int) else node
