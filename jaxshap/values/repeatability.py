"""Whether a model answers the same when a row stands elsewhere in a batch, among other rows."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxshap.errors import UnsupportedModelError
from jaxshap.games import Game
from jaxshap.values.masked import Masked, outputs_of_ends
from jaxshap.values.mixing import num_rows_of

TOLERANCE = 1e-3  # of the largest output: what rounding may change
HALF_TOLERANCE = 3e-2  # for models in half precision


def check_repeatable(game: Game) -> None:
    """Refuse a model in training mode: dropout, batch statistics, or state that changes.

    Rows and references are asked about again in another order and partly replaced. Only JAX models
    with reference rows are looked at, and nothing under jit: a host model may be slow or paid for
    by the row, so it is asked about nothing twice.
    """
    value = getattr(game.value, "inner", game.value)  # of groups of players
    if isinstance(value, Masked) and not isinstance(value.weights, Tracer):
        _check_device(value)


def _check_device(masked: Masked) -> None:
    """With the program that made the endpoints, so that nothing is compiled."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(masked)):
        return
    rows, references = (_moved(num_rows_of(tree)) for tree in (masked.rows, masked.references))
    again = dataclasses.replace(
        masked,
        rows=jax.tree.map(lambda leaf: leaf[rows], masked.rows),
        references=jax.tree.map(lambda leaf: leaf[references], masked.references),
    )
    half = _is_half(masked.rows)
    pairs = zip(outputs_of_ends(masked), outputs_of_ends(again), (rows, references), strict=True)
    for first, second, order in pairs:
        _compare(jax.device_get(first)[order], jax.device_get(second), half)


def _moved(count: int) -> np.ndarray:
    """The last half in reverse, then the first row over and over."""
    order = np.arange(count)[::-1].copy()
    order[count - count // 2 :] = 0
    return order


def _is_half(tree: Any) -> bool:
    return any(leaf.dtype.itemsize < 4 for leaf in jax.tree.leaves(tree))


def _compare(first: np.ndarray, second: np.ndarray, half: bool) -> None:
    first, second = (np.asarray(part, np.float64) for part in (first, second))
    largest = np.abs(first).max(initial=0)
    apart = np.abs(first - second).max(initial=0)
    if apart > (HALF_TOLERANCE if half else TOLERANCE) * largest:
        raise UnsupportedModelError(
            "the model answers differently when a row stands elsewhere in the batch, by up to "
            f"{apart:.2g} (its outputs go up to {largest:.2g}): dropout or batch statistics in "
            "training mode, or a state that changes. Switch it to inference: model.eval() for Flax "
            "nnx and torch, eqx.nn.inference_mode(model), train=False for Flax linen and Haiku."
        )
