"""Where the data lie: a score of points, and how low it may be for a point that still looks like
data.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError
from jaxshap.games import (
    as_array,
    as_pytree,
    check_function,
    full_precision,
    is_real,
    read_number,
    read_whole,
)
from jaxshap.inputs import spread

FOLDS = 5
# of a principal component, as a share of a feature's: below it, copies differ by rounding alone
LEAST_VARIANCE = 0.01
Score = Callable[
    [Float[Array | np.ndarray, "points features"]], Float[Array | np.ndarray, "points"]
]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Support:
    """Points whose score is at least `lowest`; a pytree."""

    score: Score
    lowest: Float[Array | np.ndarray, ""]

    def holds(
        self, points: Float[Array | np.ndarray, "points features"]
    ) -> Bool[Array | np.ndarray, "points"]:
        return self.score(points) >= self.lowest


def learn_support(
    references: Float[Array | np.ndarray, "m features"],
    weights: Float[Array | np.ndarray, "m"],
    score: Score | None,
    inside: float,
    neighbours: int,
) -> Support:
    """The support that holds the share `inside` of the reference rows, by a score that is larger
    for likelier points.

    Without one it is minus the distance to the `neighbours`-th nearest reference row, in units in
    which all directions vary alike: where features go together, a small step off their line is a
    large one.
    """
    inside = read_number(inside, "inside", above=0, most=1)
    if score is None:
        most = len(references) - -(-len(references) // FOLDS)  # are known where a fold is left out
        neighbours = read_whole(neighbours, "neighbours")
        if neighbours > most:
            raise InputError(
                f"neighbours={neighbours}: pass a number from 1 to {most}, four fifths of the "
                f"{len(references)} rows "
                "of the background."
            )
        score = _nearest(references, weights, neighbours)
        return Support(
            score, jnp.quantile(_scores_of_new_rows(references, weights, neighbours), 1 - inside)
        )
    check_function(score, "score", "one that scores points, larger for those like the data")
    score = as_pytree(score)
    own = as_array(score(references), "what score returned")
    if own.shape != (len(references),) or not is_real(own.dtype):
        raise InputError(
            f"score returned shape {own.shape} and dtype {own.dtype} for {len(references)} rows: "
            "it must return one number a row."
        )
    return Support(score, jnp.quantile(own, 1 - inside))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Nearest:
    axes: Float[Array | np.ndarray, "features features"]
    known: Float[Array | np.ndarray, "m features"]
    neighbours: int = dataclasses.field(metadata={"static": True})

    @full_precision
    def __call__(
        self, points: Float[Array | np.ndarray, "points features"]
    ) -> Float[Array | np.ndarray, "points"]:
        return jax.lax.top_k(-_distances(points @ self.axes, self.known), self.neighbours)[0][:, -1]


@full_precision
def _nearest(references, weights, neighbours: int) -> _Nearest:
    axes = _axes(references, weights)
    return _Nearest(axes, references @ axes, neighbours)


@functools.partial(jax.jit, static_argnums=2)
@full_precision
def _scores_of_new_rows(
    references: Float[Array | np.ndarray, "m features"],
    weights: Float[Array | np.ndarray, "m"],
    neighbours: int,
) -> Float[Array | np.ndarray, "m"]:
    """Each row's score by the others, a fold at a time: rows that units are fitted to look nearer
    than new ones do.
    """
    fold = jnp.arange(len(references)) % FOLDS

    def of_fold(number):
        kept = jnp.where(fold == number, 0, weights)
        axes = _axes(references, kept / kept.sum())
        apart = _distances(references @ axes, references @ axes)
        return -jnp.sort(jnp.where(fold == number, jnp.inf, apart), axis=1)[:, neighbours - 1]

    scores = jax.lax.map(of_fold, jnp.arange(FOLDS))
    return scores[fold, jnp.arange(len(references))]


@jax.jit
@full_precision
def _axes(
    references: Float[Array | np.ndarray, "m features"], weights: Float[Array | np.ndarray, "m"]
) -> Float[Array | np.ndarray, "features features"]:
    """The map to principal components of unit variance; components with next to none are stretched
    no further.

    Correlations are shrunk as far as few rows leave them uncertain.
    """
    scale = spread(references, weights)
    centred = (references - weights @ references) / scale
    correlations = jnp.einsum("m,mi,mj->ij", weights, centred, centred)
    trusted = references.shape[0] / sum(references.shape)
    correlations = trusted * correlations + (1 - trusted) * jnp.eye(len(scale), dtype=scale.dtype)
    variances, directions = jnp.linalg.eigh(correlations)
    return directions / jnp.sqrt(jnp.maximum(variances, LEAST_VARIANCE)) / scale[:, None]


def _distances(
    points: Float[Array | np.ndarray, "a features"], others: Float[Array | np.ndarray, "b features"]
) -> Float[Array | np.ndarray, "a b"]:
    squares = (points**2).sum(1)[:, None] + (others**2).sum(1) - 2 * points @ others.T
    return jnp.sqrt(jnp.maximum(squares, 0))
