"""Samples of a table around its background, and what a model says of them."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.background import spread
from jaxshap.inputs import column_number, read_inputs, read_model
from jaxshap.masking import checked_table, checked_weights
from jaxshap.prediction import predictions


class Neighbourhood(NamedTuple):
    """Samples and rows in standard deviations of the background, categories as numbers, and the model's outputs.

    Outputs lie flat and have lost `offset`, their mean over the samples, in the precision of the model.
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
    """Independent columns: normal with the background's mean and deviation, categories by their frequency."""
    if num_samples < 2:
        raise ValueError(f"num_samples={num_samples}: a regression needs many more samples than features.")
    inputs = read_inputs(X, background, None, feature_names)
    predict, output_names = read_model(model, inputs)
    rows, references = map(np.asarray, checked_table(predict, inputs.rows, inputs.references))
    weights = checked_weights(inputs.options.get("weights"), len(references), references)
    columns = np.arange(rows.shape[1])
    coded = np.isin(columns, [column_number(one, inputs.names, "categorical=") for one in categorical])
    centre = np.where(coded, 0, np.average(references, 0, weights))
    units = np.where(coded, 1, np.asarray(spread(jnp.asarray(references - centre), jnp.asarray(weights))))
    normal, chosen = _draws(
        key if not isinstance(key, int) else jax.random.key(key), num_samples, weights, len(columns)
    )
    points = np.where(coded, references[chosen, columns], centre + units * normal).astype(rows.dtype)
    samples, own = (np.where(coded, part, (part - centre) / units) for part in (points, rows))
    for column in np.flatnonzero(coded):  # as whole numbers, which every dtype holds apart
        values = np.unique(np.r_[samples[:, column], own[:, column]])
        samples[:, column], own[:, column] = (np.searchsorted(values, part[:, column]) for part in (samples, own))
    outputs = predictions(predict, points, "sample")
    flat, of_rows = (part.reshape(len(part), -1) for part in (outputs, predictions(predict, rows)))
    offset = flat.mean(0)
    return Neighbourhood(
        samples, own, coded, flat - offset, of_rows - offset, offset, outputs.shape[1:], rows.dtype, units,
        inputs.names, output_names,
    )  # fmt: skip


@functools.partial(jax.jit, static_argnums=(1, 3))
def _draws(key: Key[Array, ""], count: int, weights: Float[Array, "m"], num_features: int):
    """A normal number and a background row for each feature; those of sample i come from `fold_in(key, i)`."""
    below = jnp.cumsum(weights)

    def draw(number):
        first, second = jax.random.split(jax.random.fold_in(key, number))
        chances = jax.random.uniform(second, (num_features,), jnp.float32).astype(below.dtype)
        normal = jax.random.normal(first, (num_features,), jnp.float32)  # one kind, so that dtypes do not change draws
        return normal, jnp.minimum(jnp.searchsorted(below, chances, side="right"), len(below) - 1)

    return jax.vmap(draw)(jnp.arange(count))
