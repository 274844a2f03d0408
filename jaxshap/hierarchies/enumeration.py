"""All coalitions that the orderings of a tree meet, and the weights of their worths."""

import functools
import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.hierarchies.hierarchy import Hierarchy, Node, leaves

Contexts = dict[int, float]  # who is in already, one bit per player: how likely that is


@functools.lru_cache(maxsize=16)
def coalitions_of(tree: Hierarchy) -> Bool[np.ndarray, "m n"]:
    """Those coalitions, without ∅ and N."""
    coalitions = np.array([members_of(bits, tree.num_players) for bits in _inner(tree)])
    return coalitions.reshape(-1, tree.num_players)


@functools.lru_cache(maxsize=16)
def weights_of(tree: Hierarchy) -> Float[np.ndarray, "_ n"]:
    """What v(S) − v(∅) of each of them, and last of N, counts in the value of each player."""
    everyone = 2**tree.num_players - 1
    places = {bits: place for place, bits in enumerate([*_inner(tree), everyone])}
    weights = np.zeros((len(places) + 1, tree.num_players))  # the last row is ∅, which counts 0
    for player, without, weight in _gains(tree.root, {0: 1.0}):
        weights[places[without | 1 << player], player] += weight
        weights[places.get(without, -1), player] -= weight
    return weights[:-1]


def _inner(tree: Hierarchy) -> list[int]:
    return sorted(set(_partial(tree.root, [0])))


def _partial(node: Node, contexts: list[int]) -> Iterator[int]:
    """The coalitions in which this node, or one below it, is there in part."""
    if isinstance(node, int):
        return
    unions = unions_of([bits_of(child) for child in node])
    yield from (context | union for context in contexts for union in unions[1:-1])
    for child in node:
        others = [union for union in unions if not union & bits_of(child)]
        yield from _partial(child, [context | union for context in contexts for union in others])


def _gains(node: Node, contexts: Contexts) -> Iterator[tuple[int, int, float]]:
    """Each player below the node, whom it joins, and how likely it is to join them."""
    if isinstance(node, int):
        yield from ((node, context, weight) for context, weight in contexts.items())
        return
    unions = unions_of([bits_of(child) for child in node])
    sizes = [index.bit_count() for index in range(len(unions))]
    count = len(node)
    chance = [1 / (count * math.comb(count - 1, size)) for size in range(count)]
    for place, child in enumerate(node):
        others = [index for index in range(len(unions)) if not index >> place & 1]
        yield from _gains(
            child,
            {
                context | unions[index]: weight * chance[sizes[index]]
                for context, weight in contexts.items()
                for index in others
            },
        )


def unions_of(parts: list[int]) -> list[int]:
    """The union of every set of parts; part i is in those whose number has bit i."""
    unions = [0]
    for part in parts:
        unions += [union | part for union in unions]
    return unions


def bits_of(node: Node) -> int:
    return sum(1 << player for player in leaves(node))


def members_of(bits: int, num_players: int) -> Bool[np.ndarray, "n"]:
    flags = np.frombuffer(bits.to_bytes(num_players // 8 + 1, "little"), np.uint8)
    return np.unpackbits(flags, bitorder="little")[:num_players].astype(bool)
