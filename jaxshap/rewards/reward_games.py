"""Games whose worth is a function of another game's worths."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import (
    Game,
    Host,
    as_array,
    as_numbers,
    as_pytree,
    check_function,
    check_game,
    check_kind,
    full_precision,
    widened,
)
from jaxshap.rewards.class_rewards import ClassReward


def reward(
    game: Game | Any, function: Callable | ClassReward | Any, name: str | None = None
) -> Game:
    """The game v'(S) = function(v(S)): what is shared out is the reward instead of the output.

    Its Shapley values sum to function(v(N)) − function(v(∅)). `explain` takes the same function as
    `reward=`.

    Args:
        game: the game below, for example `marginal(model, X, background)`.
        function: a function from the outputs of all rows, (rows, *outputs), to floating-point
            rewards, (rows, *rewards); one of this room, or your own, in JAX.
        name: what the game calls the reward; by default the function's own name.

    Returns:
        A `Game` of the same players, named "<name of the game>, <name of the reward>".

    Raises:
        InputTypeError: where the reward is not callable or does not return floating-point numbers.
        InputError: where the reward does not fit the outputs, or is not finite with all players or
            with none.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> game = jaxshap.table([1.0, 2.0, 4.0, 8.0])
        >>> doublings = jaxshap.rewards.reward(game, jnp.log2, "doublings")
        >>> print(doublings.name, np.asarray(jaxshap.shapley_values(doublings)).round(3))
        table, doublings [1. 2.]
    """
    check_game(game)
    if not isinstance(function, ClassReward):
        remedy = "a function of the outputs in JAX, or one of jaxshap.rewards, such as loss(labels)"
        check_function(function, "reward", remedy)
        if isinstance(function, Host):
            raise InputTypeError(f"reward={function!r} runs on the host: pass {remedy}.")
    if name is not None:
        check_kind(name, str, "name", "a text")
    full = jnp.asarray(game.full)
    settled: Any = function.for_rows(full) if isinstance(function, ClassReward) else function
    name = name or getattr(settled, "name", getattr(settled, "__name__", "reward"))
    settled = as_pytree(settled)
    ends = (settled(jnp.asarray(end)) for end in (game.empty, game.full))
    empty, full = (as_array(end, "what the reward returned") for end in ends)
    if not jnp.issubdtype(full.dtype, jnp.floating):
        raise InputTypeError(
            f"a reward is a floating-point number, not {full.dtype}: cast it in the function."
        )
    empty, full = widened(jnp.asarray(empty)), widened(jnp.asarray(full))
    if not isinstance(full, Tracer) and not np.isfinite(np.stack([empty, full])).all():
        raise InputError(
            f"the reward {name} is not finite with all players, or with none: bound it in the "
            "function."
        )
    value = game.value
    if isinstance(value, Host):
        rewarded: Any = Host(
            lambda coalitions: jax.vmap(settled)(value(coalitions)), value.bytes_per_item
        )
    else:
        rewarded = _Rewarded(value, settled)
    return Game(rewarded, empty, full, game.num_players, f"{game.name}, {name}")


def averaged(game: Game | Any, weights: Any = None) -> Game:
    """The mean of a game over its rows. With a `loss` below, minus its Shapley values are SAGE's.

    Covert et al. (2020).

    Args:
        game: a game whose first output axis is the rows.
        weights: one non-negative weight per row, normalised to sum to 1; by default all are equal.

    Returns:
        A `Game` of the same players without the axis of rows.

    Raises:
        InputError: where the game has no rows, or the weights do not fit them.

    Example:
        >>> import jaxshap
        >>> of_two_rows = jaxshap.table([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0], [3.0, 5.0]])
        >>> jaxshap.shapley_values(jaxshap.rewards.averaged(of_two_rows)).tolist()
        [2.5, 1.5]
    """
    check_game(game)
    if not game.full.ndim:
        raise InputError(
            "the game has a single number per coalition: there are no rows to average."
        )
    count = len(game.full)
    shares = np.ones(count) if weights is None else as_array(weights, "weights")
    if shares.shape != (count,):
        raise InputError(f"weights have shape {shares.shape} for {count} rows: pass one a row.")
    if not isinstance(shares, Tracer):
        shares = np.asarray(as_numbers(shares, "weights"), float)
        if not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise InputError("weights must be non-negative numbers, and not all of them 0.")
    shares = shares / shares.sum()
    return reward(game, _Mean(jnp.asarray(shares, game.full.dtype)), "mean over rows")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Rewarded:
    value: Callable
    function: Callable

    def __call__(self, coalition):
        return self.function(self.value(coalition))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Mean:
    shares: Any

    @full_precision
    def __call__(self, outputs: Float[Array, "rows *out"]) -> Float[Array, "*out"]:
        return jnp.tensordot(self.shares.astype(outputs.dtype), outputs, 1)
