"""Samples of a table around its background, and what a model says of them."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import InputError
from jaxshap.games import as_key
from jaxshap.inputs import column_numbers, own_columns, read_inputs, read_model, spread
from jaxshap.values import checked_table, checked_weights, predictions


class Neighbourhood(NamedTuple):
    """Samples and rows in standard deviations of the background, categories as numbers, and the
    model's outputs.

    Outputs lie flat and have lost `offset`, their mean over the samples, in the precision of the
    model.
    """

    samples: Float[np.ndarray, "samples features"]
    rows: Float[np.ndarray, "rows features"]
    coded: Bool[np.ndarray, "features"]  # which features are categories
    outputs: Float[np.ndarray, "samples outputs"]
    own: Float[np.ndarray, "rows outputs"]  # of the rows
    offset: Float[np.ndarray, "outputs"]
    shape: tuple[int, ...]  # of an output
    dtype: Any  # of the rows
    units: Float[np.ndarray, "features"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def neighbourhood(
    key: Key[Array, ""] | int,
    model: Any,
    X: Any,
    background: Any,
    num_samples: int,
    categorical: Sequence[str | int],
    feature_names: Sequence[str] | None,
) -> Neighbourhood:
    """Independent columns: normal with the background's mean and deviation, categories by their
    frequency.
    """
    inputs = read_inputs(X, background, None, own_columns(model, X, feature_names))
    if num_samples < len(inputs.names) + 2:
        number = len(inputs.names)
        raise InputError(
            f"num_samples={num_samples} for {number} features: a regression needs many more samples."
        )
    predict, output_names = read_model(model, inputs)
    rows, references = map(np.asarray, checked_table(predict, inputs.rows, inputs.references))
    for part, what in ((rows, "X"), (references, "the background")):
        if unknown := [
            name
            for name, column in zip(inputs.names, part.T, strict=True)
            if not np.isfinite(column).all()
        ]:
            raise InputError(
                f"{what} is NaN or infinite in {unknown}: nearness needs numbers. Leave those rows out."
            )
    weights = checked_weights(inputs.options.get("weights"), len(references), references)
    columns = np.arange(rows.shape[1])
    coded = np.isin(columns, column_numbers(categorical, inputs.names, "categorical="))
    varies = (references != references[0]).any(0)
    if not varies.any():
        raise InputError(
            "all rows of the background are the same: samples around them need rows that differ."
        )
    moved = varies & ~coded
    centre = np.where(
        moved,
        np.average(references.astype(np.float64), 0, weights),
        np.where(coded, 0, references[0]),
    )
    units = np.where(
        moved, np.asarray(spread(jnp.asarray(references - centre), jnp.asarray(weights))), 1
    )
    key = as_key(key)
    normal, chosen = _draws(key, num_samples, weights, len(columns))
    points = np.where(moved, centre + units * normal, references[chosen, columns]).astype(
        rows.dtype
    )
    samples, own = (np.where(coded, part, (part - centre) / units) for part in (points, rows))
    for column in np.flatnonzero(coded):  # as whole numbers, which every dtype holds apart
        values = np.unique(np.r_[samples[:, column], own[:, column]])
        samples[:, column], own[:, column] = (
            np.searchsorted(values, part[:, column]) for part in (samples, own)
        )
    outputs = predictions(predict, points, "sample")
    flat, of_rows = (part.reshape(len(part), -1) for part in (outputs, predictions(predict, rows)))
    offset = flat.mean(0)
    return Neighbourhood(
        samples,
        own,
        coded,
        flat - offset,
        of_rows - offset,
        offset,
        outputs.shape[1:],
        rows.dtype,
        units,
        inputs.names,
        output_names,
    )


@functools.partial(jax.jit, static_argnums=(1, 3))
def _draws(key: Key[Array, ""], count: int, weights: Float[Array, "m"], num_features: int):
    """A normal number and a background row for each feature; those of sample i come from
    `fold_in(key, i)`.
    """
    below = jnp.cumsum(weights)

    def draw(number):
        first, second = jax.random.split(jax.random.fold_in(key, number))
        chances = jax.random.uniform(second, (num_features,), jnp.float32).astype(below.dtype)
        normal = jax.random.normal(
            first, (num_features,), jnp.float32
        )  # one kind, so that dtypes do not change draws
        return normal, jnp.minimum(jnp.searchsorted(below, chances, side="right"), len(below) - 1)

    return jax.vmap(draw)(jnp.arange(count))
