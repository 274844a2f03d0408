"""Sampled residuals for any number of players: 1/|T| = ∫ ρ^(|T|−1) dρ is a noise stability."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.engine import (
    BatchSize,
    answer,
    check_squares,
    read_budget,
    read_key,
    read_options,
    unit_over_first,
)
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import (
    Estimate,
    Plan,
    mean_of_draws,
    no_less_than_rounding,
    stated,
)
from jaxshap.games import Game, check_game

MAX_NORM_PLAYERS = 120  # 2**(n − 1) times a squared gain overflows float32 above this


def estimate_norms(
    key: Key[Array, ""] | int | np.integer,
    game: Game | Any,
    budget: int,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖² of every player for large numbers of players, unbiased, with standard errors.

    With S uniform, ρ uniform in (0, 1), and S' keeping each membership of S with chance ρ, else
    tossing a fair coin, the norm is 2^(n−1) E[D_i v(S) (D_i v(S) − D_i v(S'))]. A draw costs
    2n + 2 evaluations and serves all players.

    Args:
        key: a JAX key, or a seed.
        game: the game, of at most 120 players; beyond that the norms overflow.
        budget: how many evaluations of the game may be spent, at least 4n + 4.
        batch_size: how many coalitions are evaluated at once; "auto" goes by memory.
        progress: whether to show a progress bar; None shows one on a terminal only.

    Returns:
        An `Estimate` whose `values` and `std_error` have shape (n, *outputs).

    Raises:
        BudgetError: where the budget buys fewer than two draws.
        InputError: for too many players.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> found = jaxshap.residuals.estimate_norms(0, game, 800)
        >>> bool((abs(found.values - jaxshap.residuals.norms(game)) <= 4 * found.std_error).all())
        True
    """
    check_game(game)
    if game.num_players > MAX_NORM_PLAYERS:
        raise InputError(
            f"squared norms of {game.num_players} players overflow: ask for "
            "residuals.estimate_shares."
        )
    first, second = _sampled_gains(key, game, budget, batch_size, progress)
    scale = 2.0 ** (game.num_players - 1)
    unit = unit_over_first(jnp.abs(jnp.concatenate([first, second])).max(1))
    check_squares(unit, scale)
    squares = scale * unit * unit
    first, second = first / unit, second / unit
    estimate = mean_of_draws(first * (first - second), len(first))
    estimate = no_less_than_rounding(estimate, (first**2).max(0))
    return estimate._replace(
        values=estimate.values * squares, std_error=estimate.std_error * squares
    )


def estimate_shares(
    key: Key[Array, ""] | int | np.integer,
    game: Game | Any,
    budget: int,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
) -> Estimate:
    """‖r_i‖²/‖∇_i v‖² of every player for any number of players, with standard errors.

    A ratio of two means over the draws of `estimate_norms`, consistent with a bias of the order of
    1/draws. Its standard error is that of the delta method and what one more draw unlike all others
    could do: 1/(m + 1) for draws that tell as much as m of equal weight, since few draws may miss
    the rare coalitions where a player adds much; degrees of freedom are m − 1. For a player who was
    never seen to add anything the error is 1, and nothing known.

    Args:
        key: a JAX key, or a seed.
        game: the game.
        budget: how many evaluations of the game may be spent, at least 4n + 4.
        batch_size: how many coalitions are evaluated at once; "auto" goes by memory.
        progress: whether to show a progress bar; None shows one on a terminal only.

    Returns:
        An `Estimate` whose `values` and `std_error` have shape (n, *outputs).

    Raises:
        BudgetError: where the budget buys fewer than two draws.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> found = jaxshap.residuals.estimate_shares(0, game, 800)
        >>> bool((abs(found.values - jaxshap.residuals.shares(game)) <= 4 * found.std_error).all())
        True
    """
    first, second = _sampled_gains(key, game, budget, batch_size, progress)
    unit = unit_over_first(jnp.abs(jnp.concatenate([first, second])).max(1))
    first, second = first / unit, second / unit
    residual, gradient = (first - second) ** 2 / 2, (first**2 + second**2) / 2
    mean = jnp.where(gradient.mean(0) > 0, gradient.mean(0), 1)
    share = residual.mean(0) / mean
    deviations = (residual - share * gradient) / mean
    telling = _telling(gradient)
    variance = deviations.var(0, ddof=1) / len(deviations) + 1 / (telling + 1) ** 2
    return stated(share, jnp.sqrt(variance), degrees=jnp.maximum(telling - 1, 1))


def _telling(gradient: Float[Array, "draws n *out"]) -> Float[Array, "n *out"]:
    """How many draws of equal weight would tell as much (Kish); 0 where a player never adds."""
    squares = (gradient**2).sum(0)
    return gradient.sum(0) ** 2 / jnp.where(squares > 0, squares, 1)


def _sampled_gains(
    key: Key[Array, ""] | int | np.integer,
    game: Game | Any,
    budget: int,
    batch_size: BatchSize,
    progress: bool | None,
) -> Float[Array, "2 draws n *out"]:
    """D_i v(S) and D_i v(S') of every draw and player."""
    check_game(game)
    number = game.num_players
    budget = read_budget(budget, number)
    num_draws = budget // (2 * number + 2)
    if num_draws < 2:
        needed = 4 * number + 4
        raise BudgetError(
            f"budget={budget} buys {num_draws} draws of {2 * number + 2} evaluations: "
            f"pass {needed} or more.",
            needed,
        )
    pairs = _draw_pairs(read_key(key), number, num_draws)
    flips = jnp.concatenate([jnp.zeros((1, number), bool), jnp.eye(number, dtype=bool)])
    asked = pairs[:, :, None] ^ flips  # (draws, 2, itself and with each player changed, n)
    plan = Plan(asked.reshape(-1, number), asked.size // number)
    answers = answer(game, plan, read_options(batch_size, progress))
    gains = answers.worths - game.empty  # in the precision of the worths
    worths = jnp.asarray(gains).reshape(num_draws, 2, number + 1, *game.empty.shape)
    signs = jnp.where(pairs, 1, -1).astype(worths.dtype)
    signs = signs.reshape(*signs.shape, *(1,) * game.empty.ndim)
    return jnp.moveaxis(signs * (worths[:, :, :1] - worths[:, :, 1:]), 1, 0)


def _draw_pairs(key: Key[Array, ""], number: int, num_draws: int) -> Bool[Array, "draws 2 n"]:
    """Coalitions S and their noisy copies S'; draw i comes from `fold_in(key, i)`."""

    def draw(index):
        first, second, third, fourth = jax.random.split(jax.random.fold_in(key, index), 4)
        members = jax.random.bernoulli(first, shape=(number,))
        fresh = jax.random.bernoulli(second, shape=(number,))
        keeps = jax.random.uniform(third, (number,)) < jax.random.uniform(fourth)
        return jnp.stack([members, jnp.where(keeps, members, fresh)])

    return jax.vmap(draw)(jnp.arange(num_draws))
