"""Exact interactions of tree ensembles, of any index and order, without evaluations."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import compiled
from jaxshap.estimators import NodeWeights, diagonal_nodes
from jaxshap.games import (
    check_kind,
    check_num_sets,
    full_precision,
    num_sets,
    set_positions,
    sets_of_size,
)
from jaxshap.inputs import rows_and_weights
from jaxshap.interactions.index_values import Interactions
from jaxshap.interactions.indices import check_indices
from jaxshap.trees import (
    Ensemble,
    background_shares,
    base_margin,
    path_conditions,
)

ROWS_AT_ONCE = 2**15  # rows times background rows of one path, to bound memory


def tree_interactions(
    ensemble: Ensemble,
    rows: Any,
    background: Any = None,
    *,
    index: str = "SII",
    order: int = 2,
    weights: Any = None,
) -> Interactions:
    """An interaction index of all sets of at most `order` features, exactly, for every row.

    It is that of the raw margin: of the marginal game where there is a background, and of the
    path-dependent game (Lundberg et al., 2020) without one. Every index is a mean of the mixed
    derivative of the multilinear extension along its diagonal, and of a path that is a product of
    one factor per feature. `index="BV"` and `order=1` give Banzhaf values. Order two of the Shapley
    index alone is faster by `jaxshap.trees.interventional_interactions`.

    Args:
        ensemble: the trees, as `jaxshap.trees.read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.
        background: the rows that absent features come from, or `jaxshap.WeightedRows`; without it
            they go both ways at a split, as the training rows did.
        index: as for `exact_interactions`.
        order: the number of features in the largest sets.
        weights: how much each background row counts; by default all count the same.

    Returns:
        The `Interactions`, with values (sets, rows, outputs) and standard errors of 0.

    Raises:
        InputError: the index or the order is not there, or there are too many sets.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> found = jaxshap.interactions.tree_interactions(trees, X[3:], X, index="BII")
        >>> found.sets, np.asarray(found.values[:, 0, 0]).round(3).tolist()
        ([(0,), (1,), (0, 1)], [1.5, 1.5, 1.0])
    """
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    number = ensemble.structure.num_features
    check_indices(index, order, number)
    check_num_sets(order, number)
    background, weights = rows_and_weights(background, weights)
    count, dtype = len(ensemble.structure.encode(rows)), ensemble.values.dtype
    shares = jnp.asarray(background_shares(background, weights, dtype), dtype)
    total = jnp.zeros((num_sets(number, order), count, ensemble.structure.num_outputs), dtype)
    for group in path_conditions(ensemble, rows, background):
        width = group.player.shape[1]
        data = group.met, group.absent, group.values
        for size in range(1, min(order, width) + 1):
            nodes = diagonal_nodes(index, order, size, width)
            subsets = sets_of_size(width, size)
            places = set_positions(np.sort(group.player[:, subsets], axis=2), number)
            total = _added(total, data, places, nodes, shares, size)
    base = base_margin(ensemble)
    if background is not None:
        base = jnp.tensordot(shares, ensemble.predict(jnp.asarray(background)), 1)
    values = total[1:]
    base = jnp.broadcast_to(base, values.shape[1:])
    return Interactions(values, jnp.zeros_like(values), base, index, number, order)


@full_precision
def _sums_of_paths(
    total: Float[Array, "places rows outputs"],
    data: tuple,
    places: Int[Array | np.ndarray, "paths subsets"],
    nodes: NodeWeights,
    shares: Float[Array, "background"],
    size: int,
) -> Float[Array, "places rows outputs"]:
    """The total with what these paths add to sets of one size."""
    positions, weights, _ = (jnp.asarray(part, total.dtype) for part in nodes)
    subsets = jnp.asarray(sets_of_size(data[0].shape[1], size))

    def of_path(total, path):
        (met, absent, value), place = path

        def of_row(row):  # ∂_S of Π (met + absent)/2 + z (met − absent)/2, at z = t
            middle, half = (row[:, None] + absent) / 2, (row[:, None] - absent) / 2

            def node(sums, point):
                position, weight = point
                factors = middle + position * half
                slopes = jnp.where(factors == 0, 0, half / jnp.where(factors == 0, 1, factors))
                chosen = functools.reduce(
                    jnp.multiply, (slopes[subsets[:, place]] for place in range(size))
                )
                return sums + weight * chosen @ (factors.prod(0) * shares), None

            start = jnp.zeros(len(subsets), total.dtype)
            return jax.lax.scan(node, start, (positions, weights))[0]

        count = max(1, ROWS_AT_ONCE // absent.shape[1])
        sums = jax.lax.map(of_row, met.T, batch_size=count)  # (rows, subsets)
        return total.at[place].add(sums.T[:, :, None] * value), None

    return jax.lax.scan(of_path, total, (data, jnp.asarray(places)))[0]


_added = compiled(_sums_of_paths, static_argnums=(5,))
