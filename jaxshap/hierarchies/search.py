"""A search from the top down, which divides the part of a tree that has the largest value."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from jaxshap.engine import BatchSize, evaluate, read_budget, read_key
from jaxshap.errors import BudgetError, InputError
from jaxshap.games import Game, check_game, check_kind, read_whole
from jaxshap.hierarchies.division import Division, divided, enumerated, sampled
from jaxshap.hierarchies.enumeration import members_of
from jaxshap.hierarchies.hierarchy import Hierarchy, Node, leaves
from jaxshap.hierarchies.search_result import Parts
from jaxshap.inputs import read_names

AT_ONCE = 16  # parts that are divided in one round


class _Part(NamedTuple):
    """A node, its neighbours on every level above it, and its value."""

    node: Node
    neighbours: tuple[tuple[Node, ...], ...]
    value: Float[np.ndarray, "*out"]
    variance: Float[np.ndarray, "*out"]


def top_down(
    key: Any,
    game: Game,
    hierarchy: Hierarchy,
    *,
    budget: int | None = None,
    draws: int = 8,
    names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Parts:
    """Winter values of the parts of a tree, where the part with the largest value is divided next.

    Thousands of players are found in tens of evaluations each, where few of them matter. A part
    whose members cancel looks small and is not divided: nothing is said about what is inside.

    Args:
        key: a whole number or a `jax.random.key`.
        game: the game; of several outputs or rows, the largest value of a part in any counts.
        hierarchy: the tree whose leaves are the players.
        budget: evaluations to spend, ∅ and N among them; by default that of `jaxshap.estimate`.
        draws: pairs of orderings that a part is divided by, where it cannot be divided exactly at
            that cost; at least 2.
        names: what to print for each player; numbers by default.
        batch_size: coalitions per batch; "auto" chooses by memory.

    Returns:
        `Parts`, whose values sum to v(N) − v(∅).

    Raises:
        InputError: the tree is one of other players, `draws` is less than 2, or there is not one
            name per player.
        BudgetError: the budget does not buy the first division.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> gains = jnp.array([1.0, 0.0, 0.0, 2.0, 2.0, 0.0])
        >>> game = jaxshap.make_game(lambda present: jnp.where(present, gains, 0.0).sum(), 6)
        >>> tree = jaxshap.hierarchies.hierarchy([[0, 1, 2], [3, 4, 5]])
        >>> parts = jaxshap.hierarchies.top_down(0, game, tree)
        >>> {part: float(value) for part, value in zip(parts.players, parts.values) if value}
        {(3,): 2.0, (4,): 2.0, (0,): 1.0}
    """
    check_game(game)
    _check(game, hierarchy, draws)
    names = None if names is None else _read_names(names, game.num_players)
    budget = read_budget(budget, game.num_players)
    seed = np.asarray(jax.random.key_data(read_key(key))).tolist()
    empty, full = np.asarray(game.empty), np.asarray(game.full)
    known = {0: empty, 2**game.num_players - 1: full}
    total = np.asarray(full - empty, np.float64)
    everything = _Part(hierarchy.root, (), total, np.zeros_like(total))
    parts, numbers = [everything], np.random.default_rng(seed)
    while chosen := _next(parts):
        divisions = [_division(part, draws, numbers) for part in chosen]
        divisions = divisions[: _affordable(divisions, known, budget)]
        if not divisions:
            break
        _ask(game, divisions, known, batch_size)
        done = chosen[: len(divisions)]
        parts = [part for part in parts if not any(part is one for one in done)]
        for part, division in zip(done, divisions, strict=True):
            parts += _children(part, division, known)
    if parts == [everything]:
        needed = 2 + len(_new(_division(everything, draws, numbers), known))
        raise BudgetError(f"budget={budget} does not divide the tree once: pass {needed}.", needed)
    return _result(parts, len(known), full.dtype, draws - 1, names)


def _check(game: Game, hierarchy: Hierarchy, draws: int) -> None:
    check_kind(hierarchy, Hierarchy, "hierarchy", "what jaxshap.hierarchies.hierarchy makes")
    if hierarchy.num_players != game.num_players:
        raise InputError(
            f"the hierarchy has {hierarchy.num_players} players and the game {game.num_players}: "
            "make it for the players of this game."
        )
    if read_whole(draws, "draws") < 2:
        raise InputError(f"draws={draws}: pass 2 or more, one has no standard error.")


def _read_names(names: Any, num_players: int) -> tuple[str, ...]:
    given = read_names(names, "names")
    if len(given) != num_players:
        raise InputError(f"there are {len(given)} names of {num_players} players: pass one each.")
    return given


def _next(parts: list[_Part]) -> list[_Part]:
    """The parts that can be divided, largest first, and no more than are a third of the largest."""
    groups = [part for part in parts if not isinstance(part.node, int)]
    sizes = [_size(part) for part in groups]
    order = np.argsort(-np.array(sizes), kind="stable")[:AT_ONCE]
    return [groups[i] for i in order if sizes[i] >= sizes[order[0]] / 3]


def _size(part: _Part) -> float:
    return float(np.abs(part.value).max(initial=0))


def _division(part: _Part, draws: int, numbers: np.random.Generator) -> Division:
    whole = enumerated(part.node, part.neighbours, most=2 * draws * (len(_tuple(part.node)) + 1))
    return whole or sampled(part.node, part.neighbours, draws, numbers)


def _tuple(node: Node) -> tuple[Node, ...]:
    return (node,) if isinstance(node, int) else node


def _new(division: Division, known: dict[int, Any]) -> set[int]:
    return {int(bits) for bits in division.coalitions.flat if bits not in known}


def _affordable(divisions: list[Division], known: dict[int, Any], budget: int) -> int:
    """How many of the divisions, in order, the rest of the budget buys."""
    asked: set[int] = set()
    for count, division in enumerate(divisions):
        asked |= _new(division, known)
        if len(known) + len(asked) > budget:
            return count
    return len(divisions)


def _ask(game: Game, divisions: list[Division], known: dict[int, Any], batch_size: Any) -> None:
    """Every coalition that is not known yet, once."""
    asked = sorted(set().union(*(_new(division, known) for division in divisions)))
    if asked:
        coalitions = np.array([members_of(bits, game.num_players) for bits in asked])
        worths = evaluate(game, coalitions, batch_size=batch_size, progress=False)
        known.update(zip(asked, np.asarray(worths), strict=True))


def _children(part: _Part, division: Division, known: dict[int, Any]) -> list[_Part]:
    children = _tuple(part.node)
    values, variances = divided(division, known, part.value, part.variance)
    return [
        _Part(
            child,
            (*part.neighbours, children[:place] + children[place + 1 :]),
            values[place, ...],
            variances[place, ...],
        )
        for place, child in enumerate(children)
    ]


def _result(
    parts: list[_Part], num_evaluations: int, dtype: Any, degrees: int, names: Any
) -> Parts:
    parts = sorted(parts, key=_size, reverse=True)
    return Parts(
        tuple(leaves(part.node) for part in parts),
        np.stack([part.value for part in parts]).astype(dtype),
        np.sqrt(np.stack([part.variance for part in parts])).astype(dtype),
        num_evaluations,
        degrees,
        names,
    )
