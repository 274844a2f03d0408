"""Functional decomposition: a prediction as a sum of components, each of a set of features and no
others.

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
from jaxshap.errors import InputError
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
    """Components of all sets of at most `order` players, ∅ first, then by size; `d[0, 1]` is that
    of players 0 and 1.

    `values` and `remainder`, what larger sets add, sum to `full`: the prediction.

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
        """Who is in each set."""
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
        """Of one row, or of one row and output, or of several: as `values[:, row, output]`."""
        check_index(index, self.values.shape[1:])
        return dataclasses.replace(self, values=self.values[:, *index], full=self.full[index])

    def partial_dependence(self, players: PlayerSet) -> Float[Array, "*out"]:
        """The sum of the components of all subsets of these players: the worth of their coalition."""
        whole = self.members[position(players, self.num_players, self.order)]
        subsets = np.flatnonzero(~(self.members & ~whole).any(1))
        if len(subsets) == 1:
            return self.values[0]
        by_code = np.argsort(_codes(self.members[subsets]))
        return zeta(self.values[subsets[by_code]])[
            -1
        ]  # sums of two lose no digits, as one long sum would

    def shapley_values(self) -> Float[Array, "n *out"]:
        """Each component shared out alike among its players; needs the components of all orders."""
        if self.order < self.num_players:
            raise InputError(
                f"Shapley values need components of all {self.num_players} orders and these end at order {self.order}: "
                "decompose with order=None, or ask jaxshap.estimate."
            )
        gains = self.values.at[0].set(0)[np.argsort(_codes(self.members))]
        return _shared_out(gains)

    def variance_shares(self) -> Float[Array, "order *outputs"]:
        """How much of the variance of predictions over rows each order 1, 2, … stands for:
        Cov(part, f) / Var(f).

        Together with the share of the remainder they sum to 1. Where features depend on each other,
        parts do too: a share can then be negative or above 1.
        """
        if self.full.ndim == 0 or len(self.full) < 2:
            raise InputError(
                "variance over rows needs a game of two rows or more, such as marginal(model, X, …)."
            )
        firsts = starts(self.num_players, self.order)[1:]
        parts = [part.sum(0) for part in jnp.split(self.values[1:], np.asarray(firsts[1:]) - 1)]
        centred = self.full - self.full.mean(0)
        variance = (centred**2).sum(0)
        return jnp.stack([(part * centred).sum(0) / variance for part in parts])


def decompose(game: Game, order: int | None = None) -> Decomposition:
    """Components of all sets of players, or of those of at most `order`, from the worths of those
    coalitions alone.

    Exact. For `marginal(model, X, background)` these are the functions of the marginal
    identification at the rows of X (Hiabu, Meyer & Wright 2023). A component of s players is a
    signed sum of 2**s worths, and so are its errors of rounding: mind the high orders in float32.

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])
    >>> game = jaxshap.marginal(lambda x: x[:, 0] + 2 * x[:, 0] * x[:, 1], jnp.array([[3.0, 2.0]]), background)
    >>> parts = jaxshap.interactions.decompose(game)
    >>> print(parts.sets, parts.values[:, 0])
    [(), (0,), (1,), (0, 1)] [ 2.  1. -2. 14.]
    """
    check_game(game)
    number = game.num_players
    if order is not None:
        check_order(order, number)
    order = number if order is None else order
    if num_sets(number, order) > MOST_SETS:
        raise InputError(
            f"components up to order {order} of {number} players need {num_sets(number, order):,} worths, and at most "
            f"{MOST_SETS:,} can be held: pass a lower order, such as order=2."
        )
    members = sets_up_to(number, order)
    last = -1 if order == number else None  # the worth of all players is known, as is that of none
    worths = evaluate(game, members[1:last]) - game.empty
    ends = [] if last is None else [(game.full - game.empty)[None]]
    worths = jnp.concatenate([jnp.zeros_like(game.empty)[None], worths, *ends])
    if order < number:
        values = small_moebius(worths, number, order)
    else:
        codes = _codes(members)
        values = moebius(worths[np.argsort(codes)])[codes]
    return Decomposition(values.at[0].set(game.empty), game.full, number, order)


@jax.jit
def _shared_out(components: Float[Array, "size *out"]) -> Float[Array, "n *out"]:
    """Σ_{S∋i} m_S/|S|, by way of the worths: in float32 a sum of 2**n components with signs would
    lose digits.
    """
    return shapley(zeta(components))


def _codes(members: Bool[np.ndarray, "sets n"]) -> Int[np.ndarray, "sets"]:
    """Where each set stands in a table of all 2**n."""
    return members @ 2 ** np.arange(members.shape[1])
