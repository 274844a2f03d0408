"""Interactions: the values of an index for all sets of up to so many players."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.errors import InputError, MissingExtraError, SelectionError
from jaxshap.estimators import Search
from jaxshap.games import PlayerSet, check_index, position, sets_up_to


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Interactions:
    """An interaction index of all sets of 1 to `order` players.

    Sets are ordered by size and then lexicographically; `interactions[0, 1]` is the value of
    players 0 and 1. The record is a pytree, so that jit and grad can return it.

    Attributes:
        values: one value per set.
        std_error: their standard errors, 0 where exact and NaN where unknown.
        base_values: the worth of no players.
        index: the name of the index, such as "SII".
        num_players: the number of players.
        order: the number of players in the largest sets.
        searched: what a search for a few interactions among many chose from, as a `Search` with
            what it could have missed; None where there was none.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> interactions = jaxshap.interactions.exact_interactions(game)
        >>> interactions.sets, float(interactions[0, 1]), interactions.matrix().tolist()
        ([(0,), (1,), (0, 1)], 3.0, [[2.5, 3.0], [3.0, 3.5]])
    """

    values: Float[Array | np.ndarray, "sets *out"]
    std_error: Float[Array | np.ndarray, "sets *out"]
    base_values: Float[Array | np.ndarray, "*out"]
    index: str = dataclasses.field(metadata={"static": True})
    num_players: int = dataclasses.field(metadata={"static": True})
    order: int = dataclasses.field(metadata={"static": True})
    searched: Search | None = dataclasses.field(default=None, metadata={"static": True})

    def __getitem__(self, players: PlayerSet) -> Float[Array | np.ndarray, "*out"]:
        return self.values[self._position(players)]

    def error_of(self, players: PlayerSet) -> Float[Array | np.ndarray, "*out"]:
        """The standard error of one set's value.

        Args:
            players: a player or several, in any order.

        Returns:
            The standard error, 0 where exact and NaN where unknown.

        Raises:
            KeyError: the set is empty, too large, or holds an unknown player.
        """
        return self.std_error[self._position(players)]

    @property
    def members(self) -> Bool[np.ndarray, "sets n"]:
        """Which players are in each set."""
        return sets_up_to(self.num_players, self.order)[1:]

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set."""
        return [tuple(np.flatnonzero(row).tolist()) for row in self.members]

    def pick(self, *index: Any) -> "Interactions":
        """The interactions of one row, of one row and output, or of several.

        Args:
            *index: rows and outputs, as in `values[:, row, output]`.

        Returns:
            The same sets for these rows and outputs alone.

        Raises:
            IndexError: there is no such row or output.
        """
        check_index(index, self.values.shape[1:])
        return dataclasses.replace(
            self,
            values=self.values[:, *index],
            std_error=self.std_error[:, *index],
            base_values=self.base_values[*index, ...],  # an array also of one number
        )

    def at(
        self,
        rows: Sequence[int] | np.ndarray,
        outputs: Any = None,
        players: Sequence[int] | None = None,
    ) -> "Interactions":
        """The interactions of some rows, outputs and players, in numpy.

        Args:
            rows: the numbers of the rows.
            outputs: the number of one output, or those of several; all by default.
            players: the numbers of some players, whose sets are kept; all by default.

        Returns:
            The `Interactions` of the sets of these players alone.

        Example:
            >>> import jaxshap, numpy as np
            >>> game = jaxshap.table(np.arange(8.0)[:, None] ** 2)  # of one row
            >>> interactions = jaxshap.interactions.exact_interactions(game)
            >>> interactions.at([0], players=[0, 2]).sets
            [(0,), (1,), (0, 1)]
        """
        values, std_error, base = map(np.asarray, (self.values, self.std_error, self.base_values))
        values, std_error, base = values[:, rows], std_error[:, rows], base[rows]
        if outputs is not None:
            values, std_error, base = (a[..., outputs] for a in (values, std_error, base))
        number, order = self.num_players, self.order
        if players is not None:
            number, order = len(players), min(self.order, len(players))
            among = sets_up_to(number, order)[1:]
            named = (np.asarray(players)[inside] for inside in among)
            places = [self._position(tuple(one)) for one in named]
            values, std_error = values[places], std_error[places]
        return Interactions(values, std_error, base, self.index, number, order, self.searched)

    def chosen(self, outputs: Int[np.ndarray, "rows k"]) -> "Interactions":
        """The interactions of outputs that differ from row to row, in numpy.

        Args:
            outputs: the numbers of the outputs of each row.

        Returns:
            The same sets with `k` outputs.

        Example:
            >>> import jaxshap, numpy as np
            >>> game = jaxshap.table(np.arange(8.0).reshape(4, 1, 2))  # of one row, two outputs
            >>> interactions = jaxshap.interactions.exact_interactions(game)
            >>> interactions.chosen(np.array([[1]])).values.shape
            (3, 1, 1)
        """
        values, std_error, base = map(np.asarray, (self.values, self.std_error, self.base_values))
        return dataclasses.replace(
            self,
            values=np.take_along_axis(values, outputs[None], 2),
            std_error=np.take_along_axis(std_error, outputs[None], 2),
            base_values=np.take_along_axis(base, outputs, 1),
        )

    def matrix(self) -> Float[Array, "n n *out"]:
        """Pairs off the diagonal, each in full on both sides, and single players on it.

        Returns:
            A symmetric array (n, n, *out).

        Raises:
            InputError: the interactions hold no pairs.
        """
        number = self.num_players
        if self.order < 2 <= number:
            raise InputError(
                f"a matrix shows pairs and these interactions are of order {self.order}: "
                "pass order=2."
            )
        first, second = np.triu_indices(number, 1)
        square = jnp.zeros((number, number, *self.values.shape[1:]), self.values.dtype)
        square = square.at[np.arange(number), np.arange(number)].set(self.values[:number])
        pairs = self.values[number : number + len(first)]
        return square.at[first, second].set(pairs).at[second, first].set(pairs)

    def to_shapiq(self) -> Any:
        """The same numbers as a `shapiq.InteractionValues`, which shapiq's plots draw.

        Returns:
            A `shapiq.InteractionValues` of one row and output.

        Raises:
            InputError: there are several rows or outputs.
            MissingExtraError: shapiq is not installed.
        """
        if self.values.ndim > 1:
            raise InputError(
                f"shapiq holds one number per set and these have shape {self.values.shape[1:]}: "
                "pick a row and output first, such as "
                f".pick({', '.join('0' * (self.values.ndim - 1))})."
            )
        try:
            import shapiq
        except ImportError as error:
            raise MissingExtraError("to_shapiq needs shapiq: pip install shapiq.") from error
        return shapiq.InteractionValues(
            np.asarray(self.values),
            index=self.index,
            min_order=1,
            max_order=self.order,
            n_players=self.num_players,
            interaction_lookup={players: row for row, players in enumerate(self.sets)},
            baseline_value=float(self.base_values),
            estimated=bool((np.asarray(self.std_error) != 0).any()),
        )

    def _position(self, players: PlayerSet) -> int:
        place = position(players, self.num_players, self.order)
        if place == 0:
            raise SelectionError(
                "no players have no interaction: the worth of none is in base_values."
            )
        return place - 1
