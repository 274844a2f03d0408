"""The marginal game kept to the support: only mixtures that look like data count."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from jaxshap.games import Game
from jaxshap.values.masked import checked_table, checked_weights
from jaxshap.values.sampled import filled_game
from jaxshap.values.support import Score, Support, learn_support


def manifold(
    model: Callable,
    X: Float[Array, "rows features"],
    background: Float[Array, "background features"],
    weights: Float[Array, "background"] | None = None,
    *,
    score: Score | None = None,
    inside: float = 0.95,
    neighbours: int = 5,
) -> Game:
    """v(S) = mean of model(x_S, r elsewhere) over those background rows r for which the mixture is
    in distribution.

    That is where `score`, larger for points more like the data, is no lower than for the share
    `inside` of the background; where no mixture is, those with the highest score count. By default
    the score is minus the distance to the nearest `neighbours`-th row of the background, in units
    in which all directions vary alike. Taufiq, Blöbaum & Minorics (2023).

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> X, background = jnp.array([[2.0, 2.0]]), jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> game = jaxshap.manifold(lambda x: x[:, 0], X, background, score=lambda x: -abs(x[:, 0] - x[:, 1]))
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [0.5, 0.5]
    """
    rows, references = checked_table(model, X, background)
    weights = jnp.asarray(checked_weights(weights, len(references), rows))
    references = jnp.asarray(references)
    fill = _Fill(references, weights, learn_support(references, weights, score, inside, neighbours))
    bytes_per_row = 4 * len(references) * (len(references) + rows.shape[1]) * rows.dtype.itemsize
    return filled_game(model, rows, fill, len(references), bytes_per_row, "manifold")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Fill:
    references: Float[Array, "m features"]
    weights: Float[Array, "m"]
    support: Support

    def __call__(self, coalition: Bool[Array, "features"], row: Float[Array, "features"]):
        inputs = jnp.where(coalition, row, self.references)
        score = jnp.where(self.weights > 0, self.support.score(inputs), -jnp.inf)
        counts = score >= jnp.minimum(self.support.lowest, score.max())
        weights = jnp.where(counts, self.weights, 0)
        return inputs, weights / weights.sum()
