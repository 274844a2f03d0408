"""The protocol of value functions: what "absent" means is a function that makes a Game."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxshap.games import Game
from jaxshap.inputs import Players


@runtime_checkable
class ValueFunction(Protocol):
    """Anything that makes a Game of a model, the rows to explain and a background.

    `explain(value=...)` takes any function of this signature. The Game says what absent means:
    its `name` is shown in results, its `absent` says it in words, and its `background`, if set,
    is what a diagnosis compares masked inputs with. Both endpoints and all worths have an axis of
    rows in front. A value function that makes absent parts of the rows themselves, as those of
    `jaxshap.images` do, says `needs_background = False` and gets None.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> def zeroed(model, X, background, *, weights=None, players=None):
        ...     rows = jnp.asarray(X)
        ...     def value(coalition):
        ...         return model(jnp.where(coalition, rows, 0.0))
        ...     return jaxshap.make_game(value, rows.shape[1], "zeroed")
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: x.sum(1), X, background, value=zeroed)
        >>> explanation.value_function, explanation.values.tolist()
        ('zeroed', [[1.0, 2.0]])
    """

    def __call__(
        self,
        model: Callable,
        X: Any,
        background: Any,
        *,
        weights: Any = None,
        players: Players | None = None,
    ) -> Game:
        """The game of all rows of X.

        Args:
            model: a JAX function of a batch of inputs, or a `Host` model.
            X: the rows to explain, in front.
            background: the rows that absent features may take their values from; None for a value
                function that needs none.
            weights: one per background row, or None where they count alike.
            players: which parts of an input come and go together; None for columns of a table.

        Returns:
            A Game whose worths are `(rows, *outputs)`.
        """
        ...


def needs_background(value: Callable | None) -> bool:
    """Whether a value function, or the default one, takes absent parts from other rows."""
    return getattr(value, "needs_background", True)
