"""Causal graphs: d-separation, adjustment sets, and when a direct effect can be read from a model.

A graph is a list of edges (cause, effect), or anything whose `edges` are that, such as a
networkx.DiGraph.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import Any, NamedTuple

from jaxshap.errors import InputError

Node = Hashable
Nodes = Node | Collection[Node]  # one of them, or a list, tuple or set


class _Graph(NamedTuple):
    """The causes of each node."""

    parents: dict[Node, set[Node]]

    def ancestors(self, nodes: Iterable[Node]) -> set[Node]:
        """These nodes and all that lead to them."""
        return _reachable(self.parents, nodes)

    def descendants(self, node: Node) -> set[Node]:
        """All that the node leads to, without itself."""
        return {other for other in self.parents if node in self.ancestors([other])} - {node}


def d_separated(graph: Any, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
    """Whether every path between a and b is blocked by `given`, so that the graph makes them
    independent given it.

    They are, where `given` cuts them apart in the moral graph of their ancestors. Lauritzen et al.
    (1990).

    Example:
        >>> import jaxshap
        >>> fork = [("gender", "height"), ("gender", "accidents")]
        >>> [jaxshap.causal.d_separated(fork, "height", "accidents", given) for given in ((), "gender")]
        [False, True]
    """
    found = _read(graph)
    first, second, known = (_nodes(part, found) for part in (a, b, given))
    if overlap := (first & second) | (first & known) | (second & known):
        raise InputError(
            f"{_names(overlap)} stand on more than one side: a, b and given must not overlap."
        )
    return not _moral_component(found, first, second | known, known) & second


def satisfies_backdoor(graph: Any, treatment: Node, outcome: Node, adjustment: Nodes = ()) -> bool:
    """Whether adjusting for these nodes identifies the effect of the treatment on the outcome.
    Pearl (1993).

    None of them may be an effect of the treatment, and they must block every path into it.

    Example:
        >>> import jaxshap
        >>> graph = [("gender", "height"), ("gender", "accidents"), ("height", "accidents")]
        >>> [jaxshap.causal.satisfies_backdoor(graph, "height", "accidents", given) for given in ((), "gender")]
        [False, True]
    """
    found = _read(graph)
    (cause,), (effect,) = _nodes([treatment], found), _nodes([outcome], found)
    if _nodes(adjustment, found) & found.descendants(cause):
        return False
    without = [
        (parent, child)
        for child, parents in found.parents.items()
        for parent in parents
        if parent != cause
    ]
    isolated = {node: set() for node in found.parents} | _parents(without)
    return d_separated(_Graph(isolated), [cause], [effect], adjustment)


def parent_adjustment(graph: Any, treatment: Node) -> frozenset:
    """The direct causes of the treatment: adjusting for them identifies its effect on anything that
    is not one of them.

    Example:
        >>> import jaxshap
        >>> graph = [("gender", "height"), ("age", "height"), ("height", "accidents")]
        >>> sorted(jaxshap.causal.parent_adjustment(graph, "height"))
        ['age', 'gender']
    """
    found = _read(graph)
    (cause,) = _nodes([treatment], found)
    return frozenset(found.parents[cause])


def identifies_direct_effect(graph: Any, features: Nodes, others: Nodes | None = None) -> bool:
    """Whether the average natural direct effect of the features on a model is its partial
    dependence on them.

    It is, where no feature has both causes and effects among the `others`, the model's other
    inputs; those are all other nodes of the graph where none are given.

    Example:
        >>> import jaxshap
        >>> chain = [("gender", "height"), ("height", "car")]
        >>> [jaxshap.causal.identifies_direct_effect(chain, feature) for feature in ("gender", "height", "car")]
        [True, False, True]
    """
    return not between_others(graph, features, others)


def between_others(
    graph: Any, features: Nodes, others: Nodes | None = None
) -> dict[Node, tuple[set, set]]:
    """The features that stand between other inputs, with their causes and their effects among
    those.
    """
    found = _read(graph)
    chosen = _nodes(features, found)
    rest = found.parents.keys() - chosen if others is None else _nodes(others, found) - chosen
    sides = {
        node: (found.ancestors([node]) & rest, found.descendants(node) & rest) for node in chosen
    }
    return {
        node: (causes, effects) for node, (causes, effects) in sides.items() if causes and effects
    }


def _read(graph: Any) -> _Graph:
    if isinstance(graph, _Graph):
        return graph
    pairs = [tuple(edge) for edge in getattr(graph, "edges", graph)]
    if wrong := [edge for edge in pairs if len(edge) != 2 or edge[0] == edge[1]]:
        raise InputError(f"an edge is a pair (cause, effect) of two nodes, not {wrong[0]}.")
    if getattr(graph, "is_directed", lambda: True)() is False:
        raise InputError(
            "the graph has no directions: pass a networkx.DiGraph, or edges (cause, effect)."
        )
    parents = {node: set() for node in getattr(graph, "nodes", ())} | _parents(pairs)
    found = _Graph(parents)
    if circular := [node for node, causes in parents.items() if node in found.ancestors(causes)]:
        raise InputError(
            f"the graph has a circle through {_names(circular)}: a cause comes before its effects."
        )
    return found


def _parents(edges: Iterable[tuple[Node, Node]]) -> dict[Node, set[Node]]:
    parents: dict[Node, set[Node]] = {}
    for cause, effect in edges:
        parents.setdefault(cause, set())
        parents.setdefault(effect, set()).add(cause)
    return parents


def _nodes(nodes: Any, graph: _Graph) -> set[Node]:
    found = {nodes} if isinstance(nodes, Hashable) and nodes in graph.parents else None
    if found is None:  # several, unless it is one that the graph does not have
        found = set(nodes) if isinstance(nodes, list | tuple | set | frozenset) else {nodes}
    if missing := found - graph.parents.keys():
        raise InputError(
            f"the graph has no {_names(missing)}: its nodes are {_names(graph.parents)}. Nodes without an edge need a "
            "networkx.DiGraph, or an edge to the outcome."
        )
    return found


def _names(nodes: Iterable[Node]) -> list[str]:
    return sorted(map(str, nodes))


def _moral_component(graph: _Graph, start: set[Node], also: set[Node], cut: set[Node]) -> set[Node]:
    """What `start` is connected to among all ancestors, with parents of one child joined and `cut`
    taken out.
    """
    kept = graph.ancestors(start | also)
    families = [graph.parents[node] | {node} for node in kept]
    beside = {
        node: set().union(*(family for family in families if node in family)) - cut for node in kept
    }
    return _reachable(beside, start)


def _reachable(steps: dict[Node, set[Node]], nodes: Iterable[Node]) -> set[Node]:
    found, open_ends = set(), set(nodes)
    while open_ends:
        found |= open_ends
        open_ends = set().union(*(steps[node] for node in open_ends)) - found
    return found
