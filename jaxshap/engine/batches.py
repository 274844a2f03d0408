"""Batches of coalitions: how many fit into memory, and their worths in one compiled loop."""

import functools
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine.compilation import jitted_with_model
from jaxshap.engine.memory import byte_limit, bytes_of_call
from jaxshap.engine.sharding import Placement
from jaxshap.errors import InputError, ModelOutputError
from jaxshap.games import Game, Host

BatchSize = int | Literal["auto"]


def is_traced(tree: Any) -> bool:
    """Whether any array in the tree is inside jit, vmap or grad, or this very call is traced."""
    leaves = jax.tree.leaves((tree, jax.device_put(np.float32(0))))
    return any(isinstance(leaf, Tracer) for leaf in leaves)


def check_batch_size(batch_size: Any) -> None:
    if isinstance(batch_size, str) and batch_size == "auto":
        return
    whole = isinstance(batch_size, int | np.integer) and not isinstance(batch_size, bool)
    if not whole or int(batch_size) < 1:
        raise InputError(f'batch_size={batch_size!r}: pass a positive whole number, or "auto".')


def choose_batch_size(batch_size: BatchSize, game: Game, count: int, in_strata: bool) -> int:
    """How many coalitions at once: a power of two within the byte limit, no more than there are."""
    most = power_above(count)
    if batch_size != "auto":
        return min(int(batch_size), most)
    if isinstance(game.value, Host):
        bytes_per_item = game.value.bytes_per_item // (game.num_strata if in_strata else 1)
    else:
        coalition = jax.ShapeDtypeStruct((game.num_players,), bool)
        stratum = jax.ShapeDtypeStruct((), jnp.int32)
        if in_strata:
            bytes_per_item = bytes_of_call(game.in_stratum, stratum, coalition)
        else:
            bytes_per_item = bytes_of_call(game, coalition)
    size = byte_limit() // max(1, bytes_per_item)
    return min(most, 2 ** int(math.log2(max(1, size))))


def shared_batch_size(batch_size: BatchSize, game: Game, count: int, shares: int) -> BatchSize:
    """The batch size of each of several games that are evaluated at once."""
    if batch_size != "auto" or shares == 1 or game.on_host:
        return batch_size
    return max(1, choose_batch_size("auto", game, count, False) // shares)


def power_above(number: float) -> int:
    return 2 ** max(0, math.ceil(math.log2(max(1, number))))


def worths_on_host(
    game: Game, coalitions: Bool[np.ndarray, "k n"], strata: Int[np.ndarray, "k"] | None
) -> Float[np.ndarray, "k *out"]:
    """One batch of a game in numpy; what it returns is checked, since nothing else has seen it."""
    value: Any = game.value
    grouped_by_stratum = strata is not None and getattr(value.function, "strata", None) is not None
    if grouped_by_stratum:
        worths = np.asarray(value.function.in_stratum(strata, coalitions))
    else:
        worths = value(coalitions)
    expected = (len(coalitions), *game.empty.shape)
    if worths.shape != expected:
        raise ModelOutputError(
            f"the game returned worths of shape {worths.shape} for {len(coalitions)} coalitions, "
            f"not {expected}."
        )
    return worths


def start_on_device(
    game: Game,
    coalitions: Bool[np.ndarray, "k n"],
    strata: Int[np.ndarray, "k"] | None,
    shape: tuple[int, int],
    placement: Placement | None,
) -> Float[Array, "most size *out"]:
    """Dispatch some batches; the loop sees whole ones and room for the most of them: one program.

    Worths come in the order of the coalitions, and then what fills the batches up.
    """
    most, size = shape
    batches = _whole(coalitions, most * size).reshape(most, size, game.num_players)
    numbers = None if strata is None else _whole(strata, most * size).reshape(most, size)
    count = np.int32(-(-len(coalitions) // size))
    if placement is None:
        return _worths(game, *jax.device_put((batches, numbers, count)))
    batches, numbers = jax.device_put((batches, numbers), placement.shared_out)
    count = jax.device_put(count, placement.replicated)
    return _gathered(placement.mesh)(game, batches, numbers, count)


def _whole(items: np.ndarray, length: int) -> np.ndarray:
    """Filled up with the last item."""
    return np.concatenate([items, np.repeat(items[-1:], length - len(items), axis=0)])


def _worths_of_first(
    game: Game,
    batches: Bool[Array, "most k n"],
    strata: Int[Array, "most k"] | None,
    count: Int[Array, ""],
) -> Float[Array, "most k *out"]:
    """Worths of the first `count` batches, one after the other in the same memory."""

    def turn(number, worths):
        if strata is None:
            batch = jax.vmap(game)(batches[number])
        else:
            batch = jax.vmap(game.in_stratum)(strata[number], batches[number])
        return worths.at[number].set(batch)

    room = jnp.zeros((*batches.shape[:2], *game.empty.shape), game.empty.dtype)
    return jax.lax.fori_loop(0, count, turn, room)


_worths = jitted_with_model(_worths_of_first)


@functools.lru_cache(maxsize=8)
def _gathered(mesh: Mesh):
    """The same on every device of a mesh, worths brought together again on each of them."""
    return jitted_with_model(_worths_of_first, out_shardings=NamedSharding(mesh, PartitionSpec()))
