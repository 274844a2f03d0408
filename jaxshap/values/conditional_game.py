"""The observational game: absent features are drawn given those present."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxshap.errors import InputError
from jaxshap.games import Game, Host, check_function, check_kind, full_precision, widened
from jaxshap.inputs import (
    Players,
    check_complete,
    checked_table,
    checked_weights,
    rows_and_weights,
)
from jaxshap.values.conditioning import Gaussian, How
from jaxshap.values.sampled import filled_game


def conditional(
    model: Callable,
    X: Any,
    background: Any,
    *,
    weights: Any = None,
    players: Players | None = None,
    how: How | None = None,
) -> Game:
    """v(S) = E[model(x_S, absent features) | x_S], the distribution learned from the background.

    True to the data, not to the model: a feature that the model ignores gets credit for those it
    goes with. With `Gaussian` and `Copula` each draw is a stratum of the game. Aas, Jullum &
    Løland (2021).

    Args:
        model: a function of a batch of rows, `(rows, features)` to `(rows,)` or `(rows, outputs)`.
        X: the rows to explain, a table.
        background: the rows that the distribution is learned from, or `jaxshap.WeightedRows`.
        weights: how much each background row counts; all alike by default.
        players: None; conditional games need the columns of a table. Group columns instead.
        how: `Gaussian()` by default; `Copula()` for margins of any shape; `Nearby()` weighs the
            background rows that are near x_S.

    Returns:
        A Game whose worths are `(rows, *outputs)`.

    Raises:
        InputError: `players` are given, or the covariance has no inverse.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> background = jnp.array([[-1, -1], [1, 1], [-1, 1], [1, -1], [1, 1], [-1, -1]], float)
        >>> X = jnp.array([[3.0, 3.0]])
        >>> game = jaxshap.conditional(lambda x: x[:, 0], X, background)  # correlated by 1/3
        >>> print(np.asarray(jaxshap.shapley_values(game)[:, 0]).round(3))
        [2.5 0.5]
    """
    if players is not None:
        raise InputError(
            "conditional games need the columns of a table, and players= divides other inputs: "
            "pass a table and groups of columns, or use jaxshap.marginal."
        )
    check_function(model, "model", "one that maps a batch of rows to outputs")
    how = Gaussian() if how is None else how
    check_kind(how, How, "how", "jaxshap.values.Gaussian(), Copula() or Nearby()")
    background, weights = rows_and_weights(background, weights)
    rows, references = checked_table(model, X, background)
    check_complete(rows, "X")
    check_complete(references, "the background")
    shares = jnp.asarray(checked_weights(weights, len(references), rows))
    fill, num_points = full_precision(how.learn)(widened(references), shares)
    bytes_per_row = 4 * num_points * rows.shape[1] * rows.dtype.itemsize
    fill = fill if isinstance(model, Host) else jax.device_put(fill)
    name = f"conditional ({type(how).__name__.lower()})"
    absent = "an absent feature is drawn given the features that are present"
    return filled_game(model, rows, fill, num_points, bytes_per_row, name, absent)
