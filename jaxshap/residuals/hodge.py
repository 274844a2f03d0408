"""Shapley residuals: what the Shapley values leave out of a game, player by player. Kumar et al.
(2021).

On the hypercube of coalitions, player i's gains are a flow ∇_i v along the edges in which i joins.
Its part that is the gradient of some game v_i is what φ_i speaks of: v_i(N) − v_i(∅) = φ_i. The
rest, r_i = ∇_i v − ∇v_i, vanishes where i adds the same to every coalition. In the Walsh basis all
of this is diagonal.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.engine import BatchSize, evaluate, evaluate_all
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Estimate
from jaxshap.games import Game, all_coalitions, as_key, check_game, inverse_walsh, walsh

MOST_PLAYERS = 22  # of which a table of worths fits


class Flows(NamedTuple):
    """The potentials v_i of all coalitions, and r_i along all edges: from S without j to S with j,
    at the index of S.

    Entries of `flows` at coalitions that hold j already are 0.
    """

    potentials: Float[Array, "n size *out"]
    flows: Float[Array, "n j size *out"]


def norms(game: Game, players: Sequence[Sequence[int]] | None = None) -> Float[Array, "n *out"]:
    """‖r_i‖² of every player, or ‖r_S‖² of sets of players with r_S = Σ_{i∈S} r_i; exact, from all
    2**n worths.

    0 for a player who adds the same to every coalition. Sets of two say which pairs interact with
    the rest.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # player 2 always adds 3
        >>> jaxshap.residuals.norms(game).tolist()
        [2.0, 2.0, 0.0]
    """
    squares = _squares(game)
    return _norms(squares, _members(players, game.num_players), residual=True)


def shares(game: Game, players: Sequence[Sequence[int]] | None = None) -> Float[Array, "n *out"]:
    """‖r_i‖² as a share of ‖∇_i v‖², in [0, 1]: 0 for a player who acts additively, 0 too for one
    who does nothing.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # player 2 always adds 3
        >>> print(np.asarray(jaxshap.residuals.shares(game)).round(3))
        [0.1  0.05 0.  ]
    """
    squares = _squares(game)
    members = _members(players, game.num_players)
    whole = _norms(squares, members, residual=False)
    return _norms(squares, members, residual=True) / jnp.where(whole > 0, whole, 1)


def flows(game: Game) -> Flows:
    """Potentials and residuals themselves; n² 2**n numbers an output.

    Example, each player's potential rises by its Shapley value:
        >>> import jaxshap
        >>> found = jaxshap.residuals.flows(jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]))
        >>> (found.potentials[:, -1] - found.potentials[:, 0]).tolist(), found.flows.shape
        ([2.0, 3.0, 3.0], (3, 3, 8))
    """
    coefficients, number = walsh(_table(game)), game.num_players
    sets = _as_columns(all_coalitions(number), coefficients)  # size, n, *1
    size = jnp.maximum(sets.sum(1, keepdims=True), 1).astype(coefficients.dtype)
    share = jnp.where(sets, coefficients[:, None] / size, 0)
    potentials = jnp.moveaxis(inverse_walsh(share), 1, 0)
    worths, index = inverse_walsh(coefficients), np.arange(2**number)
    own = jnp.eye(number, dtype=bool)

    def along(player):
        """Flows of all r_i in which `player` joins."""
        joined, absent = index | (1 << player), (index >> player) & 1 == 0
        gain = worths[joined] - worths
        flow = jnp.where(_like(own[player], potentials), gain, 0) - (
            potentials[:, joined] - potentials
        )
        return jnp.where(_like(absent, flow[0])[None], flow, 0)

    return Flows(potentials, jnp.stack([along(player) for player in range(number)], axis=1))


def estimate_norms(
    key: Key[Array, ""] | int,
    game: Game,
    budget: int,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖² of every player for any number of players, unbiased, with standard errors.

    1/|T| = ∫ ρ^(|T|−1) dρ makes the norm a noise stability: with S uniform, ρ uniform in (0, 1),
    and S' keeping each membership of S with chance ρ, else a fair coin, it is 2^(n−1) E[D_i v(S)
    (D_i v(S) − D_i v(S'))]. A draw costs 2n + 2 evaluations for all players.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> found = jaxshap.residuals.estimate_norms(0, game, 800)
        >>> bool((abs(found.values - jaxshap.residuals.norms(game)) <= 4 * found.std_error).all())
        True
    """
    check_game(game)
    if game.num_players > 120:
        raise InputError(
            f"squared norms of {game.num_players} players overflow: ask for estimate_shares."
        )
    gains = _sampled_gains(key, game, budget, batch_size, progress)
    draws = 2.0 ** (game.num_players - 1) * gains[0] * (gains[0] - gains[1])
    return Estimate(draws.mean(0), draws.std(0, ddof=1) / np.sqrt(len(draws)))


