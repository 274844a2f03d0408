"""Games from tables of worths, and games from games: groups of players, differences."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games.game import Game, Host, check_game
from jaxshap.games.making import make_game
from jaxshap.games.numbers import as_array
from jaxshap.games.partitions import read_partition
from jaxshap.games.precision import widened


def table(worths: Any) -> Game:
    """The game with these 2**n worths; coalition S stands at index Σ_{i∈S} 2**i.

    Everything about such a game can be computed exactly, which makes it the game for examples,
    tests and worths that were measured beforehand.

    Args:
        worths: floating-point numbers of shape `(2**n, *out)`: nobody, player 0, player 1, both, …

    Returns:
        The `Game` of n players.

    Raises:
        InputTypeError: the worths are not floating-point numbers.
        InputError: their number is not 2**n with n ≥ 1.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])  # nobody, player 0, player 1, both
        >>> jaxshap.shapley_values(game).tolist()
        [2.5, 3.5]
    """
    try:
        array = jnp.asarray(as_array(worths, "a table of worths"))
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            "a table of worths holds floating-point numbers: pass an array with 2**n rows."
        ) from error
    if not jnp.issubdtype(array.dtype, jnp.floating):
        is_complex = jnp.issubdtype(array.dtype, jnp.complexfloating)
        remedy = "their real part or modulus" if is_complex else "np.asarray(worths, float)"
        raise InputTypeError(
            f"a table of worths holds floating-point numbers, not {array.dtype}: pass {remedy}."
        )
    size = len(array) if array.ndim else 1
    num_players = size.bit_length() - 1
    if num_players < 1 or size != 2**num_players:
        raise InputError(f"a table of worths has 2**n rows with n ≥ 1, not {size}.")
    return make_game(_Table(widened(array)), num_players, "table")


def grouped(game: Game, groups: Any) -> Game:
    """The game between groups of players: a group is in when all its players are.

    Its Shapley values are those of the groups as players; they are not the sums of the values of
    their members.

    Args:
        game: the game between single players.
        groups: one list or array of player numbers per group; together they name every player once.

    Returns:
        The `Game` whose player g is the group `groups[g]`.

    Raises:
        InputTypeError: a group is not a list of whole numbers, but a mask, say.
        InputError: a player is in no group or in two, or a group is empty.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> jaxshap.shapley_values(jaxshap.grouped(game, [[0, 1], [2]])).tolist()
        [5.0, 3.0]
    """
    check_game(game)
    group_of, number = read_partition(groups, game.num_players, "players")
    value = game.value
    if isinstance(value, Host):
        wrapped: Callable = Host(_HostGrouped(value, group_of), value.bytes_per_item)
    else:
        wrapped = _Grouped(value, jnp.asarray(group_of))
    return dataclasses.replace(game, value=wrapped, num_players=number)


def minus(game: Game, other: Game) -> Game:
    """The difference of two games with the same players.

    Shapley values are linear, so its values are the difference of theirs. An estimate asks both
    games about the same coalitions, so that errors they have in common cancel.

    Args:
        game: the first game.
        other: the game to subtract, with as many players and on the host if the first one is.

    Returns:
        The `Game` with worths `game(S) − other(S)`.

    Raises:
        InputError: the numbers of players or the shapes of the worths differ.
        InputTypeError: one game runs on the host and the other in JAX.

    Example:
        >>> import jaxshap
        >>> game, other = jaxshap.table([0.0, 1.0, 2.0, 6.0]), jaxshap.table([0.0, 1.0, 2.0, 3.0])
        >>> jaxshap.shapley_values(jaxshap.minus(game, other)).tolist()
        [1.5, 1.5]
    """
    check_game(game)
    check_game(other)
    if game.num_players != other.num_players:
        raise InputError(
            f"the games have {game.num_players} and {other.num_players} players: "
            "they must have the same players."
        )
    if game.empty.shape != other.empty.shape:
        raise InputError(
            f"the worths have shapes {game.empty.shape} and {other.empty.shape}: "
            "they must have the same rows and outputs."
        )
    if game.on_host != other.on_host:
        raise InputTypeError(
            "one game runs on the host and the other in JAX: "
            "wrap both models in jaxshap.host, or neither."
        )
    first, second = game.value, other.value
    if isinstance(first, Host) and isinstance(second, Host):
        value: Callable = Host(
            lambda coalitions: first(coalitions) - second(coalitions),
            first.bytes_per_item + second.bytes_per_item,
        )
    else:
        value = _Difference(first, second)
    ends = (game.empty - other.empty, game.full - other.full)
    empty, full = map(np.asarray, ends) if game.on_host else ends
    return Game(value, empty, full, game.num_players, f"{game.name} − {other.name}")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Table:
    worths: Float[Array, "size *out"]

    def __call__(self, coalition: Bool[Array | np.ndarray, "n"]) -> Float[Array, "*out"]:
        return self.worths[jnp.where(coalition, 2 ** jnp.arange(coalition.shape[0]), 0).sum()]


class _GroupedStrata:
    """The strata of the game between players are those of the game between groups."""

    value: Any
    group_of: Any

    @property
    def inner(self) -> Any:
        value = self.value.function if isinstance(self.value, Host) else self.value
        return getattr(value, "strata", None)

    @property
    def strata(self) -> Any:
        return None if self.inner is None else self

    @property
    def num_strata(self) -> int:
        return self.inner.num_strata

    def merged(self, size: int) -> Any:
        inner = self.inner.merged(size)
        value = Host(inner, self.value.bytes_per_item) if isinstance(self.value, Host) else inner
        return dataclasses.replace(self, value=value)  # pyright: ignore[reportArgumentType]

    def empties(self) -> Any:
        return self.inner.empties()

    def weights_of_strata(self) -> Any:
        return self.inner.weights_of_strata()

    def in_stratum(self, stratum: Any, coalition: Any) -> Any:
        return self.inner.in_stratum(stratum, coalition[..., self.group_of])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Grouped(_GroupedStrata):
    value: PyTree
    group_of: Int[Array, "players"]

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        return self.value(coalition[self.group_of])


@dataclasses.dataclass(frozen=True, eq=False)
class _HostGrouped(_GroupedStrata):
    value: Host
    group_of: Int[np.ndarray, "players"]

    def __call__(self, coalitions: Bool[np.ndarray, "m n"]) -> Float[np.ndarray, "m *out"]:
        return self.value(coalitions[:, self.group_of])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Difference:
    first: PyTree
    second: PyTree

    def __call__(self, coalition: Bool[Array | np.ndarray, "n"]) -> Float[Array, "*out"]:
        return self.first(coalition) - self.second(coalition)
