"""The marginal game kept to the support: only mixtures that look like data count."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from jaxshap.background import spread
from jaxshap.filling import filled_game
from jaxshap.game import Game, as_pytree
from jaxshap.masking import checked_table, checked_weights

Score = Callable[[Float[Array, "points features"]], Float[Array, "points"]]


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
    """v(S) = mean of model(x_S, r elsewhere) over those background rows r for which the mixture is in distribution.

    That is where `score`, larger for points more like the data, is no lower than for the share `inside` of the
    background; where no mixture is, those with the highest score count. By default the score is minus the distance, in
    standard deviations, to the nearest `neighbours`-th row of the background. Taufiq, Blöbaum & Minorics (2023).
    """
    rows, references = checked_table(model, X, background)
    weights = jnp.asarray(checked_weights(weights, len(references), rows))
    references = jnp.asarray(references)
    fill = _Fill(references, weights, *support_of(references, weights, score, inside, neighbours))
    bytes_per_row = 4 * len(references) * (len(references) + rows.shape[1]) * rows.dtype.itemsize
    return filled_game(model, rows, fill, len(references), bytes_per_row, "manifold")


def support_of(
    references: Float[Array, "m features"],
    weights: Float[Array, "m"],
    score: Score | None,
    inside: float,
    neighbours: int,
) -> tuple[Score, Float[Array, ""]]:
    """A score of how much a point looks like the references, as a pytree, and the lowest that is inside."""
    if not 0 < inside <= 1:
        raise ValueError(f"inside={inside}: pass a share of the background in (0, 1].")
    if score is not None:
        score = as_pytree(score)
        own = score(references)
        if own.shape != (len(references),):
            raise ValueError(f"score returned shape {own.shape} for {len(references)} rows: it must return one a row.")
    else:
        if not 1 <= neighbours < len(references):
            raise ValueError(
                f"neighbours={neighbours}: pass a number below the {len(references)} rows of the background."
            )
        scale = spread(references, weights)
        known = references / scale
        score = _Nearest(scale, known, neighbours)
        own = -jnp.sort(_distances(known, known), axis=1)[:, neighbours]  # its own distance, 0, is not counted
    return score, jnp.quantile(own, 1 - inside)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Fill:
    references: Float[Array, "m features"]
    weights: Float[Array, "m"]
    score: Score
    lowest: Float[Array, ""]

    def __call__(self, coalition: Bool[Array, "features"], row: Float[Array, "features"]):
        inputs = jnp.where(coalition, row, self.references)
        score = jnp.where(self.weights > 0, self.score(inputs), -jnp.inf)
        counts = score >= jnp.minimum(self.lowest, score.max())
        weights = jnp.where(counts, self.weights, 0)
        return inputs, weights / weights.sum()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Nearest:
    scale: Float[Array, "features"]
    known: Float[Array, "m features"]
    neighbours: int = dataclasses.field(metadata={"static": True})

    def __call__(self, points: Float[Array, "points features"]) -> Float[Array, "points"]:
        return jax.lax.top_k(-_distances(points / self.scale, self.known), self.neighbours)[0][:, -1]


def _distances(points: Float[Array, "a features"], others: Float[Array, "b features"]) -> Float[Array, "a b"]:
    inner = jnp.dot(points, others.T, precision="highest")
    squares = (points**2).sum(1)[:, None] + (others**2).sum(1) - 2 * inner
    return jnp.sqrt(jnp.maximum(squares, 0))
