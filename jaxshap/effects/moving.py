"""A model where columns of every row are moved: the one loop behind all effects."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.engine import BatchSize, bucket, byte_limit, check_batch_size, jitted_with_model
from jaxshap.games import Host, as_pytree, as_worths
from jaxshap.values import bytes_per_point_of, check_outputs, rematerialise

MIN_ROWS_ALONE = 512  # on a CPU, this many rows outweigh a turn of the loop


class Moves(NamedTuple):
    """Which one or two columns take which values, the same for all rows or one value per row.

    For a single feature both columns may be the same.
    """

    columns: Int[np.ndarray, "*batches moves columns"]
    values: Float[np.ndarray, "*batches moves rows_or_1 columns"]


def batches_of(
    count: int, num_rows: int, points: int, *, alone: bool = False
) -> Int[np.ndarray, "batches moves"]:
    """Which of `count` moves are evaluated together; the last move is repeated to fill up."""
    padded = bucket(count)  # nearby numbers of moves share one compiled program
    batches = padded if alone else -(-padded // max(1, points // num_rows))
    length = -(-padded // batches)
    return np.minimum(np.arange(batches * length), count - 1).reshape(batches, length)


def is_best_alone(model: Callable, num_rows: int) -> bool:
    """Whether moves are best evaluated one at a time."""
    on_cpu = jax.default_backend() == "cpu"
    return not isinstance(model, Host) and on_cpu and num_rows >= MIN_ROWS_ALONE


def points_at_once(
    model: Callable, rows: Float[Array | np.ndarray, "rows features"], batch_size: BatchSize
) -> int:
    """How many inputs one call of the model may have."""
    check_batch_size(batch_size)
    if batch_size != "auto":
        return int(batch_size)
    if isinstance(model, Host):
        bytes_per_point = 8 * rows[0].nbytes
    else:
        bytes_per_point = bytes_per_point_of(as_pytree(model), rows)
    return max(1, byte_limit() // bytes_per_point)


def outputs_at(model: Callable, rows, columns, values) -> Float[Array, "moves rows *out"]:
    """The model at all moved rows, in one call."""
    if len(columns) == 1:  # a copy and a column: no scatter
        return model(_moved(rows, columns[0], values[0]))[None]
    inputs = jax.vmap(_moved, (None, 0, 0))(rows, columns, values)
    outputs = model(inputs.reshape(-1, rows.shape[1]))
    return outputs.reshape(*inputs.shape[:2], *outputs.shape[1:])


def slopes_at(model: Callable, rows, columns, values) -> Float[Array, "moves rows *out"]:
    """∂f/∂x of the first column at the rows as they are.

    Rows do not mix, so one derivative along the column serves all of them.
    """
    return jax.vmap(lambda pair: _slope(model, pair[0])(rows))(columns)


def twists_at(model: Callable, rows, columns, values) -> Float[Array, "moves rows *out"]:
    """∂²f/∂x∂y of both columns at the rows as they are."""
    return jax.vmap(lambda pair: _slope(_slope(model, pair[0]), pair[1])(rows))(columns)


def over_batches(
    model: Callable,
    rows: Float[Array | np.ndarray, "rows features"],
    moves: Moves,
    reduce: Callable[[Float[Array, "moves rows *out"], Any, Any], Any],
    detail: Any = None,
    shared: Any = None,
    *,
    evaluate: Callable = outputs_at,
    points: int,
) -> Any:
    """reduce(outputs of a batch of moves, its own detail, what all share), stacked over batches.

    Memory is bounded by `points` inputs of the model and by what `reduce` takes and returns;
    `reduce` is traced.
    """
    length = max(1, points // moves.columns.shape[1])
    if not isinstance(model, Host):
        arguments = as_pytree(model), rows, moves, detail, shared
        return _traced(*arguments, reduce=reduce, evaluate=evaluate, length=length)
    reduced = []
    for number in range(len(moves.columns)):
        columns, values, own = jax.tree.map(lambda leaf, at=number: leaf[at], (*moves, detail))
        values = np.broadcast_to(values, (len(columns), len(rows), values.shape[-1]))
        blocks = [slice(start, start + length) for start in range(0, len(rows), length)]
        outputs = [_on_host(model, rows[block], columns, values[:, block]) for block in blocks]
        with jax.enable_x64(True):  # as wide as the model's outputs
            of_batch = _reduced(np.concatenate(outputs, axis=1), own, shared, reduce=reduce)
        reduced.append(jax.device_get(of_batch))
    return jax.tree.map(lambda *leaves: np.stack(leaves), *reduced)


@functools.partial(jitted_with_model, static_argnames=("reduce", "evaluate", "length"))
def _traced(model, rows, moves, detail, shared, *, reduce, evaluate, length: int):
    @rematerialise
    def of_batch(batch):
        (columns, values), own = batch
        return reduce(_by_blocks(model, rows, columns, values, evaluate, length), own, shared)

    return jax.lax.map(of_batch, (moves, detail))


@functools.partial(jax.jit, static_argnames="reduce")
def _reduced(outputs, detail, shared, *, reduce):
    return reduce(outputs, detail, shared)


def _by_blocks(
    model, rows, columns, values, evaluate, length: int
) -> Float[Array, "moves rows *out"]:
    """At most `length` rows at a time."""
    count = len(rows)
    values = jnp.broadcast_to(values, (len(columns), count, values.shape[-1]))
    if count <= length:
        return as_worths(evaluate(model, rows, columns, values))
    blocks = -(-count // length)
    length = -(-count // blocks)
    which = jnp.minimum(jnp.arange(blocks * length), count - 1).reshape(blocks, length)

    @rematerialise
    def of_block(block):
        return as_worths(evaluate(model, rows[block], columns, values[:, block]))

    outputs = jnp.moveaxis(jax.lax.map(of_block, which), 0, 1)  # (moves, blocks, length, *out)
    return outputs.reshape(len(columns), blocks * length, *outputs.shape[3:])[:, :count]


def _on_host(model: Host, rows, columns, values) -> Float[np.ndarray, "moves rows *out"]:
    inputs = np.tile(rows, (len(columns), 1, 1))
    for moved, own, value in zip(inputs, columns, values, strict=True):
        moved[:, own] = value
    outputs = model(inputs.reshape(-1, rows.shape[1]))
    check_outputs(outputs.shape, outputs.dtype, inputs.shape[0] * inputs.shape[1])
    return as_worths(outputs.reshape(*inputs.shape[:2], *outputs.shape[1:]))


def _moved(rows, columns, values) -> Float[Array, "rows features"]:
    for which in range(len(columns)):
        column, value = columns[which], values[:, which, None]
        rows = jax.lax.dynamic_update_slice_in_dim(rows, value, column, axis=1)
    return rows


def _slope(function: Callable, column) -> Callable:
    def along(rows):
        direction = (jnp.arange(rows.shape[1]) == column).astype(rows.dtype)
        return jax.jvp(function, (rows,), (jnp.broadcast_to(direction, rows.shape),))[1]

    return along