def estimate_shares(
    key: Key[Array, ""] | int,
    game: Game,
    budget: int,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖²/‖∇_i v‖² by the same draws: a ratio of two means, its standard error by the delta
    method.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> found = jaxshap.residuals.estimate_shares(0, game, 800)
        >>> bool((abs(found.values - jaxshap.residuals.shares(game)) <= 4 * found.std_error).all())
        True
    """
    gains = _sampled_gains(key, game, budget, batch_size, progress)
    top, below = gains[0] * (gains[0] - gains[1]), (gains[0] ** 2 + gains[1] ** 2) / 2
    mean = jnp.where(below.mean(0) > 0, below.mean(0), 1)
    share = top.mean(0) / mean
    return Estimate(share, ((top - share * below) / mean).std(0, ddof=1) / np.sqrt(len(top)))


def _sampled_gains(
    key: Key[Array, ""] | int, game: Game, budget: int, batch_size: BatchSize, progress: bool | None
) -> Float[Array, "2 draws n *out"]:
    """D_i v(S) and D_i v(S') of every draw and player."""
    check_game(game)
    key = as_key(key)
    number = game.num_players
    draws = budget // (2 * number + 2)
    if draws < 2:
        raise BudgetError(
            f"budget={budget} buys {draws} draws of {2 * number + 2}: pass {4 * number + 4} or more."
        )
    both = _draw_pairs(key, number, draws)
    flips = jnp.concatenate([jnp.zeros((1, number), bool), jnp.eye(number, dtype=bool)])
    asked = both[:, :, None] ^ flips  # draws, 2, itself and with each player changed, n
    worths = evaluate(game, asked.reshape(-1, number), batch_size=batch_size, progress=progress)
    worths = worths.reshape(draws, 2, number + 1, *game.empty.shape)
    sign = _like(jnp.where(both, 1, -1).astype(worths.dtype), worths)
    return jnp.moveaxis(sign * (worths[:, :, :1] - worths[:, :, 1:]), 1, 0)


def _draw_pairs(key: Key[Array, ""], number: int, draws: int) -> Bool[Array, "draws 2 n"]:
    def draw(index):
        first, second, third, fourth = jax.random.split(jax.random.fold_in(key, index), 4)
        own, fresh = (
            jax.random.bernoulli(first, shape=(number,)),
            jax.random.bernoulli(second, shape=(number,)),
        )
        keeps = jax.random.uniform(third, (number,)) < jax.random.uniform(fourth)
        return jnp.stack([own, jnp.where(keeps, own, fresh)])

    return jax.vmap(draw)(jnp.arange(draws))


def _table(game: Game) -> Float[Array, "size *out"]:
    check_game(game)
    if game.num_players > MOST_PLAYERS:
        raise InputError(
            f"exact residuals need all 2**{game.num_players} worths: at most {MOST_PLAYERS} players; sample with "
            "estimate_norms instead."
        )
    return evaluate_all(game)


def _squares(game: Game) -> Float[Array, "size *out"]:
    return walsh(_table(game)) ** 2


def _members(players: Sequence[Sequence[int]] | None, number: int) -> Bool[np.ndarray, "sets n"]:
    if players is None:
        return np.eye(number, dtype=bool)
    found = np.zeros((len(players), number), bool)
    for row, members in zip(found, players, strict=True):
        if not members or not all(0 <= member < number for member in members):
            raise InputError(f"{list(members)} is not a set of players from 0 to {number - 1}.")
        row[list(members)] = True
    return found


def _norms(
    squares: Float[Array, "size *out"], members: Bool[np.ndarray, "sets n"], *, residual: bool
) -> Float[Array, "sets *out"]:
    """2^(n+1) Σ_T c_T² (|T∩S| − |T∩S|²/|T|), or Σ_T c_T² |T∩S| without the part that is a gradient."""
    number = members.shape[1]
    index = np.arange(2**number, dtype=np.uint32)
    size = np.maximum(np.bitwise_count(index), 1).astype(float)

    def of_set(mask: Int[Array, ""]):
        common = jax.lax.population_count(jnp.asarray(index) & mask).astype(squares.dtype)
        weight = common * (1 - common / jnp.asarray(size, squares.dtype)) if residual else common
        return 2.0 ** (number + 1) * jnp.tensordot(weight, squares, 1)

    return jax.lax.map(
        of_set, jnp.asarray((members * 2 ** np.arange(number)).sum(1).astype(np.uint32))
    )


def _as_columns(
    sets: Bool[Array, "size n"], table: Float[Array, "size *out"]
) -> Bool[Array, "size n *one"]:
    return sets.reshape(*sets.shape, *(1,) * (table.ndim - 1))


def _like(part: Array, whole: Array) -> Array:
    """With as many axes as the whole, new ones behind."""
    return part.reshape(*part.shape, *(1,) * (whole.ndim - part.ndim))
