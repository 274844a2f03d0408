"""Games in which absent parts take the values of reference rows: masks are applied here."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from jaxshap.engine import bucket, byte_limit, jitted_with_model
from jaxshap.games import (
    Game,
    Host,
    as_pytree,
    as_worths,
    at_least_float32,
    check_function,
    check_kind,
)
from jaxshap.inputs import (
    Players,
    check_alike,
    check_finite,
    check_outputs,
    checked_inputs,
    checked_weights,
)
from jaxshap.values.host_masked import HostMasked, split_bytes
from jaxshap.values.mixing import masks, num_rows_of, padded
from jaxshap.values.outputs import bytes_per_point_of, check_whole_outputs, weighted_sum


def masked_game(
    model: Callable,
    rows: Any,
    references: Any,
    weights: Any,
    name: str,
    absent: str,
    players: Players | None = None,
) -> Game:
    """v(S) = Σ_r weights_r model(row where S, reference r elsewhere), for every row.

    Players are the columns of a table, or `players` says which parts of an input they own. The
    endpoints need no mixing: the model on the rows, and its mean over the references.
    """
    check_function(model, "model", "one that maps a batch of rows to outputs")
    if players is not None:
        check_kind(players, Players, "players", "what jaxshap.tokens, segments or patches make")
    rows, references = checked_inputs(model, rows, references, players)
    weights = checked_weights(weights, num_rows_of(references), rows)
    columns = jax.tree.leaves(rows)[0].shape[1] if players is None else len(players)
    make = _host_game if isinstance(model, Host) else _device_game
    value, empty, full = make(model, rows, references, weights, columns, players)
    background = None if players is not None else (references, weights)
    return Game(value, empty, full, columns, name, absent, background)


def _device_game(model, rows, references, weights, num_players: int, players: Players | None):
    model, count = as_pytree(model), len(weights)
    block = max(1, byte_limit() // bytes_per_point_of(model, rows))
    references, weights = padded(references, weights, bucket(count))
    owner = None if players is None else players.owner
    rows, references, weights, owner = jax.device_put((rows, references, weights, owner))
    value = Masked(model, rows, references, weights, owner, num_players, block)
    if players is not None and players.some_stay:
        full, empty = _ends_with_parts_that_stay(value)
    else:
        full, ends, empty = _ends(value)
        check_finite(ends, count, "background row")
        check_whole_outputs(model, rows, full, ends, count)
        value = dataclasses.replace(value, ends=ends)
    check_finite(full, num_rows_of(rows), "row")
    return value, empty, full


def _host_game(model, rows, references, weights, num_players: int, players: Players | None):
    owner = None if players is None else players.owner
    num_rows, count = num_rows_of(rows), len(weights)
    block, per_coalition = split_bytes(rows, count)
    full = model(jax.tree.map(np.copy, rows))
    check_outputs(full.shape, full.dtype, num_rows)
    check_finite(full, num_rows, "row")
    weights = weights.astype(np.float64)
    value = HostMasked(model, rows, references, weights, owner, num_players, block)
    if players is not None and players.some_stay:
        empty = value(np.zeros((1, num_players), bool))[0]
    else:
        ends = model(jax.tree.map(np.copy, references))
        check_alike(full, ends)
        check_finite(ends, count, "background row")
        value = dataclasses.replace(value, ends=ends)
        empty = np.broadcast_to(np.tensordot(weights, ends, 1), full.shape)
    wide = at_least_float32(full.dtype)
    return Host(value, per_coalition), empty.astype(wide), full.astype(wide)


# evaluated again for a gradient rather than kept
rematerialise = functools.partial(jax.checkpoint, prevent_cse=False)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Masked:
    """The weighted mean of the model over references, at most `block` points per call.

    Its strata are the references, or neighbouring references `stratum_size` at a time.
    """

    model: Callable
    rows: PyTree[Array]
    references: PyTree[Array]
    weights: Float[Array | np.ndarray, "references"]
    owner: PyTree[Int[Array | np.ndarray, "..."]] | None
    num_players: int = dataclasses.field(metadata={"static": True})
    block: int = dataclasses.field(metadata={"static": True})
    ends: Float[Array | np.ndarray, "references *out"] | None = (
        None  # outputs for them, if v(∅) is their mean
    )
    stratum_size: int = dataclasses.field(default=1, metadata={"static": True})

    def __call__(
        self, coalition: Bool[Array | np.ndarray, "n"]
    ) -> Float[Array | np.ndarray, "rows *out"]:
        return self._sum(coalition, self.references, self.weights)

    @property
    def strata(self) -> "Masked":
        return self

    @property
    def num_strata(self) -> int:
        """Those with a weight; under jit padding counts too."""
        count = len(self.weights)
        if not isinstance(self.weights, Tracer):
            count = int(np.flatnonzero(jax.device_get(self.weights))[-1]) + 1
        return -(-count // self.stratum_size)

    def merged(self, size: int) -> "Masked":
        return dataclasses.replace(self, stratum_size=self.stratum_size * size)

    def in_stratum(
        self, stratum: Int[Array | np.ndarray, ""], coalition: Bool[Array | np.ndarray, "n"]
    ) -> Float[Array | np.ndarray, "rows *out"]:
        references, weights = self._stratum(stratum)
        return self._sum(coalition, references, weights)

    def weights_of_strata(self) -> Float[Array | np.ndarray, "strata"]:
        count = self.num_strata
        traced = isinstance(self.weights, Tracer)
        weights = self.weights if traced else jax.device_get(self.weights)
        pad = jnp.pad if traced else np.pad
        weights = pad(weights, (0, -len(weights) % self.stratum_size))
        return weights.reshape(-1, self.stratum_size).sum(1)[:count]

    def empties(self) -> Float[Array | np.ndarray, "strata rows *out"]:
        return _empties(self, self.num_strata)

    def _stratum(self, stratum):
        size = self.stratum_size
        length = -(-len(self.weights) // size) * size
        everything = padded(self.references, self.weights, length)
        return jax.tree.map(
            lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, stratum * size, size), everything
        )

    def _sum(self, coalition, references, weights) -> Float[Array | np.ndarray, "rows *out"]:
        count = len(weights)
        if num_rows_of(self.rows) * count <= self.block:
            return self._sum_at_once(coalition, self.rows, references, weights)
        length = min(self.block, count)
        everything = padded(references, weights, -(-count // length) * length)
        blocks = jax.tree.map(lambda leaf: leaf.reshape(-1, length, *leaf.shape[1:]), everything)

        @rematerialise
        def of_row(row):
            one = jax.tree.map(lambda leaf: leaf[None], row)
            of_block = rematerialise(lambda block: self._sum_at_once(coalition, one, *block)[0])
            return jax.lax.map(of_block, blocks).sum(0)

        return jax.lax.map(of_row, self.rows, batch_size=max(1, self.block // length))

    def _sum_at_once(
        self, coalition, rows, references, weights
    ) -> Float[Array | np.ndarray, "rows *out"]:
        def mix(mask, row, reference):
            return jnp.where(mask, row[:, None], reference)

        inputs = jax.tree.map(mix, masks(coalition, self.owner, rows), rows, references)
        shape = num_rows_of(rows), len(weights)
        outputs = self.model(jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), inputs))
        outputs = as_worths(outputs.reshape(*shape, *outputs.shape[1:]))
        return weighted_sum(weights.astype(outputs.dtype), outputs)


@jitted_with_model
def _ends(masked: Masked):
    """The model on the rows and on the references, and its weighted mean over the references."""
    full, ends = as_worths(masked.model(masked.rows)), as_worths(masked.model(masked.references))
    empty = weighted_sum(masked.weights.astype(ends.dtype), ends[None])[0]
    return full, ends, jnp.broadcast_to(empty, full.shape)


def outputs_of_ends(masked: Masked) -> tuple[Array, Array]:
    """The model's outputs for the rows and for the references, by the program of the endpoints."""
    return _ends(dataclasses.replace(masked, ends=None))[:2]


@jitted_with_model
def _ends_with_parts_that_stay(masked: Masked):
    """The model on the rows, and v(∅), for which what stays is mixed with every reference."""
    return as_worths(masked.model(masked.rows)), masked(jnp.zeros(masked.num_players, bool))


@functools.partial(jitted_with_model, static_argnums=1)
def _empties(masked: Masked, count: int) -> Float[Array | np.ndarray, "count rows *out"]:
    if masked.ends is None:
        nobody = jnp.zeros(masked.num_players, bool)
        return jax.lax.map(lambda stratum: masked.in_stratum(stratum, nobody), jnp.arange(count))
    ends, size = masked.ends, masked.stratum_size
    shares = masked.weights.astype(ends.dtype).reshape(-1, *(1,) * (ends.ndim - 1)) * ends
    shares = jnp.pad(shares, ((0, -len(shares) % size), *((0, 0),) * (ends.ndim - 1)))
    sums = shares.reshape(-1, size, *ends.shape[1:]).sum(1)[:count]
    rows = num_rows_of(masked.rows)
    return jnp.broadcast_to(sums[:, None], (count, rows, *ends.shape[1:]))
