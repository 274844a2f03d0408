"""A tree whose leaves are the players: words in sentences, pixels in segments in an image."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_array, as_numbers, shown
from jaxshap.inputs import read_lengths

Node = int | tuple[Any, ...]  # a player, or two or more nodes


@dataclasses.dataclass(frozen=True)
class Hierarchy:
    """Groups of players and of groups; make one with `hierarchy`.

    Args:
        root: nested tuples of the players' numbers, each of 0..n−1 once, no tuple of a single part.

    Example:
        >>> import jaxshap
        >>> words = jaxshap.hierarchies.hierarchy([[0, 1, 2], [3, 4]])  # two sentences
        >>> words.num_players, words.depth, words.num_coalitions
        (5, 2, 20)
    """

    root: tuple[Node, ...]

    def __repr__(self) -> str:
        return f"Hierarchy({self.num_players} players on {self.depth} levels)"

    @functools.cached_property
    def num_players(self) -> int:
        """How many leaves there are."""
        return len(leaves(self.root))

    @functools.cached_property
    def depth(self) -> int:
        """How many levels there are: 1 if all players stand side by side, 2 for a partition."""
        return _depth(self.root)

    @functools.cached_property
    def num_coalitions(self) -> int:
        """How many coalitions occur in some ordering, ∅ and N among them: the cost of exact values.

        In each of them at most one group on each level is there in part.
        """
        return 2 + _num_partial(self.root, 1)

    @functools.cached_property
    def ancestors(self) -> Int[np.ndarray, "depth n"]:
        """The number of the node on each level that each player belongs to; the last is its own."""
        table = np.zeros((self.depth, self.num_players), np.int32)
        for number, (level, node) in enumerate(_below(self.root)):
            table[level:, list(leaves(node))] = number
        return table

    @functools.cached_property
    def num_nodes(self) -> int:
        """How many nodes there are below the root, players among them."""
        return sum(1 for _ in _below(self.root))


def hierarchy(groups: Sequence[Any]) -> Hierarchy:
    """Groups of players, or of groups, to any depth.

    Args:
        groups: nested lists of players' numbers; each player 0..n−1 stands in them once. A list of
            lists is a partition, whose values are Owen values.

    Returns:
        The `Hierarchy`; groups of one part are that part.

    Raises:
        InputError: a player is missing or there twice, or a group is empty.
        InputTypeError: there is something else than numbers and lists.

    Example:
        >>> import jaxshap
        >>> jaxshap.hierarchies.hierarchy([[0, 1], [[2, 3], [4]]]).root
        ((0, 1), ((2, 3), 4))
    """
    root = _node(groups)
    players = sorted(leaves(root))
    if isinstance(root, int) or players != list(range(len(players))):
        raise InputError(
            f"the groups hold the players {_shortened(players)}: each of 0..n−1 must be in them "
            "once, and there must be two or more."
        )
    return Hierarchy(root)


def hierarchy_of_labels(*labels: Any) -> Hierarchy:
    """Players with the same label in one group: pixels in segments, words in sentences.

    Args:
        labels: one label per player, numbers or names, in an array of any shape; several arrays
            from the coarsest groups to the finest.

    Returns:
        The `Hierarchy`.

    Raises:
        InputError: there are no labels, or not one per player in each array.

    Example:
        >>> import jaxshap
        >>> segments = [[7, 7, 9], [7, 9, 9]]  # of the pixels of an image
        >>> jaxshap.hierarchies.hierarchy_of_labels(segments).root
        ((0, 1, 3), (2, 4, 5))
    """
    numbers = [_numbered(one) for one in labels]
    sizes = sorted({len(one) for one in numbers})
    if len(sizes) != 1:
        raise InputError(f"there are {sizes} labels: pass one per player in each array.")
    return hierarchy(_labelled(np.arange(sizes[0]), numbers))


def _numbered(labels: Any) -> Int[np.ndarray, "n"]:
    array = np.ravel(as_array(labels, "labels"))
    try:
        return np.unique(array, return_inverse=True)[1].ravel()
    except TypeError:
        message = f"labels={shown(labels)} are of several kinds: pass numbers or names alone."
        raise InputTypeError(message) from None


def hierarchy_of_linkage(linkage: Any) -> Hierarchy:
    """The tree of a hierarchical clustering, such as one of features by correlation.

    Args:
        linkage: what `scipy.cluster.hierarchy.linkage` returns, `(n − 1, 4)`.

    Returns:
        The `Hierarchy`, in which every node has two parts.

    Raises:
        InputError: it is not a linkage matrix.

    Example:
        >>> import jaxshap
        >>> linkage = [[0, 1, 0.5, 2], [3, 2, 1.0, 3]]
        >>> jaxshap.hierarchies.hierarchy_of_linkage(linkage).root
        (2, (0, 1))
    """
    merges = np.asarray(as_numbers(linkage, "linkage"))
    if merges.ndim != 2 or merges.shape[1] != 4 or not len(merges):
        raise InputError(
            f"a linkage matrix has the shape (n − 1, 4), not {merges.shape}: pass what "
            "scipy.cluster.hierarchy.linkage returns."
        )
    nodes: list[Node] = list(range(len(merges) + 1))
    if (merges[:, :2] % 1 != 0).any():  # NaN too
        raise InputError("the first two columns of a linkage matrix are whole numbers of clusters.")
    for first, second in merges[:, :2].astype(int):
        if not 0 <= min(first, second) <= max(first, second) < len(nodes):
            raise InputError("a row of the linkage matrix joins what is not there yet.")
        nodes.append((nodes[min(first, second)], nodes[max(first, second)]))
    return hierarchy([nodes[-1]])


def hierarchy_of_blocks(shape: Sequence[int]) -> Hierarchy:
    """Blocks of a grid, halved along the longest side until each is a single player.

    Args:
        shape: the lengths of the grid, whose players are numbered row by row, as those of
            `jaxshap.patches` are.

    Returns:
        The `Hierarchy`, in which every node has two parts.

    Raises:
        InputError: a length is not positive, or the grid has one place only.

    Example:
        >>> import jaxshap
        >>> jaxshap.hierarchies.hierarchy_of_blocks((2, 3)).root
        (((0, 1), (3, 4)), (2, 5))
    """
    lengths = read_lengths(shape, "shape")
    if np.prod(lengths) < 2:
        raise InputError(f"shape={shape}: pass positive lengths of a grid of two or more places.")
    return Hierarchy(_halved(np.arange(np.prod(lengths)).reshape(lengths)))


def leaves(node: Node) -> tuple[int, ...]:
    """The players in a node, in the order in which they stand."""
    if isinstance(node, int):
        return (node,)
    return tuple(player for child in node for player in leaves(child))


def _halved(grid: np.ndarray) -> Any:
    if grid.size == 1:
        return int(grid.ravel()[0])
    axis = int(np.argmax(grid.shape))
    middle = (grid.shape[axis] + 1) // 2
    return tuple(_halved(half) for half in np.split(grid, [middle], axis))


def _labelled(players: np.ndarray, labels: Sequence[np.ndarray]) -> list[Any]:
    if not labels:
        return players.tolist()
    own = labels[0][players]
    return [_labelled(players[own == label], labels[1:]) for label in np.unique(own)]


def _node(groups: Any) -> Node:
    if isinstance(groups, int | np.integer) and not isinstance(groups, bool):
        return int(groups)
    if isinstance(groups, np.ndarray):
        groups = groups.tolist()
    if not isinstance(groups, list | tuple):
        raise InputTypeError(
            f"{shown(groups)} in a hierarchy: pass nested lists of the players' numbers."
        )
    if not groups:
        raise InputError("a group without players: leave it out.")
    parts = tuple(_node(part) for part in groups)
    return parts[0] if len(parts) == 1 else parts


def _depth(node: Node) -> int:
    return 0 if isinstance(node, int) else 1 + max(_depth(child) for child in node)


def _num_partial(node: Node, contexts: int) -> int:
    """Coalitions in which this node, or one below it, is there in part."""
    if isinstance(node, int):
        return 0
    own = contexts * (2 ** len(node) - 2)
    return own + sum(_num_partial(child, contexts * 2 ** (len(node) - 1)) for child in node)


def _below(node: Node, level: int = 0) -> Iterator[tuple[int, Node]]:
    """Every node below this one with its level, parents first."""
    if isinstance(node, int):
        return
    for child in node:
        yield level, child
        yield from _below(child, level + 1)


def _shortened(players: list[int]) -> str:
    return str(players) if len(players) <= 12 else f"{str(players[:12])[:-1]}, …]"
