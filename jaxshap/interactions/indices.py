"""Interaction indices of sets of players: exact from all worths by one transform, or from estimated
pairs.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.engine import compiled, evaluate_all, is_traced
from jaxshap.errors import InputError, MissingExtraError
from jaxshap.estimators import Estimate
from jaxshap.games import (
    MOST_SETS,
    Game,
    PlayerSet,
    check_game,
    check_index,
    check_order,
    position,
    sets_up_to,
    superset_sums,
    walsh,
)
from jaxshap.interactions.decomposition import decompose
from jaxshap.interactions.index_weights import VALUES, WEIGHTS, walsh_weights

MOST_PLAYERS = MOST_SETS.bit_length() - 1


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Interactions:
    """An index of all sets of 1..order players, by size and then in lexicographic order; `i[0, 1]`
    is that of a pair.

    `base_values` is the worth of no players. Standard errors are 0 where exact and NaN where
    unknown.

    Example:
        >>> import jaxshap
        >>> found = jaxshap.interactions.exact_interactions(jaxshap.table([0.0, 1.0, 2.0, 6.0]))
        >>> found.sets, float(found[0, 1]), found.matrix().tolist()
        ([(0,), (1,), (0, 1)], 3.0, [[2.5, 3.0], [3.0, 3.5]])
    """

    values: Float[Array, "sets *out"]
    std_error: Float[Array, "sets *out"]
    base_values: Float[Array, "*out"]
    index: str = dataclasses.field(metadata={"static": True})
    num_players: int = dataclasses.field(metadata={"static": True})
    order: int = dataclasses.field(metadata={"static": True})

    @classmethod
    def from_pairs(
        cls,
        pairs: Estimate,
        singles: Estimate | None = None,
        base_values: Float[Array, "*out"] | None = None,
    ) -> "Interactions":
        """SII from `estimate_interactions`, with Shapley values from `estimate` for single players;
        else NaN there.
        """
        number = len(pairs.values)
        if pairs.values.shape[:2] != (number, number):
            raise InputError(
                f"pairs have shape {pairs.values.shape}: pass what estimate_interactions returns, (n, n, …)."
            )
        first, second = np.triu_indices(number, 1)
        unknown = jnp.full((number, *pairs.values.shape[2:]), np.nan, pairs.values.dtype)
        alone = Estimate(unknown, unknown) if singles is None else singles
        if alone.values.shape != unknown.shape:
            raise InputError(
                f"singles have shape {alone.values.shape} and pairs {pairs.values.shape}: of other games."
            )
        values, errors = (
            jnp.concatenate([one, two[first, second]])
            for one, two in zip(alone, pairs, strict=True)
        )
        base = unknown[0] if base_values is None else base_values
        return cls(values, errors, base, "SII", number, min(2, number))

    def __getitem__(self, players: PlayerSet) -> Float[Array, "*out"]:
        return self.values[self._position(players)]

    def error_of(self, players: PlayerSet) -> Float[Array, "*out"]:
        """The standard error of one set's value."""
        return self.std_error[self._position(players)]

    @property
    def members(self) -> Bool[np.ndarray, "sets n"]:
        """Who is in each set."""
        return sets_up_to(self.num_players, self.order)[1:]

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set."""
        return [tuple(np.flatnonzero(row).tolist()) for row in self.members]

    def pick(self, *index: Any) -> "Interactions":
        """Of one row, or of one row and output, or of several: as `values[:, row, output]`."""
        check_index(index, self.values.shape[1:])
        parts = {name: getattr(self, name)[:, *index] for name in ("values", "std_error")}
        return dataclasses.replace(self, base_values=self.base_values[index], **parts)

    def matrix(self) -> Float[Array, "n n *out"]:
        """Pairs off the diagonal, each in full on both sides, and single players on it."""
        number = self.num_players
        if self.order < 2 <= number:
            raise InputError(
                f"a matrix shows pairs and these interactions are of order {self.order}: pass order=2."
            )
        first, second = np.triu_indices(number, 1)
        found = jnp.zeros((number, number, *self.values.shape[1:]), self.values.dtype)
        found = found.at[np.arange(number), np.arange(number)].set(self.values[:number])
        pairs = self.values[number : number + len(first)]
        return found.at[first, second].set(pairs).at[second, first].set(pairs)

    def to_shapiq(self):
        """A `shapiq.InteractionValues`, of one row and output: what shapiq's plots draw."""
        if self.values.ndim > 1:
            raise InputError(
                f"shapiq holds one number a set and these have shape {self.values.shape[1:]}: pick a row and output "
                f"first, such as .pick({', '.join('0' * (self.values.ndim - 1))})."
            )
        try:
            import shapiq
        except ImportError as error:
            raise MissingExtraError("to_shapiq needs shapiq: pip install shapiq.") from error
        values = np.asarray(self.values)
        return shapiq.InteractionValues(
            values,
            index=self.index,
            min_order=1,
            max_order=self.order,
            n_players=self.num_players,
            interaction_lookup={players: row for row, players in enumerate(self.sets)},
            baseline_value=float(self.base_values),
            estimated=bool((np.asarray(self.std_error) != 0).any()),
        )

    def _position(self, players: PlayerSet) -> int:
        where = position(players, self.num_players, self.order)
        if where == 0:
            raise KeyError("no players have no interaction: the worth of none is in base_values.")
        return where - 1


def exact_interactions(game: Game, index: str = "SII", order: int = 2) -> Interactions:
    """An interaction index of all sets of at most `order` players; exact, from all 2**n worths.

    "SII" Shapley interactions, "k-SII" the same made to add up, "STII" Shapley–Taylor, "FSII" the
    best fit to the game, "BII" Banzhaf interactions; "SV" and "BV" are the values of single players
    (order 1). "Moebius" asks for coalitions of at most `order` players alone. "k-SII", "STII" and
    "FSII" sum to v(N) − v(∅).

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
    >>> found = jaxshap.interactions.exact_interactions(game, "SII", order=2)
    >>> print(found.sets[3:], found[0, 1])
    [(0, 1), (0, 2), (1, 2)] 3.0
    """
    check_game(game)
    number = game.num_players
    check_order(order, number)
    if index != "Moebius" and index not in WEIGHTS:
        raise InputError(
            f"there is no index {index!r}: pass one of {', '.join(['Moebius', *WEIGHTS])}."
        )
    if index in VALUES and order != 1:
        raise InputError(
            f'{index} is of single players: pass order=1, or index="{VALUES[index]}" for sets.'
        )
    if index == "Moebius":
        values = decompose(game, order).values[1:]
    elif number > MOST_PLAYERS:
        raise InputError(
            f"{index} needs all 2**{number} worths: at most {MOST_PLAYERS} players; jaxshap.estimate_interactions "
            'samples pairs, and index="Moebius" asks for small coalitions alone.'
        )
    else:
        worths = evaluate_all(game)
        solve = _from_worths if is_traced(worths) else _compiled
        values = solve(worths, index, order)
    return Interactions(values, jnp.zeros_like(values), game.empty, index, number, order)


def _from_worths(
    worths: Float[Array, "size *out"], index: str, order: int
) -> Float[Array, "sets *out"]:
    number = len(worths).bit_length() - 1
    sizes = sets_up_to(number, order)[1:].sum(1)
    weights = jnp.asarray(walsh_weights(index, order, number)[sizes - 1], worths.dtype)
    sums = superset_sums(walsh(worths), order)[1:]
    return jax.vmap(lambda weight, sums: jnp.tensordot(weight, sums, 1))(weights, sums)


_compiled = compiled(_from_worths, static_argnums=(1, 2))
