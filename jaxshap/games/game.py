"""The game: the worth of a coalition, with its two endpoints."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from jaxshap.errors import InputError, InputTypeError, ModelOutputError
from jaxshap.games.numbers import as_array
from jaxshap.games.precision import held_worths, widened
from jaxshap.games.pytrees import register_without


@dataclasses.dataclass(frozen=True)
class Game:
    """A value function with its two endpoints; a pytree, so jit never bakes its data in.

    Everything that varies from explanation to explanation (rows, classes, losses) is an output
    axis: `*out`. A game may be a weighted mean of one game per background row or per draw, its
    strata: v(S) = Σ_b w_b v_b(S). An estimator can then ask each stratum about coalitions of its
    own.

    Args:
        value: the worth of a coalition `(n,)`; a `Host` function takes a batch `(m, n)` of them.
        empty: v(∅), the worth of no players, `(*out)`.
        full: v(N), the worth of all players, `(*out)`.
        num_players: how many players there are.
        name: what the game is called in results.
        absent: in words, what it means for a player to be absent.
        background: the table that absent features take their values from, where there is one. It
            is for diagnosis alone and does not go through jit.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> game.num_players, float(game.empty), float(game.full)
        (2, 0.0, 6.0)
        >>> float(game(np.array([True, False])))
        1.0
    """

    value: Callable[[Any], Any]
    empty: Float[Array | np.ndarray, "*out"]
    full: Float[Array | np.ndarray, "*out"]
    num_players: int
    name: str = "game"
    absent: str = "an absent player is not in the coalition"
    background: Any = None

    def __call__(self, coalition: Bool[Array | np.ndarray, "n"]) -> Float[Array, "*out"]:
        self._check_traceable()
        return widened(jnp.asarray(self.value(coalition)))

    @property
    def on_host(self) -> bool:
        """Whether worths come from numpy, outside JAX: no jit, vmap or grad through them."""
        return isinstance(self.value, Host)

    @property
    def num_strata(self) -> int:
        """Of how many games this one is the weighted mean; 1 where it is no mean."""
        strata = self._strata()
        return 1 if strata is None else strata.num_strata

    def with_strata(self, count: int) -> "Game":
        """The same game with at most this many strata: neighbouring ones are merged.

        Args:
            count: the most strata.

        Returns:
            The game.
        """
        strata = self._strata()
        if strata is None or strata.num_strata <= count:
            return self
        merged = strata.merged(-(-strata.num_strata // count))
        value = Host(merged, self.value.bytes_per_item) if isinstance(self.value, Host) else merged
        return dataclasses.replace(self, value=value)

    def in_stratum(
        self, stratum: Int[Array, ""], coalition: Bool[Array | np.ndarray, "n"]
    ) -> Float[Array, "*out"]:
        """w_b v_b(S): the part of v(S) that comes from stratum b.

        Args:
            stratum: the number b of the stratum.
            coalition: who is in, `(n,)`.

        Returns:
            The part, `(*out,)`; the parts of all strata add up to the worth.
        """
        self._check_traceable()
        strata = self._strata()
        if strata is None:
            return self(coalition)
        return widened(jnp.asarray(strata.in_stratum(stratum, coalition)))

    def strata_ends(self) -> tuple[Any, Any]:
        """w_b v_b(∅) and w_b v_b(N) of every stratum b.

        Returns:
            Both, `(strata, *out)`.
        """
        strata = self._strata()
        if strata is None:
            return self.empty[None], self.full[None]
        empties, weights = strata.empties(), strata.weights_of_strata()
        full = self.full if isinstance(self.full, Tracer) else jax.device_get(self.full)
        shares = weights.reshape(-1, *(1,) * full.ndim).astype(full.dtype) * full
        return empties.reshape(-1, *full.shape), shares

    def _strata(self) -> Any:
        value = self.value.function if isinstance(self.value, Host) else self.value
        return getattr(value, "strata", None)

    def _check_traceable(self) -> None:
        if self.on_host:
            raise InputTypeError(
                "this game runs on the host, a batch at a time: call jaxshap.evaluate(game, "
                "coalitions)."
            )


register_without(
    Game, ("value", "empty", "full"), ("num_players", "name", "absent"), dropped="background"
)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Host:
    """A function from a numpy batch to a numpy batch that JAX cannot or should not trace."""

    function: Callable[[Any], Any]
    bytes_per_item: int = 2**10  # memory that one entry of the batch needs; sets the batch size

    def __call__(self, batch: Any) -> np.ndarray:
        answer = self.function(batch)
        try:
            output = as_array(answer, "what it returned")
        except InputError as error:
            raise ModelOutputError(
                f"the model did not return an array of numbers: {error}"
            ) from error
        output = np.array(output)  # a copy: the model may write its next answer to the same memory
        return held_worths(output) if output.dtype.kind in "biu" else output


def check_game(game: Any) -> None:
    """Tell how to make a game of a model or a function, which are often passed in its place."""
    if not isinstance(game, Game):
        raise InputTypeError(
            f"{getattr(game, '__name__', type(game).__name__)} is not a game: pass "
            "jaxshap.marginal(model, X, background) for a model, or "
            "jaxshap.make_game(function, num_players) for a function of a coalition."
        )
