"""Components of a model's functional decomposition as functions that can be evaluated at new
points.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.engine import evaluate, is_traced
from jaxshap.errors import InputError
from jaxshap.games import Host, as_pytree, sets_up_to
from jaxshap.inputs import column_numbers, own_columns, read_inputs, read_model, read_weights
from jaxshap.values import checked_table, marginal

Feature = int | str


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Component:
    """The component of some columns, a pure function of their values; see `component`."""

    model: Callable
    background: Float[Array, "background features"]
    weights: Float[Array, "background"] | None
    columns: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    names: tuple[str, ...] = dataclasses.field(metadata={"static": True})

    def __call__(self, points: Float[Any, "points columns"]) -> Float[Array, "points *outputs"]:
        """At each point, a value for each column; a vector will do where there is one column."""
        points = self._checked(points)
        game = marginal(self.model, self._rows(points), self.background, self.weights)
        sets = sets_up_to(len(self.columns), len(self.columns))[1:]
        coalitions = np.zeros((len(sets), game.num_players), bool)
        coalitions[:, self.columns] = sets
        signs = np.where((len(self.columns) - sets.sum(1)) % 2, -1, 1)
        if (
            len(self.columns) == game.num_players
        ):  # the worth of all features is known, without a mean
            worths = jnp.concatenate(
                [evaluate(game, coalitions[:-1], progress=False), game.full[None]]
            )
        else:
            worths = evaluate(game, coalitions, progress=False)
        worths = worths - game.empty  # signs of all subsets sum to 0
        return jnp.tensordot(jnp.asarray(signs, worths.dtype), worths, 1)

    def _checked(self, points):
        if not is_traced(points):
            points = np.asarray(points)
        points = points[:, None] if points.ndim == 1 and len(self.columns) == 1 else points
        if points.ndim != 2 or points.shape[1] != len(self.columns) or not len(points):
            raise InputError(
                f"points have shape {points.shape}: pass (points, {len(self.columns)}), values of {list(self.names)}."
            )
        return points

    def _rows(self, points):
        """Whole rows, as a game needs them; the other columns are those of a background row and
        never enter.
        """
        xp: Any = np if isinstance(self.model, Host) else jnp
        turn = np.zeros(self.background.shape[1], int)
        turn[list(self.columns)] = np.arange(len(self.columns))
        own = np.isin(np.arange(len(turn)), self.columns)
        first = xp.asarray(self.background[0])
        return xp.where(own, xp.asarray(points, first.dtype)[:, turn], first)


def component(
    model: Any,
    background: Any,
    features: Feature | Sequence[Feature],
    *,
    feature_names: Sequence[str] | None = None,
) -> Component:
    """m_S of the marginal identification for one or two features (or a few), as a function of new
    points.

    A point costs 2**s − 1 means of the model over the background. Exact for this background; the
    population's component up to its sampling error. jit and grad go through it where the model is
    in JAX; host and fitted models work too.

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])
    >>> both = jaxshap.interactions.component(lambda x: x[:, 0] + 2 * x[:, 0] * x[:, 1], background, (0, 1))
    >>> print(both(jnp.array([[3.0, 2.0], [0.0, 5.0]])))
    [14.  2.]
    """
    rows, _ = read_weights(background)
    inputs = read_inputs(rows, background, None, own_columns(model, rows, feature_names))
    columns = tuple(column_numbers(features, inputs.names, "features="))
    if not columns:
        raise InputError("features= is empty: name one feature or more.")
    predict = read_model(model, inputs).predict
    predict = predict if isinstance(predict, Host) else as_pytree(predict)
    names = tuple(inputs.names[column] for column in columns)
    references, _ = checked_table(predict, inputs.references, inputs.references)
    return Component(predict, references, inputs.options.get("weights"), columns, names)
