"""A large background by a few rows with weights."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import read_key
from jaxshap.errors import InputError
from jaxshap.games import as_numbers, full_precision, read_whole
from jaxshap.inputs.arrays import check_complete


class WeightedRows(NamedTuple):
    """Background rows, and how much each of them counts.

    Args:
        rows: the rows, `(k, features)`.
        weights: one non-negative number per row; only their ratios matter.

    Example:
        >>> import jaxshap
        >>> few = jaxshap.WeightedRows([[0.0, 0.0], [4.0, 8.0]], [0.75, 0.25])
        >>> jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], few).base_values.tolist()
        [4.0]
    """

    rows: Float[np.ndarray, "k features"]
    weights: Float[np.ndarray, "k"]


def rows_and_weights(background: Any, weights: Any) -> tuple[Any, Any]:
    """A background and its weights, which stand beside it or come with it."""
    if not isinstance(background, WeightedRows):
        return background, weights
    if weights is not None:
        raise InputError("the background comes with weights of its own: omit weights=.")
    return background.rows, background.weights


def kmeans(background: Any, count: int, *, weights: Any = None, key: Any = 0) -> WeightedRows:
    """A few weighted rows that stand for a background: k-means in standard deviations.

    Each coordinate of a centre is then the nearest value that occurs, so that codes of categories
    stay codes. It is another, cruder game: `explain(..., model_rows=)` keeps the full background.

    Args:
        background: a table.
        count: how many rows to make of it.
        weights: how much each background row counts; all alike by default.
        key: of the random start, a whole number or a JAX key.

    Returns:
        `WeightedRows`, each weighted by how many rows it stands for.

    Raises:
        InputError: there are fewer rows than `count`, or the weights are no weights.

    Example:
        >>> import jaxshap
        >>> few = jaxshap.kmeans([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [9.0, 8.0]], 2)
        >>> sorted(zip(few.rows.tolist(), few.weights.tolist()))
        [([0.0, 1.0], 0.75), ([9.0, 8.0], 0.25)]
    """
    rows = np.asarray(as_numbers(background, "the background"))
    rows = rows if np.issubdtype(rows.dtype, np.floating) else rows.astype(np.float64)
    count = read_whole(count, "count")
    if rows.ndim != 2 or not rows.size or count > len(rows):
        raise InputError(
            f"{count} of a background of shape {rows.shape}: pass a table, and no more than its "
            "rows."
        )
    check_complete(rows, "the background")
    weights = np.ones(len(rows)) if weights is None else _numbers(weights)
    if weights.shape != (len(rows),) or not (weights >= 0).all() or not weights.sum() > 0:
        raise InputError(
            f"weights must be one non-negative number for each of {len(rows)} rows, and not all 0."
        )
    scale = rows.std(0, dtype=np.float64)
    scaled = rows / np.where(scale > 0, scale, 1)
    label = _labels(scaled, count, key)
    members = [
        one
        for one in (np.flatnonzero(label == number) for number in range(count))
        if weights[one].sum() > 0
    ]
    share = np.array([weights[one].sum() for one in members])
    centres = np.stack([np.average(rows[one], axis=0, weights=weights[one]) for one in members])
    found = [
        _nearest(np.unique(column), centre)
        for column, centre in zip(rows.T, centres.T, strict=True)
    ]
    return WeightedRows(np.stack(found, axis=1).astype(rows.dtype), share / share.sum())


@full_precision
def spread(
    rows: Float[Array | np.ndarray, "m features"], weights: Float[Array | np.ndarray, "m"]
) -> Float[Array | np.ndarray, "features"]:
    """The weighted standard deviation of each column, 1 where it does not vary: a unit for
    distances.
    """
    deviation = jnp.sqrt(weights @ (rows - weights @ rows) ** 2)
    return jnp.where(deviation > 0, deviation, 1)


def _numbers(weights: Any) -> np.ndarray:
    return np.asarray(as_numbers(weights, "weights"), np.float64)


def _labels(rows: Float[np.ndarray, "m features"], count: int, key: Any) -> Int[np.ndarray, "m"]:
    from scipy.cluster.vq import kmeans2

    data = np.asarray(jax.random.key_data(read_key(key)))
    seed = int(key) if isinstance(key, int | np.integer) and key >= 0 else data
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a cluster may stay empty
        return kmeans2(rows, count, minit="++", rng=seed)[1]


def _nearest(
    values: Float[np.ndarray, "m"], points: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "k"]:
    right = np.clip(np.searchsorted(values, points), 0, len(values) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(points - values[left] <= values[right] - points, values[left], values[right])
