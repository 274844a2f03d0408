"""Causal graphs: d-separation, adjustment sets, and when a model's direct effects are causal."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import shown
from jaxshap.inputs import is_list

Node = Hashable
Nodes = Any  # a node, or a list, tuple or set of nodes


class _Graph(NamedTuple):
    """The causes of each node."""

    parents: dict[Node, set[Node]]

    def ancestors(self, nodes: Iterable[Node]) -> set[Node]:
        """These nodes and all that lead to them."""
        return _reachable(self.parents, nodes)

    def descendants(self, node: Node) -> set[Node]:
        """All nodes that the node leads to, without itself."""
        return {other for other in self.parents if node in self.ancestors([other])} - {node}


def d_separated(graph: Any, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
    """Whether `given` blocks every path between a and b: the graph makes them independent given it.

    It does where it cuts them apart in the moral graph of their ancestors. Lauritzen et al. (1990).

    Args:
        graph: edges (cause, effect), or a networkx.DiGraph.
        a: a node, or several.
        b: a node, or several others.
        given: the nodes that are known, none of them in a or b; by default none.

    Returns:
        True where a and b are d-separated.

    Raises:
        InputError: where the graph has a circle or lacks a node, or where the sides overlap.

    Example:
        >>> import jaxshap
        >>> fork = [("gender", "height"), ("gender", "accidents")]
        >>> jaxshap.causal.d_separated(fork, "height", "accidents")
        False
        >>> jaxshap.causal.d_separated(fork, "height", "accidents", given="gender")
        True
    """
    read = _read(graph)
    first, second, known = (_nodes(side, read) for side in (a, b, given))
    if overlap := (first & second) | (first & known) | (second & known):
        raise InputError(
            f"{_names(overlap)} stand on more than one side: a, b and given must not overlap."
        )
    return not _moral_component(read, first, second | known, known) & second


def satisfies_backdoor(graph: Any, treatment: Node, outcome: Node, adjustment: Nodes = ()) -> bool:
    """Whether adjusting for these nodes identifies the effect of the treatment on the outcome.

    None of them may be an effect of the treatment, and they must block every path into it. Pearl
    (1993).

    Args:
        graph: edges (cause, effect), or a networkx.DiGraph.
        treatment: the node whose effect is asked for.
        outcome: the node that it has an effect on.
        adjustment: the nodes that are adjusted for; by default none.

    Returns:
        True where the backdoor criterion holds.

    Raises:
        InputError: where the graph has a circle or lacks a node.

    Example:
        >>> import jaxshap
        >>> graph = [("gender", "height"), ("gender", "accidents"), ("height", "accidents")]
        >>> jaxshap.causal.satisfies_backdoor(graph, "height", "accidents")
        False
        >>> jaxshap.causal.satisfies_backdoor(graph, "height", "accidents", "gender")
        True
    """
    read = _read(graph)
    (cause,), (effect,) = _nodes([treatment], read), _nodes([outcome], read)
    if _nodes(adjustment, read) & read.descendants(cause):
        return False
    into_treatment = {node: parents - {cause} for node, parents in read.parents.items()}
    return d_separated(_Graph(into_treatment), [cause], [effect], adjustment)


def parent_adjustment(graph: Any, treatment: Node) -> frozenset:
    """The direct causes of the treatment.

    Adjusting for them identifies the effect of the treatment on any node that is not one of them.

    Args:
        graph: edges (cause, effect), or a networkx.DiGraph.
        treatment: the node whose effect is asked for.

    Returns:
        The nodes with an edge into the treatment.

    Raises:
        InputError: where the graph has a circle or lacks the node.

    Example:
        >>> import jaxshap
        >>> graph = [("gender", "height"), ("age", "height"), ("height", "accidents")]
        >>> sorted(jaxshap.causal.parent_adjustment(graph, "height"))
        ['age', 'gender']
    """
    read = _read(graph)
    (cause,) = _nodes([treatment], read)
    return frozenset(read.parents[cause])


def identifies_direct_effect(graph: Any, features: Nodes, others: Nodes = None) -> bool:
    """Whether the average natural direct effect of features on a model is its partial dependence.

    It is where no feature has both causes and effects among the model's other inputs.

    Args:
        graph: edges (cause, effect), or a networkx.DiGraph.
        features: the features whose effect is asked for.
        others: the model's other inputs; by default all other nodes of the graph.

    Returns:
        True where `direct_effect` is causal.

    Raises:
        InputError: where the graph has a circle or lacks a node.

    Example:
        >>> import jaxshap
        >>> chain = [("gender", "height"), ("height", "car")]
        >>> jaxshap.causal.identifies_direct_effect(chain, "gender")
        True
        >>> jaxshap.causal.identifies_direct_effect(chain, "height")
        False
    """
    return not between_others(graph, features, others)


def between_others(
    graph: Any, features: Nodes, others: Nodes = None
) -> dict[Node, tuple[set[Node], set[Node]]]:
    """The features that stand between other inputs, with their causes and effects among those."""
    read = _read(graph)
    chosen = _nodes(features, read)
    rest = read.parents.keys() - chosen if others is None else _nodes(others, read) - chosen
    sides = {
        node: (read.ancestors([node]) & rest, read.descendants(node) & rest) for node in chosen
    }
    return {
        node: (causes, effects) for node, (causes, effects) in sides.items() if causes and effects
    }


def _read(graph: Any) -> _Graph:
    if isinstance(graph, _Graph):
        return graph
    edges: Any = getattr(graph, "edges", graph)
    if isinstance(edges, str | bytes) or not is_list(edges) or isinstance(edges, dict):
        raise InputTypeError(f"graph={shown(graph)}: pass edges (cause, effect), or a DiGraph.")
    if wrong := [edge for edge in edges if not _is_edge(edge)]:
        raise InputError(f"an edge is a pair (cause, effect) of nodes, not {shown(wrong[0])}.")
    pairs = [tuple(edge) for edge in edges]
    if wrong := [edge for edge in pairs if len(edge) != 2 or edge[0] == edge[1]]:
        raise InputError(f"an edge is a pair (cause, effect) of two nodes, not {wrong[0]}.")
    if getattr(graph, "is_directed", lambda: True)() is False:
        raise InputError(
            "the graph has no directions: pass a networkx.DiGraph, or edges (cause, effect)."
        )
    parents = {node: set() for node in getattr(graph, "nodes", ())} | _parents(pairs)
    read = _Graph(parents)
    if circular := [node for node, causes in parents.items() if node in read.ancestors(causes)]:
        raise InputError(
            f"the graph has a circle through {_names(circular)}: a cause comes before its effects."
        )
    return read


def _is_node(node: Any) -> bool:
    """Whether it has a hash; arrays of JAX say so wrongly."""
    try:
        hash(node)
    except TypeError:
        return False
    return True


def _is_edge(edge: Any) -> bool:
    pair = isinstance(edge, tuple | list) and len(edge) == 2
    return pair and all(_is_node(node) for node in edge)


def _parents(edges: Iterable[tuple[Node, Node]]) -> dict[Node, set[Node]]:
    parents: dict[Node, set[Node]] = {}
    for cause, effect in edges:
        parents.setdefault(cause, set())
        parents.setdefault(effect, set()).add(cause)
    return parents


def _nodes(nodes: Any, graph: _Graph) -> set[Node]:
    """The node, which may itself be a tuple, or the nodes of a list, tuple or set."""
    if _is_node(nodes) and nodes in graph.parents:
        return {nodes}
    several = isinstance(nodes, list | tuple | set | frozenset)
    if not all(_is_node(node) for node in (nodes if several else [nodes])):
        raise InputTypeError(f"{shown(nodes)} is no node of a graph: pass its name, or a list.")
    listed = set(nodes) if several else {nodes}
    if missing := listed - graph.parents.keys():
        raise InputError(
            f"the graph has no {_names(missing)}: its nodes are {_names(graph.parents)}. Nodes "
            "without an edge need a networkx.DiGraph, or an edge to the outcome."
        )
    return listed


def _names(nodes: Iterable[Node]) -> list[str]:
    return sorted(map(str, nodes))


def _moral_component(graph: _Graph, start: set[Node], also: set[Node], cut: set[Node]) -> set[Node]:
    """The nodes connected to `start` in the moral graph of all ancestors, with `cut` taken out."""
    kept = graph.ancestors(start | also)
    families = [graph.parents[node] | {node} for node in kept]  # parents of a child are joined
    neighbours = {
        node: set().union(*(family for family in families if node in family)) - cut for node in kept
    }
    return _reachable(neighbours, start)


def _reachable(steps: dict[Node, set[Node]], nodes: Iterable[Node]) -> set[Node]:
    reached, frontier = set(), set(nodes)
    while frontier:
        reached |= frontier
        frontier = set().union(*(steps[node] for node in frontier)) - reached
    return reached
