"""Components of a model's functional decomposition, as functions of new points."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.engine import evaluate, is_traced
from jaxshap.errors import InputError
from jaxshap.games import Host, as_numbers, as_pytree, full_precision, sets_up_to
from jaxshap.inputs import column_numbers, own_columns, read_inputs, read_model, read_weights
from jaxshap.values import checked_table, marginal

Feature = int | str


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Component:
    """The component of a few columns, as a pure function of their values; made by `component`.

    Call it with an array (points, columns), or with a vector where there is one column. It returns
    one value per point, or one per point and output.

    Attributes:
        model: the model as a function of whole rows.
        background: the rows that absent features come from.
        weights: the weights of the background rows, or None where all count alike.
        columns: the numbers of the columns that the component depends on.
        names: the names of these columns.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])
        >>> alone = jaxshap.interactions.component(lambda x: 3 * x[:, 0] + x[:, 1], background, 0)
        >>> alone.names, alone([2.0, 5.0]).tolist()
        (('x0',), [6.0, 15.0])
    """

    model: Callable
    background: Float[Array | np.ndarray, "background features"]
    weights: Float[Array | np.ndarray, "background"] | None
    columns: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    names: tuple[str, ...] = dataclasses.field(metadata={"static": True})

    def __call__(self, points: Any) -> Float[Array, "points *outputs"]:
        """The component at each point (points, columns)."""
        points = self._checked(points)
        rows = self._rows(points)
        game = marginal(self.model, rows, self.background, weights=self.weights)
        sets = sets_up_to(len(self.columns), len(self.columns))[1:]
        coalitions = np.zeros((len(sets), game.num_players), bool)
        coalitions[:, self.columns] = sets
        signs = np.where((len(self.columns) - sets.sum(1)) % 2, -1, 1)
        if len(self.columns) == game.num_players:  # v(N) is known: it needs no mean over rows
            inner = evaluate(game, coalitions[:-1], progress=False)
            worths = jnp.concatenate([inner, game.full[None]])
        else:
            worths = evaluate(game, coalitions, progress=False)
        gains = jnp.asarray(worths - game.empty)  # signs of all subsets sum to 0
        return full_precision(jnp.tensordot)(jnp.asarray(signs, gains.dtype), gains, 1)

    def _checked(self, points: Any) -> Float[Array | np.ndarray, "points columns"]:
        if not is_traced(points):
            points = np.asarray(as_numbers(points, "points"))
        points = points[:, None] if points.ndim == 1 and len(self.columns) == 1 else points
        if points.ndim != 2 or points.shape[1] != len(self.columns) or not len(points):
            raise InputError(
                f"points have shape {points.shape}: pass (points, {len(self.columns)}), "
                f"values of {list(self.names)}."
            )
        return points

    def _rows(self, points: Float[Array | np.ndarray, "points columns"]):
        """Whole rows, as a game needs them; other columns hold a background row and never count."""
        xp: Any = np if isinstance(self.model, Host) else jnp
        place = np.zeros(self.background.shape[1], int)
        place[list(self.columns)] = np.arange(len(self.columns))
        own = np.isin(np.arange(len(place)), self.columns)
        first = xp.asarray(self.background[0])
        return xp.where(own, xp.asarray(points, first.dtype)[:, place], first)


def component(
    model: Any,
    background: Any,
    features: Feature | Sequence[Feature],
    *,
    feature_names: Sequence[str] | None = None,
) -> Component:
    """The component m_S of one feature, two, or a few, as a function of new points.

    It is that of the marginal identification (see `decompose`). A point costs 2**s − 1 means of
    the model over the background. The function is exact for this background; the population's
    component is met up to the background's sampling error. jit and grad go through it where the
    model is in JAX; host and fitted models work too.

    Args:
        model: a function of rows, a `host` model or a fitted estimator.
        background: the rows that absent features come from: an array, a DataFrame or
            `WeightedRows`.
        features: the feature or features of the component, by name or column number.
        feature_names: names of the columns; by default those of the DataFrame, or x0, x1, ….

    Returns:
        A `Component`: a function from (points, features) to (points, *outputs).

    Raises:
        InputError: no feature is named, one is unknown, or one is named more than once.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> def model(x):
        ...     return x[:, 0] + 2 * x[:, 0] * x[:, 1]
        >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])
        >>> both = jaxshap.interactions.component(model, background, (0, 1))
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
