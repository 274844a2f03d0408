"""The contrastive game: an absent feature takes the value it has in one reference row."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import Game, as_array, as_numbers
from jaxshap.inputs import Players, rows_and_weights
from jaxshap.values.masked import masked_game


def baseline(
    model: Callable, X: Any, background: Any, *, weights: Any = None, players: Players | None = None
) -> Game:
    """v(S) = model(x_S, reference elsewhere) for every row x of X: what sets x apart from it.

    Args:
        model: a function of a batch of rows, `(rows, features)` to `(rows,)` or `(rows, outputs)`.
        X: the rows to explain.
        background: the reference: one row `(features,)`, or a background of a single row.
        weights: None; a single reference needs no weight.
        players: for inputs that are not tables, which parts play; see `jaxshap.patches`.

    Returns:
        A Game whose worths are `(rows, *outputs)`.

    Raises:
        InputError: the background has several rows, or weights.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> X, reference = jnp.array([[2.0, 3.0]]), jnp.array([1.0, 1.0])
        >>> game = jaxshap.baseline(lambda x: x[:, 0] * x[:, 1], X, reference)
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [2.0, 3.0]
    """
    background, weights = rows_and_weights(background, weights)
    if weights is not None and as_array(weights, "weights").size != 1:
        raise InputError(
            "baseline compares with one reference row, which needs no weights: omit weights=, or "
            "use jaxshap.marginal."
        )
    if players is None:
        reference = _with_rows(background, X)
    else:
        reference = jax.tree.map(_with_rows, background, X)
    lengths = {np.shape(leaf)[0] for leaf in jax.tree.leaves(reference)}
    if lengths != {1}:
        raise InputError(
            f"a reference is one row, and the background has {sorted(lengths)}: use "
            "jaxshap.marginal for a background of several rows."
        )
    absent = "an absent feature has the value it has in one reference row"
    return masked_game(model, X, reference, None, "baseline", absent, players)


def _with_rows(reference: Any, rows: Any) -> Any:
    """The reference with an axis of rows in front, where it has none."""
    reference = as_numbers(reference, "the background")
    if not reference.ndim:
        raise InputError("the background is a single number: pass one row of all features.")
    return reference[None] if reference.ndim == as_array(rows, "X").ndim - 1 else reference
