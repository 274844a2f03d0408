"""Games: the worth of a coalition, with its two endpoints; and games made from games."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from jaxshap.errors import InputError, InputTypeError

_ARRAYS = (jax.Array, np.ndarray, np.generic)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Game:
    """A value function with its two endpoints; a pytree, so jit never bakes its data in.

    `empty` and `full` are v(no players) and v(all players). Everything that varies from
    explanation to explanation (rows, classes, losses) is an output axis: `*out`.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> game.num_players, float(game.empty), float(game.full), float(game(np.array([True, False])))
        (2, 0.0, 6.0, 1.0)
    """

    value: Callable[[Any], Any]  # of a coalition; a `Host` function of a batch of them
    empty: Float[Array, "*out"]
    full: Float[Array, "*out"]
    num_players: int = dataclasses.field(metadata={"static": True})
    name: str = dataclasses.field(default="game", metadata={"static": True})

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        if self.on_host:
            raise InputTypeError(
                "this game runs on the host, a batch at a time: call jaxshap.evaluate(game, coalitions)."
            )
        return self.value(coalition)

    @property
    def on_host(self) -> bool:
        """Whether worths come from numpy, outside JAX: no jit, vmap or grad through them."""
        return isinstance(self.value, Host)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Host:
    """A function from a numpy batch to a numpy batch that JAX cannot or should not trace."""

    function: Callable[[np.ndarray], Any]
    bytes_per_item: int = (
        2**10
    )  # memory one item of the batch needs; with it the batch size is chosen

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(batch))


def check_game(game: Any) -> None:
    """Say how to make one of a model or a function, which are often passed in its place."""
    if not isinstance(game, Game):
        raise InputTypeError(
            f"{getattr(game, '__name__', type(game).__name__)} is not a game: pass jaxshap.marginal(model, X, "
            "background) for a model, or jaxshap.make_game(function, num_players) for a function of a coalition."
        )


def make_game(value: Callable, num_players: int, name: str = "game") -> Game:
    """Wrap a pure function of one boolean coalition `(n,)`, evaluating both endpoints.

    A `host` function takes a batch of coalitions `(m, n)` in numpy instead, and returns `(m,
    *out)`.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda coalition: jnp.where(coalition.all(), 6.0, 0.0), 3)
        >>> jaxshap.shapley_values(game).tolist()
        [2.0, 2.0, 2.0]
    """
    if num_players < 1:
        raise InputError(f"a game needs at least one player, not num_players={num_players}.")
    if isinstance(value, Host):
        ends = np.stack([np.zeros(num_players, bool), np.ones(num_players, bool)])
        empty, full = jnp.asarray(value(ends))
    else:
        value = as_pytree(value)
        everyone = jnp.ones(num_players, bool)
        empty, full = (jnp.asarray(value(players)) for players in (~everyone, everyone))
    if not jnp.issubdtype(empty.dtype, jnp.floating):
        raise InputTypeError(
            f"worths must be floating-point numbers, not {empty.dtype}: cast them in the value function."
        )
    return Game(value, empty, full, num_players, name)


def as_pytree(function: Callable) -> Callable:
    """The function as a pytree: its arrays are leaves, so jit sees them as data; an opaque function
    is static.

    Other leaves, such as the activation function of an Equinox module, are static as well.
    """
    leaves, structure = jax.tree.flatten(function)
    if len(leaves) == 1 and leaves[0] is function:
        return jax.tree_util.Partial(function)
    if all(isinstance(leaf, _ARRAYS) for leaf in leaves):
        return function
    arrays, others = (
        tuple(leaf if isinstance(leaf, _ARRAYS) == wanted else None for leaf in leaves)
        for wanted in (True, False)
    )
    return _Partly(arrays, others, structure)


def table(worths: Float[Array, "size *out"]) -> Game:
    """The game with these 2**n worths; coalition S stands at index Σ_{i∈S} 2**i.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])  # nobody, player 0, player 1, both
        >>> jaxshap.shapley_values(game).tolist()
        [2.5, 3.5]
    """
    worths = jnp.asarray(worths)
    num_players = len(worths).bit_length() - 1
    if len(worths) != 2**num_players or num_players < 1:
        raise InputError(f"a table of worths has 2**n rows with n ≥ 1, not {len(worths)}.")
    return make_game(_Table(worths), num_players, "table")


def grouped(game: Game, groups: Sequence[Sequence[int]]) -> Game:
    """The game between groups of players: a group is in when all its players are. Groups must
    partition the players.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> jaxshap.shapley_values(jaxshap.grouped(game, [[0, 1], [2]])).tolist()
        [5.0, 3.0]
    """
    members = [list(map(int, group)) for group in groups]
    listed = sorted(player for group in members for player in group)
    if listed != list(range(game.num_players)) or not all(members):
        raise InputError(
            f"groups must name each of the players 0..{game.num_players - 1} once and none may be empty: got {members}."
        )
    group_of = np.empty(game.num_players, int)
    for number, group in enumerate(members):
        group_of[group] = number
    value = game.value
    if isinstance(value, Host):
        wrapped: Callable = Host(
            lambda coalitions: value(coalitions[:, group_of]), value.bytes_per_item
        )
    else:
        wrapped = _Grouped(value, jnp.asarray(group_of))
    return dataclasses.replace(game, value=wrapped, num_players=len(members))


def minus(game: Game, other: Game) -> Game:
    """The difference of two games with the same players: its Shapley values are the difference of
    theirs.

    Example:
        >>> import jaxshap
        >>> game, other = jaxshap.table([0.0, 1.0, 2.0, 6.0]), jaxshap.table([0.0, 1.0, 2.0, 3.0])
        >>> jaxshap.shapley_values(jaxshap.minus(game, other)).tolist()
        [1.5, 1.5]
    """
    if game.num_players != other.num_players:
        raise InputError(
            f"the games have {game.num_players} and {other.num_players} players: they must be the same."
        )
    if game.on_host != other.on_host:
        raise InputTypeError(
            "one game runs on the host and the other in JAX: wrap both models in jaxshap.host, or neither."
        )
    first, second = game.value, other.value
    if isinstance(first, Host) and isinstance(second, Host):
        value: Callable = Host(
            lambda coalitions: first(coalitions) - second(coalitions),
            first.bytes_per_item + second.bytes_per_item,
        )
    else:
        value = _Difference(first, second)
    return Game(
        value,
        game.empty - other.empty,
        game.full - other.full,
        game.num_players,
        f"{game.name} − {other.name}",
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Partly:
    """A function whose leaves are partly arrays."""

    arrays: tuple[Array | None, ...]
    others: tuple[Any, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})

    def __call__(self, *inputs):
        pairs = zip(self.arrays, self.others, strict=True)
        leaves = [other if array is None else array for array, other in pairs]
        return jax.tree.unflatten(self.structure, leaves)(*inputs)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Table:
    worths: Float[Array, "size *out"]

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        return self.worths[jnp.where(coalition, 2 ** jnp.arange(coalition.shape[0]), 0).sum()]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Grouped:
    value: PyTree
    group_of: Int[Array, "players"]

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        return self.value(coalition[self.group_of])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Difference:
    first: PyTree
    second: PyTree

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        return self.first(coalition) - self.second(coalition)
