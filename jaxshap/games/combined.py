"""Games made from tables and from other games."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games.game import Game, Host, make_game


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
        wrapped: Callable = Host(_HostGrouped(value, group_of), value.bytes_per_item)
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
class _Table:
    worths: Float[Array, "size *out"]

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
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

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "*out"]:
        return self.first(coalition) - self.second(coalition)
