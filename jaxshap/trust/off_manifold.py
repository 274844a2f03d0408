"""How many of the points that a marginal game evaluates lie outside of the data."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.engine import byte_limit, read_key
from jaxshap.errors import InputError
from jaxshap.games import read_partition, read_whole
from jaxshap.inputs import read_background, read_table, read_weights
from jaxshap.values import Score, Support, checked_weights, learn_support


class OffManifold(NamedTuple):
    """Shares of points outside of the data, in [0, 1], with standard errors over orderings.

    Attributes:
        by_row: the share per row, of its mixtures with the background.
        by_row_error: their standard errors.
        by_feature: the share per row and feature, of the gains that make up the feature's value:
            those of which either end lies outside.
        by_feature_error: their standard errors.
        expected: the share of new rows like the data that would count as outside.

    Example:
        >>> import numpy as np, jaxshap
        >>> data = np.random.default_rng(0).normal(size=(100, 2))
        >>> outside = jaxshap.trust.off_manifold_share(data[:5], data)
        >>> outside.by_feature.shape, round(outside.expected, 2), outside.overall < 0.2
        ((5, 2), 0.05, True)
    """

    by_row: Float[np.ndarray, "rows"]
    by_row_error: Float[np.ndarray, "rows"]
    by_feature: Float[np.ndarray, "rows features"]
    by_feature_error: Float[np.ndarray, "rows features"]
    expected: float

    @property
    def overall(self) -> float:
        """The share over all rows."""
        return float(self.by_row.mean())


def off_manifold_share(
    X: Any,
    background: Any,
    *,
    data: Any = None,
    score: Score | None = None,
    inside: float = 0.95,
    neighbours: int = 5,
    groups: Sequence[Sequence[int]] | None = None,
    num_orderings: int = 64,
    key: Key[Array, ""] | int = 0,
) -> OffManifold:
    """The share of mixed points (x_S, r elsewhere) that do not look like the data.

    Coalitions and background rows are those of random orderings, so that gains count as they do in
    Shapley values. What points outside of the data are worth is the model's guess:
    `jaxshap.manifold` is the game without them.

    Args:
        X: the rows to explain: an array or a DataFrame.
        background: the rows that absent features come from, with weights where they have some.
        data: the rows that the support is learnt from; by default the background. Pass them where
            the background is a summary, as from `kmeans`.
        score: a function from points to numbers, larger for likelier points; by default minus the
            distance to the `neighbours`-th nearest row, in units in which all directions vary
            alike.
        inside: the share of the data whose score counts as inside, 0.95 by default.
        neighbours: which nearest row the default score looks at, 5 by default.
        groups: the column numbers of each player, together all columns; by default each column
            plays alone.
        num_orderings: how many orderings to draw per row, 64 by default.
        key: a JAX key, or an int that makes one.

    Returns:
        The shares by row and by feature, an `OffManifold`.

    Raises:
        InputError: values are missing and there is no `score`, or an option is out of range.

    Example:
        >>> import numpy as np, jaxshap
        >>> line = np.linspace(-1, 1, 200)
        >>> data = np.stack([line, line], axis=1)  # mixtures of the two features leave the line
        >>> bool(jaxshap.trust.off_manifold_share(data[:5], data).overall > 0.8)
        True
    """
    num_orderings = read_whole(num_orderings, "num_orderings", 2)
    table = read_table(X, "X")
    background, options = read_weights(background)
    references = jnp.asarray(read_background(background, table))
    if not jnp.issubdtype(references.dtype, jnp.floating):
        references = references.astype(jnp.result_type(float))
    rows = jnp.asarray(table.array, references.dtype)
    weights = jnp.asarray(checked_weights(options.get("weights"), len(references), rows))
    if score is None and (jnp.isnan(rows).any() or jnp.isnan(references).any()):
        raise InputError(
            "X or the background has missing values, which have no distance: fill them, drop the "
            "rows, or pass a score."
        )
    if num_orderings < 2:
        raise InputError(
            f"num_orderings={num_orderings}: pass 2 or more, so that there are standard errors."
        )
    known, shares = references, weights
    if data is not None:
        known = jnp.asarray(read_background(data, table), references.dtype)
        shares = jnp.full(len(known), 1 / len(known), known.dtype)
    support = learn_support(known, shares, score, inside, neighbours)
    owner, number = np.arange(rows.shape[1]), rows.shape[1]
    if groups is not None:
        owner, number = read_partition(groups, number, "columns")
    row_bytes = 4 * (number + 1) * (len(references) + rows.shape[1]) * rows.dtype.itemsize
    batch = max(1, byte_limit() // row_bytes)
    walk = _Walk(support, references, weights, jnp.asarray(owner), number, batch)
    points, gains = map(np.asarray, _walked(walk, rows, read_key(key), num_orderings))
    return OffManifold(points.mean(0), _error(points), gains.mean(0), _error(gains), 1 - inside)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Walk:
    """From a background row to an explained one, one player at a time."""

    support: Support
    references: Float[Array, "m features"]
    weights: Float[Array, "m"]
    owner: Int[Array, "features"]
    num_players: int = dataclasses.field(metadata={"static": True})
    batch_size: int = dataclasses.field(metadata={"static": True})

    def __call__(
        self, rows: Float[Array, "rows features"], key: Key[Array, ""]
    ) -> tuple[Float[Array, "rows"], Bool[Array, "rows players"]]:
        """The share of mixed points that are outside, and which players' gains have such an end."""
        first, second = jax.random.split(key)
        place = jax.random.permutation(first, self.num_players)
        start = jax.random.choice(second, len(self.references), (len(rows),), p=self.weights)
        present = place[self.owner] < jnp.arange(self.num_players + 1)[:, None]

        def walk_row(ends):
            row, reference = ends
            outside = ~self.support.holds(jnp.where(present, row, reference))
            mixed = outside[1:-1].astype(rows.dtype)
            share = mixed.mean() if self.num_players > 1 else mixed.sum()
            return share, outside[place] | outside[place + 1]

        batch_size = min(self.batch_size, len(rows))
        return jax.lax.map(walk_row, (rows, self.references[start]), batch_size=batch_size)


@functools.partial(jax.jit, static_argnums=3)
def _walked(
    walk: _Walk, rows: Float[Array, "rows features"], key: Key[Array, ""], num_orderings: int
) -> tuple[Float[Array, "orderings rows"], Bool[Array, "orderings rows players"]]:
    """`walk` for ordering i with the key `fold_in(key, i)`."""
    orderings = jnp.arange(num_orderings)
    return jax.lax.map(lambda order: walk(rows, jax.random.fold_in(key, order)), orderings)


def _error(draws: np.ndarray) -> np.ndarray:
    return draws.std(0, ddof=1) / np.sqrt(len(draws))
