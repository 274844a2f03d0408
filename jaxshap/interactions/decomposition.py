"""Functional decomposition: a prediction as a sum of components, one per set of features.

With marginal identification the component of S is m_S(x_S) = Σ_{V⊆S} (−1)^|S∖V| PDP_V(x_V), where
PDP_V is the partial dependence on V: the worth of V in the game `jaxshap.marginal`. These are the
game's Möbius coefficients.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine import evaluate
from jaxshap.errors import InputError, SelectionError
from jaxshap.games import (
    MOST_SETS,
    Game,
    PlayerSet,
    check_game,
    check_index,
    check_order,
    moebius,
    num_sets,
    position,
    sets_up_to,
    shapley,
    small_moebius,
    starts,
    zeta,
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Decomposition:
    """The components of all sets of at most `order` players.

    ∅ comes first; the other sets are ordered by size and then lexicographically.
    `decomposition[0, 1]` is the component of players 0 and 1. All `values` and the `remainder`
    sum to `full`, the prediction. The record is a pytree, so that jit and grad can return it.

    Attributes:
        values: one component per set.
        full: the worth of all players: the prediction.
        num_players: the number of players.
        order: the number of players in the largest sets.

    Example:
        >>> import jaxshap
        >>> parts = jaxshap.interactions.decompose(jaxshap.table([0.0, 1.0, 2.0, 6.0]))
        >>> parts.sets, parts.values.tolist(), float(parts[0, 1])
        ([(), (0,), (1,), (0, 1)], [0.0, 1.0, 2.0, 3.0], 3.0)
        >>> parts.shapley_values().tolist()
        [2.5, 3.5]
    """

    values: Float[Array, "sets *out"]
    full: Float[Array, "*out"]
    num_players: int = dataclasses.field(metadata={"static": True})
    order: int = dataclasses.field(metadata={"static": True})

    def __getitem__(self, players: PlayerSet) -> Float[Array, "*out"]:
        return self.values[position(players, self.num_players, self.order)]

    @property
    def members(self) -> Bool[np.ndarray, "sets n"]:
        """Which players are in each set."""
        return sets_up_to(self.num_players, self.order)

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set."""
        return [tuple(np.flatnonzero(row).tolist()) for row in self.members]

    @property
    def remainder(self) -> Float[Array, "*out"]:
        """What sets of more than `order` players add to the prediction."""
        if self.order == self.num_players:
            return jnp.zeros_like(self.full)
        return self.full - self.values.sum(0)

    def pick(self, *index: Any) -> "Decomposition":
        """The components of one row, of one row and output, or of several.

        Args:
            *index: rows and outputs, as in `values[:, row, output]`.

        Returns:
            The same sets for these rows and outputs alone.

        Raises:
            IndexError: there is no such row or output.
        """
        check_index(index, self.values.shape[1:])
        return dataclasses.replace(self, values=self.values[:, *index], full=self.full[index])

    def partial_dependence(self, players: PlayerSet) -> Float[Array, "*out"]:
        """The worth of a coalition: the sum of the components of all its subsets.

        Args:
            players: a player or several, in any order; at most `order` of them.

        Returns:
            The partial dependence on these players.

        Raises:
            KeyError: the set is too large or holds an unknown player.
        """
        whole = self.members[position(players, self.num_players, self.order)]
        subsets = np.flatnonzero(~(self.members & ~whole).any(1))
        if len(subsets) == 1:
            return self.values[0]
        by_code = np.argsort(_codes(self.members[subsets]))
        # zeta adds two numbers at a time and loses no digits, as one long sum would
        return zeta(self.values[subsets[by_code]])[-1]

    def shapley_values(self) -> Float[Array, "n *out"]:
        """Shapley values: every component shared out equally among its players.

        Returns:
            One value per player.

        Raises:
            InputError: the decomposition does not hold all orders.
        """
        self._check_all_orders()
        gains = self.values.at[0].set(0)[np.argsort(_codes(self.members))]
        return _shared_out(gains)

    def against_the_rest(self, players: PlayerSet) -> Float[Array, "2 *out"]:
        """Shapley values of a set of players and of all others, as the two players of a game.

        Components within a side are its own; those that reach across are halved.

        Args:
            players: a player or several, but not all.

        Returns:
            The value of the set, then that of its complement; they sum to v(N) − v(∅).

        Raises:
            InputError: a side is empty, a player unknown, or not all orders are held.
        """
        self._check_all_orders()
        whole = self.members[position(players, self.num_players, self.order)]
        if whole.all() or not whole.any():
            raise SelectionError("one side is empty: name some players, but not all.")
        sides = (tuple(np.flatnonzero(side).tolist()) for side in (whole, ~whole))
        own, rest = (self.partial_dependence(side) - self.values[0] for side in sides)
        across = self.full - self.values[0] - own - rest
        return jnp.stack([own + across / 2, rest + across / 2])

    def variance_shares(self) -> Float[Array, "order *outputs"]:
        """The share of each order 1, 2, … in the variance of predictions over rows.

        A share is Cov(sum of the order's components, f) / Var(f). Together with the share of the
        remainder they sum to 1. Where features depend on each other, components do too: a share
        can then be negative or above 1.

        Returns:
            One share per order, and per output where there are several.

        Raises:
            InputError: the game has fewer than two rows.
        """
        if self.full.ndim == 0 or len(self.full) < 2:
            raise InputError(
                "variance over rows needs a game of two rows or more, such as "
                "marginal(model, X, …)."
            )
        firsts = starts(self.num_players, self.order)[1:]
        by_order = jnp.split(self.values[1:], np.asarray(firsts[1:]) - 1)
        centred = self.full - self.full.mean(0)
        variance = (centred**2).sum(0)
        return jnp.stack([(terms.sum(0) * centred).sum(0) / variance for terms in by_order])

    def _check_all_orders(self) -> None:
        if self.order < self.num_players:
            raise InputError(
                f"Shapley values need components of all {self.num_players} orders and these end at "
                f"order {self.order}: decompose with order=None, or ask jaxshap.estimate."
            )


