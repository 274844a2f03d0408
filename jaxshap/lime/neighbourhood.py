"""Samples of a table around its background, and what a model predicts for them."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jaxshap.engine import read_key
from jaxshap.errors import InputError
from jaxshap.games import at_least_float32, read_whole
from jaxshap.inputs import column_numbers, own_columns, read_inputs, read_model, spread
from jaxshap.values import checked_table, checked_weights, predictions


class Neighbourhood(NamedTuple):
    """Samples and rows in standard deviations of the background, and the model's outputs for them.

    Outputs are flat, in the precision of the model, and less `offset`, their mean over the samples.
    Categories are numbered.
    """

    samples: Float[np.ndarray, "samples features"]
    rows: Float[np.ndarray, "rows features"]
    coded: Bool[np.ndarray, "features"]  # which features are categories
    outputs: Float[np.ndarray, "samples outputs"]
    row_outputs: Float[np.ndarray, "rows outputs"]
    offset: Float[np.ndarray, "outputs"]
    output_shape: tuple[int, ...]
    dtype: Any  # of the rows
    units: Float[np.ndarray, "features"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def neighbourhood(
    key: Key[Array, ""] | int | np.integer,
    model: Any,
    X: Any,
    background: Any,
    num_samples: int,
    categorical: str | int | Sequence[str | int],
    feature_names: Sequence[str] | None,
) -> Neighbourhood:
    """Independent columns: normal with the background's mean and deviation, or its categories."""
    inputs = read_inputs(X, background, None, own_columns(model, X, feature_names))
    num_samples = read_whole(num_samples, "num_samples")
    if num_samples < len(inputs.names) + 2:
        raise InputError(
            f"num_samples={num_samples} for {len(inputs.names)} features: a regression needs many "
            "more samples."
        )
    predict, output_names, *_ = read_model(model, inputs)
    rows, references = map(np.asarray, checked_table(predict, inputs.rows, inputs.references))
    _check_finite(rows, inputs.names, "X")
    _check_finite(references, inputs.names, "the background")
    weights = np.asarray(
        checked_weights(inputs.options.get("weights"), len(references), references)
    )
    listed = column_numbers(categorical, inputs.names, "categorical=")
    coded = np.isin(np.arange(rows.shape[1]), listed)
    points, centre, units = _sampled(read_key(key), num_samples, references, weights, coded)
    samples, own = (np.where(coded, table, (table - centre) / units) for table in (points, rows))
    for column in np.flatnonzero(coded):  # as whole numbers, which every dtype holds apart
        values = np.unique(np.r_[samples[:, column], own[:, column]])
        samples[:, column] = np.searchsorted(values, samples[:, column])
        own[:, column] = np.searchsorted(values, own[:, column])
    outputs, row_outputs = predictions(predict, points, "sample"), predictions(predict, rows)
    flat = outputs.reshape(len(outputs), -1)
    offset = flat.mean(0)
    return Neighbourhood(
        samples=samples,
        rows=own,
        coded=coded,
        outputs=flat - offset,
        row_outputs=row_outputs.reshape(len(rows), -1) - offset,
        offset=offset,
        output_shape=outputs.shape[1:],
        dtype=at_least_float32(rows.dtype),
        units=units,
        feature_names=inputs.names,
        output_names=output_names,
    )


def _check_finite(
    table: Float[np.ndarray, "rows features"], names: Sequence[str], what: str
) -> None:
    unknown = [
        name for name, column in zip(names, table.T, strict=True) if not np.isfinite(column).all()
    ]
    if unknown:
        raise InputError(
            f"{what} is NaN or infinite in {unknown}: nearness needs numbers. Omit those rows."
        )


def _sampled(
    key: Key[Array, ""],
    num_samples: int,
    references: Float[np.ndarray, "references features"],
    weights: Float[np.ndarray, "references"],
    coded: Bool[np.ndarray, "features"],
) -> tuple[
    Float[np.ndarray, "samples features"],
    Float[np.ndarray, "features"],
    Float[np.ndarray, "features"],
]:
    """Samples, and the centre and the unit of each column; categories have 0 and 1."""
    varies = (references != references[0]).any(0)
    if not varies.any():
        raise InputError(
            "all rows of the background are the same: samples around them need rows that differ."
        )
    normal = varies & ~coded
    means = np.average(references.astype(np.float64), 0, weights)
    centre = np.where(normal, means, np.where(coded, 0, references[0]))
    deviations = spread(jnp.asarray(references - centre), jnp.asarray(weights))
    units = np.where(normal, np.asarray(deviations), 1)
    noise, chosen = _draws(key, num_samples, weights, len(coded))
    picked = references[chosen, np.arange(len(coded))]
    points = np.where(normal, centre + units * noise, picked).astype(references.dtype)
    return points, centre, units


@functools.partial(jax.jit, static_argnums=(1, 3))
def _draws(
    key: Key[Array, ""], count: int, weights: Float[Array, "references"], num_features: int
) -> tuple[Float[Array, "count features"], Int[Array, "count features"]]:
    """A normal number and a background row per feature; sample i comes from `fold_in(key, i)`."""
    cumulative = jnp.cumsum(weights)

    def draw(number):
        first, second = jax.random.split(jax.random.fold_in(key, number))
        # In float32 whatever the dtype of the rows, so that dtypes do not change the draws:
        normal = jax.random.normal(first, (num_features,), jnp.float32)
        chances = jax.random.uniform(second, (num_features,), jnp.float32)
        chosen = jnp.searchsorted(cumulative, chances.astype(cumulative.dtype), side="right")
        return normal, jnp.minimum(chosen, len(cumulative) - 1)

    return jax.vmap(draw)(jnp.arange(count))
