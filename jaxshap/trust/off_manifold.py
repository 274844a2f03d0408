"""How many of the points that a marginal game asks the model about lie outside of the data."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.games import as_key
from jaxshap.inputs import read_background, read_table, read_weights
from jaxshap.values import Score, Support, checked_weights, learn_support


class OffManifold(NamedTuple):
    """Shares in [0, 1] with standard errors over orderings.

    `by_row`: of the mixtures of a row with the background. `by_feature`: of the gains that make up
    a feature's value in a row, those with an end outside. `expected` is the share of new rows like
    the data that count as outside.
    """

    by_row: Float[np.ndarray, "rows"]
    by_row_error: Float[np.ndarray, "rows"]
    by_feature: Float[np.ndarray, "rows features"]
    by_feature_error: Float[np.ndarray, "rows features"]
    expected: float

    @property
    def overall(self) -> float:
        return float(self.by_row.mean())


def off_manifold_share(
    X,
    background,
    *,
    data=None,
    score: Score | None = None,
    inside: float = 0.95,
    neighbours: int = 5,
    groups: Sequence[Sequence[int]] | None = None,
    num_orderings: int = 64,
    key: Key[Array, ""] | int = 0,
) -> OffManifold:
    """The share of mixed points (x_S, r elsewhere) that do not look like the data, by row and by
    feature.

    Coalitions and background rows are those of random orderings, so that gains count as they do in
    Shapley values. A point is outside where its `score` is lower than that of the share `inside` of
    the `data`, which are the background unless that is a summary of them, as from `kmeans`; without
    a score it is minus the distance to the `neighbours`-th nearest row, in units in which all
    directions vary alike. What such points are worth is the model's guess: `jaxshap.manifold` is
    the game without them.

    Example: mixtures of two features that go together leave the line on which the data lie.

    >>> import numpy as np, jaxshap
    >>> line = np.linspace(-1, 1, 200)
    >>> data = np.stack([line, line], axis=1)
    >>> bool(jaxshap.trust.off_manifold_share(data[:5], data).overall > 0.8)
    True
    """
    table = read_table(X, "X")
    background, options = read_weights(background)
    references = jnp.asarray(read_background(background, table))
    if not jnp.issubdtype(references.dtype, jnp.floating):
        references = references.astype(jnp.result_type(float))
    rows = jnp.asarray(table.array, references.dtype)
    weights = jnp.asarray(checked_weights(options.get("weights"), len(references), rows))
    if score is None and (jnp.isnan(rows).any() or jnp.isnan(references).any()):
        raise InputError(
            "X or the background has missing values, which have no distance: fill them, drop the rows, or pass a score."
        )
    if num_orderings < 2:
        raise InputError(
            f"num_orderings={num_orderings}: pass 2 or more, so that there are standard errors."
        )
    number = rows.shape[1] if groups is None else len(groups)
    owner = np.arange(number)
    if groups is not None:
        owner = np.empty(rows.shape[1], int)
        for player, columns in enumerate(groups):
            owner[list(columns)] = player
    known, shares = references, weights
    if data is not None:
        known = jnp.asarray(read_background(data, table), references.dtype)
        shares = jnp.full(len(known), 1 / len(known), known.dtype)
    support = learn_support(known, shares, score, inside, neighbours)
    key = as_key(key)
    a_row = 4 * (number + 1) * (len(references) + rows.shape[1]) * rows.dtype.itemsize
    walk = _Walk(
        support, references, weights, jnp.asarray(owner), number, max(1, byte_limit() // a_row)
    )
    points, gains = (np.asarray(part) for part in _walked(walk, rows, key, num_orderings))
    return OffManifold(points.mean(0), _error(points), gains.mean(0), _error(gains), 1 - inside)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Walk:
    """From a background row to an explained one, a player at a time."""

    support: Support
    references: Float[Array, "m features"]
    weights: Float[Array, "m"]
    owner: Int[Array, "features"]
    num_players: int = dataclasses.field(metadata={"static": True})
    rows_at_once: int = dataclasses.field(metadata={"static": True})

    def __call__(self, rows: Float[Array, "rows features"], key: Key[Array, ""]):
        """The share of points between the two that are outside, and which players' gains have such
        an end.
        """
        first, second = jax.random.split(key)
        place = jax.random.permutation(first, self.num_players)
        start = jax.random.choice(second, len(self.references), (len(rows),), p=self.weights)
        present = place[self.owner] < jnp.arange(self.num_players + 1)[:, None]

        def of_row(item):
            row, reference = item
            outside = ~self.support.holds(jnp.where(present, row, reference))
            inner = outside[1:-1].astype(rows.dtype)
            return inner.mean() if self.num_players > 1 else inner.sum(), outside[place] | outside[
                place + 1
            ]

        return jax.lax.map(
            of_row, (rows, self.references[start]), batch_size=min(self.rows_at_once, len(rows))
        )


@functools.partial(jax.jit, static_argnums=3)
def _walked(
    walk: _Walk, rows: Float[Array, "rows features"], key: Key[Array, ""], num_orderings: int
):
    return jax.lax.map(
        lambda order: walk(rows, jax.random.fold_in(key, order)), jnp.arange(num_orderings)
    )


def _error(draws: np.ndarray) -> np.ndarray:
    return draws.std(0, ddof=1) / np.sqrt(len(draws))