def decompose(game: Game | Any, order: int | None = None) -> Decomposition:
    """The components of all sets of players, or of the sets of at most `order` players.

    They are exact, and only coalitions of that size are evaluated. For
    `marginal(model, X, background)` they are the functions of the marginal identification at the
    rows of X (Hiabu, Meyer & Wright 2023). A component of s players is a signed sum of 2**s worths
    and so are its rounding errors: mind high orders in float32.

    Args:
        game: the game.
        order: the number of players in the largest sets; by default all players.

    Returns:
        The `Decomposition`.

    Raises:
        InputTypeError: a model or a function was passed in place of a game.
        InputError: the order does not fit the game, or there would be more than 2**22 sets.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> def model(x):
        ...     return x[:, 0] + 2 * x[:, 0] * x[:, 1]
        >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])
        >>> game = jaxshap.marginal(model, jnp.array([[3.0, 2.0]]), background)
        >>> parts = jaxshap.interactions.decompose(game)
        >>> print(parts.sets, parts.values[:, 0])
        [(), (0,), (1,), (0, 1)] [ 2.  1. -2. 14.]
    """
    check_game(game)
    number: int = game.num_players
    if order is not None:
        check_order(order, number)
    order = number if order is None else order
    if num_sets(number, order) > MOST_SETS:
        raise InputError(
            f"components up to order {order} of {number} players need "
            f"{num_sets(number, order):,} worths, and at most {MOST_SETS:,} can be held: pass a "
            "lower order, such as order=2."
        )
    members = sets_up_to(number, order)
    last = -1 if order == number else None  # v(N) is known, as is v(∅)
    gains = evaluate(game, members[1:last]) - game.empty
    end = [] if last is None else [(game.full - game.empty)[None]]
    gains = jnp.concatenate([jnp.zeros_like(game.empty)[None], gains, *end])
    if order < number:
        values = small_moebius(gains, number, order)
    else:
        codes = _codes(members)
        values = moebius(gains[np.argsort(codes)])[codes]
    values = values.at[0].set(game.empty)
    return Decomposition(values, jnp.asarray(game.full, values.dtype), number, order)


@jax.jit
def _shared_out(components: Float[Array, "size *out"]) -> Float[Array, "n *out"]:
    """Σ_{S∋i} m_S/|S|, by way of the worths: a signed sum of 2**n components would lose digits."""
    return shapley(zeta(components))


def _codes(members: Bool[np.ndarray, "sets n"]) -> Int[np.ndarray, "sets"]:
    """The place of each set in a table of all 2**n."""
    return members @ 2 ** np.arange(members.shape[1])
