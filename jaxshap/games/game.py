"""The game: the worth of a coalition, with its two endpoints."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError, InputTypeError, ModelOutputError

_ARRAYS = (jax.Array, np.ndarray, np.generic)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Game:
    """A value function with its two endpoints; a pytree, so that jit treats its arrays as data.

    Call it with a boolean coalition `(n,)` for its worth. Whatever varies from explanation to
    explanation (rows, classes, losses) is an output axis: a worth has shape `(*out,)`. `make_game`
    makes a game of any function; `marginal`, `baseline` and their like make one of a model.

    Attributes:
        value: the worth of a coalition; a `host` function takes a batch of coalitions instead.
        empty: v(∅), the worth of no players, with shape `(*out,)`.
        full: v(N), the worth of all players, with shape `(*out,)`.
        num_players: the number n of players.
        name: what the game is, in words, for messages and displays.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> game.num_players, float(game.empty), float(game.full)
        (2, 0.0, 6.0)
        >>> float(game(np.array([True, False])))
        1.0
    """

    value: Callable[[Any], Any]
    empty: Float[Array, "*out"]
    full: Float[Array, "*out"]
    num_players: int = dataclasses.field(metadata={"static": True})
    name: str = dataclasses.field(default="game", metadata={"static": True})

    def __call__(self, coalition: Bool[Array | np.ndarray, "n"]) -> Float[Array, "*out"]:
        """The worth of one coalition."""
        if self.on_host:
            raise InputTypeError(
                "this game runs on the host, a batch at a time: "
                "call jaxshap.evaluate(game, coalitions)."
            )
        return self.value(coalition)

    @property
    def on_host(self) -> bool:
        """Whether worths come from numpy, outside JAX: no jit, vmap or grad through them."""
        return isinstance(self.value, Host)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Host:
    """A function from a numpy batch to a numpy batch that JAX cannot or should not trace."""

    function: Callable[[np.ndarray], Any]
    bytes_per_item: int = 2**10  # memory that one entry of the batch needs; sets the batch size

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(batch))


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
    if not callable(value):
        raise InputTypeError(
            f"{value!r} is not a function: pass one that takes a coalition and returns its worth."
        )
    if isinstance(num_players, bool) or not isinstance(num_players, int | np.integer):
        raise InputTypeError(f"num_players={num_players!r}: pass a whole number of players.")
    if num_players < 1:
        raise InputError(f"a game needs at least one player, not num_players={num_players}.")
    num_players = int(num_players)
    value = value if isinstance(value, Host) else as_pytree(value)
    empty, full = _endpoints(value, num_players)
    return Game(value, empty, full, num_players, name)


def check_game(game: Any) -> None:
    """Tell how to make a game of a model or a function, which are often passed in its place."""
    if not isinstance(game, Game):
        raise InputTypeError(
            f"{getattr(game, '__name__', type(game).__name__)} is not a game: pass "
            "jaxshap.marginal(model, X, background) for a model, or "
            "jaxshap.make_game(function, num_players) for a function of a coalition."
        )


def as_pytree(function: Callable) -> Callable:
    """The function as a pytree: its arrays are leaves, so that jit sees them as data.

    An opaque function is static, and so are leaves that are not arrays, such as the activation
    function of an Equinox module.
    """
    leaves, structure = jax.tree.flatten(function)
    if len(leaves) == 1 and leaves[0] is function:
        return jax.tree_util.Partial(function)
    if all(isinstance(leaf, _ARRAYS) for leaf in leaves):
        return function
    arrays, statics = (
        tuple(leaf if isinstance(leaf, _ARRAYS) == wanted else None for leaf in leaves)
        for wanted in (True, False)
    )
    return _Partly(arrays, statics, structure)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Partly:
    """A pytree function some of whose leaves are arrays; the rest of them is static."""

    arrays: tuple[Any, ...]
    statics: tuple[Any, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})

    def __call__(self, *inputs):
        pairs = zip(self.arrays, self.statics, strict=True)
        leaves = [static if array is None else array for array, static in pairs]
        return jax.tree.unflatten(self.structure, leaves)(*inputs)


def _endpoints(value: Callable, num_players: int) -> tuple[Array, Array]:
    """v(∅) and v(N)."""
    if isinstance(value, Host):
        batch = np.stack([np.zeros(num_players, bool), np.ones(num_players, bool)])
        worths = _as_worths(value(batch))
        if worths.ndim == 0 or len(worths) != 2:
            raise ModelOutputError(
                f"the value function returned shape {worths.shape} for 2 coalitions: a host "
                "function takes coalitions (m, n) and returns worths (m, *out)."
            )
        return worths[0], worths[1]
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
        return worths
    remedy = "cast them in the value function"
    if jnp.issubdtype(worths.dtype, jnp.complexfloating):
        remedy = "return real numbers, such as the real part or the modulus"
    raise ModelOutputError(f"worths must be floating-point numbers, not {worths.dtype}: {remedy}.")
