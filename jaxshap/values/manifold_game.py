"""The marginal game kept to the support: only mixtures that look like data count."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError
from jaxshap.games import Game, check_function, widened
from jaxshap.inputs import (
    Players,
    check_complete,
    checked_table,
    checked_weights,
    rows_and_weights,
)
from jaxshap.values.sampled import filled_game
from jaxshap.values.support import Score, Support, learn_support


def manifold(
    model: Callable,
    X: Any,
    background: Any,
    *,
    weights: Any = None,
    players: Players | None = None,
    score: Score | None = None,
    inside: float = 0.95,
    neighbours: int = 5,
) -> Game:
    """v(S) = mean of model(x_S, r elsewhere) over the background rows r whose mixture is in
    distribution.

    Where no mixture is, those with the highest score count. Taufiq, Blöbaum & Minorics (2023). It
    costs rows × background² distances per coalition: take a background of some hundred rows.

    Args:
        model: a function of a batch of rows, `(rows, features)` to `(rows,)` or `(rows, outputs)`.
        X: the rows to explain, a table.
        background: the rows that absent features take their values from, or
            `jaxshap.WeightedRows`.
        weights: how much each background row counts; all alike by default.
        players: None; manifold games need the columns of a table. Group columns instead.
        score: a function of points `(points, features)` that is larger for points more like the
            data; by default minus the distance to the `neighbours`-th nearest background row, in
            units in which all directions vary alike.
        inside: a mixture counts where its score is no lower than for this share of the background.
        neighbours: which nearest background row the default score looks at.

    Returns:
        A Game whose worths are `(rows, *outputs)`.

    Raises:
        InputError: `players` are given, or `inside` or `neighbours` is out of range.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> X, background = jnp.array([[2.0, 2.0]]), jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> def score(x):
        ...     return -abs(x[:, 0] - x[:, 1])
        >>> game = jaxshap.manifold(lambda x: x[:, 0], X, background, score=score)
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [0.5, 0.5]
    """
    if players is not None:
        raise InputError(
            "manifold games need the columns of a table, and players= divides other inputs: pass "
            "a table and groups of columns, or use jaxshap.marginal."
        )
    check_function(model, "model", "one that maps a batch of rows to outputs")
    background, weights = rows_and_weights(background, weights)
    rows, references = checked_table(model, X, background)
    if score is None:
        check_complete(rows, "X")
        check_complete(references, "the background")
    shares = jnp.asarray(checked_weights(weights, len(references), rows))
    references = widened(jnp.asarray(references))
    fill = _Fill(references, shares, learn_support(references, shares, score, inside, neighbours))
    bytes_per_row = 4 * len(references) * (len(references) + rows.shape[1]) * rows.dtype.itemsize
    absent = "an absent feature comes from background rows with which the mixture looks like data"
    return filled_game(model, rows, fill, len(references), bytes_per_row, "manifold", absent)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Fill:
    references: Float[Array | np.ndarray, "m features"]
    weights: Float[Array | np.ndarray, "m"]
    support: Support

    def __call__(
        self,
        coalition: Bool[Array | np.ndarray, "features"],
        row: Float[Array | np.ndarray, "features"],
    ):
        inputs = jnp.where(coalition, row, self.references)
        score = jnp.where(self.weights > 0, self.support.score(inputs), -jnp.inf)
        counts = score >= jnp.minimum(self.support.lowest, score.max())
        weights = jnp.where(counts, self.weights, 0)
        return inputs, weights / weights.sum()
