"""The interventional game: absent features are drawn from a background, whatever is present."""

from collections.abc import Callable
from typing import Any

from jaxshap.games import Game
from jaxshap.inputs import Players, rows_and_weights
from jaxshap.values.masked import masked_game


def marginal(
    model: Callable, X: Any, background: Any, *, weights: Any = None, players: Players | None = None
) -> Game:
    """v(S) = mean over background rows r of model(x_S, r elsewhere), for every row x of X.

    It is the mean of the `baseline` games of all background rows, and so are its Shapley values:
    the background rows are its strata. True to the model, not to the data: it asks about
    combinations that may never occur. Janzing et al. (2020).

    Args:
        model: a function of a batch of rows, `(rows, features)` to `(rows,)` or `(rows, outputs)`.
        X: the rows to explain.
        background: the rows that absent features take their values from, or
            `jaxshap.WeightedRows`.
        weights: how much each background row counts; all alike by default.
        players: for inputs that are not tables, which parts play; see `jaxshap.patches`.

    Returns:
        A Game whose worths are `(rows, *outputs)`.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> background = jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> game = jaxshap.marginal(lambda x: x[:, 0], jnp.array([[2.0, 2.0]]), background)
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [1.0, 0.0]
    """
    background, weights = rows_and_weights(background, weights)
    absent = (
        "an absent feature takes its values from the background rows, whatever the other "
        "features are"
    )
    return masked_game(model, X, background, weights, "marginal", absent, players)
