"""Games made of functions of a coalition."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputTypeError, ModelOutputError
from jaxshap.games.arguments import read_whole
from jaxshap.games.functions import check_function
from jaxshap.games.game import Game, Host
from jaxshap.games.precision import widened
from jaxshap.games.pytrees import as_pytree


def make_game(value: Any, num_players: Any, name: str = "game") -> Game:
    """Make a game of a pure function of one boolean coalition `(n,)`, evaluating both endpoints.

    A `jaxshap.host` function takes a batch of coalitions `(m, n)` in numpy instead, and returns
    their worths `(m, *out)`. Arrays inside a pytree function (a `jax.tree_util.Partial`, an Equinox
    module) stay data under jit; those that a plain function closes over become constants.

    Args:
        value: the worth of a coalition, an array of floating-point numbers of any shape `(*out,)`.
        num_players: the number n of players, at least one.
        name: what the game is, in words, for messages and displays; "game" by default.

    Returns:
        The `Game`, whose endpoints v(∅) and v(N) are evaluated already.

    Raises:
        InputTypeError: `value` is no function, or `num_players` no whole number.
        InputError: there is no player.
        ModelOutputError: worths are not floating-point numbers, or their shapes differ.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda coalition: jnp.where(coalition.all(), 6.0, 0.0), 3)
        >>> jaxshap.shapley_values(game).tolist()
        [2.0, 2.0, 2.0]
    """
    check_function(value, "value", "one that takes a coalition and returns its worth")
    if isinstance(num_players, float | np.floating):
        raise InputTypeError(
            f"num_players={num_players}: pass a whole number, 1 or more, as an int."
        )
    num_players = read_whole(num_players, "num_players")
    value = value if isinstance(value, Host) else as_pytree(value)
    empty, full = _endpoints(value, num_players)
    return Game(value, empty, full, num_players, name)


def _endpoints(value: Callable, num_players: int) -> tuple[Any, Any]:
    """v(∅) and v(N)."""
    if isinstance(value, Host):
        batch = np.stack([np.zeros(num_players, bool), np.ones(num_players, bool)])
        worths = value(batch)
        _as_worths(worths)
        worths = widened(worths)
        if worths.ndim == 0 or len(worths) != 2:
            raise ModelOutputError(
                f"the value function returned shape {worths.shape} for 2 coalitions: a host "
                "function takes coalitions (m, n) and returns worths (m, *out)."
            )
        return np.asarray(worths[0]), np.asarray(worths[1])
    everyone = jnp.ones(num_players, bool)
    empty, full = _as_worths(value(~everyone)), _as_worths(value(everyone))
    if empty.shape != full.shape:
        raise ModelOutputError(
            f"v(∅) has shape {empty.shape} and v(N) has {full.shape}: return worths of one shape."
        )
    return empty, full


def _as_worths(output: Any) -> Float[Array, "..."]:
    """What a value function returned, as an array of floating-point numbers."""
    try:
        worths = jnp.asarray(output)
    except (TypeError, ValueError) as error:
        kind = getattr(output, "dtype", type(output).__name__)
        raise ModelOutputError(
            f"the value function returned {kind}: return floating-point numbers."
        ) from error
    if jnp.issubdtype(worths.dtype, jnp.floating):
        return widened(worths)
    remedy = "cast them in the value function"
    if jnp.issubdtype(worths.dtype, jnp.complexfloating):
        remedy = "return real numbers, such as the real part or the modulus"
    raise ModelOutputError(f"worths must be floating-point numbers, not {worths.dtype}: {remedy}.")
