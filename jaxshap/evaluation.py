"""evaluate: the one place where a game is evaluated, with batches, memory, host models, progress and interrupts."""

import functools
import math
import os
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float
from tqdm.auto import tqdm

from jaxshap.checkpoint import append, resume
from jaxshap.game import Game, Host
from jaxshap.memory import byte_limit, bytes_of_call

BatchSize = int | Literal["auto"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during evaluation. Nothing is lost: `worths` holds those of the first coalitions, in order.

    From `explain`, `explanation` is what they amount to, or None where they are too few.
    """

    def __init__(self, worths: Float[np.ndarray, "done *out"], planned: int):
        super().__init__(f"interrupted after {len(worths)} of {planned} coalitions; their worths are in `.worths`.")
        self.worths = worths
        self.explanation: Any = None


class EvaluationError(RuntimeError):
    """The model failed part of the way; `worths` and `explanation` hold what came before, as in `Interrupted`."""

    def __init__(self, message: str, worths: Float[np.ndarray, "done *out"]):
        super().__init__(message)
        self.worths = worths
        self.explanation: Any = None


def evaluate(
    game: Game,
    coalitions: Bool[Array | np.ndarray, "m n"],
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
    known: Float[np.ndarray, "done *out"] | None = None,
    checkpoint: str | os.PathLike | None = None,
    mesh: Mesh | None = None,
) -> Float[Array, "m *out"]:
    """The worth of every coalition, a memory-bounded batch at a time; results do not depend on the batches.

    Under jit, vmap or grad the loop is a `lax.map`. Otherwise it runs on the host, so that it can show a bar on a
    terminal (`progress=None`: when it takes longer than two seconds) and be interrupted; worths `known` already for
    the first coalitions, or in the file `checkpoint`, to which it adds, are not asked for again. With a `mesh` each
    batch is shared out over its devices, those of other processes among them; all processes get all worths.
    """
    if batch_size != "auto" and batch_size < 1:
        raise ValueError(f'batch_size={batch_size}: pass a positive number, or "auto".')
    if mesh is not None and (game.on_host or is_traced((game, coalitions))):
        raise ValueError("mesh= shares out a JAX model outside of jit, vmap and grad: leave it away here.")
    if checkpoint is not None and jax.process_count() > 1:
        raise ValueError("checkpoint= is for one process: with many they would go on from different places.")
    if is_traced((game, coalitions)):
        if game.on_host:
            raise TypeError(
                "a host model cannot run under jit, vmap or grad: call estimate or explain outside of them."
            )
        return jax.lax.map(game, coalitions, batch_size=_resolve(batch_size, game, len(coalitions)))
    asked = np.asarray(coalitions)
    if checkpoint is not None:
        kept = resume(checkpoint, game, asked)
        known = kept if known is None or len(known) < len(kept) else known
    done = 0 if known is None else len(known)
    worths = np.empty((len(asked), *game.empty.shape), game.empty.dtype)
    if known is not None:
        worths[:done] = known
    size = _resolve(batch_size, game, len(asked) - done)
    if mesh is not None:
        size *= mesh.size if batch_size == "auto" else 1
        size += -size % mesh.size  # as many for every device
        game = jax.device_put(game, NamedSharding(mesh, PartitionSpec()))
    bar = tqdm(
        total=len(asked), initial=done, unit=" coalitions", leave=False,
        disable=None if progress is None else not progress, delay=0 if progress else 2,
    )  # fmt: skip
    with bar:
        try:
            while done < len(asked):
                batch = asked[done : done + size]
                worths[done : done + len(batch)] = _run(game, batch, size, mesh)
                if checkpoint is not None:
                    append(checkpoint, game, batch, worths[done : done + len(batch)])
                done += len(batch)
                bar.update(len(batch))
        except KeyboardInterrupt:
            raise Interrupted(worths[:done], len(asked)) from None
        except Exception as error:
            if not game.on_host or done == 0:
                raise
            message = f"the model failed after {done} of {len(asked)} coalitions: {error!r}"
            raise EvaluationError(message, worths[:done]) from error
    return jax.device_put(worths)


def _run(game: Game, batch: Bool[np.ndarray, "k n"], size: int, mesh: Mesh | None) -> Float[np.ndarray, "k *out"]:
    """One batch; a traced game always sees a full one, so that it is compiled once."""
    if isinstance(game.value, Host):
        worths = game.value(batch)
        expected = (len(batch), *game.empty.shape)
        if worths.shape != expected:
            raise ValueError(
                f"the game returned worths of shape {worths.shape} for {len(batch)} coalitions, not {expected}."
            )
        return worths
    padding = np.repeat(batch[-1:], size - len(batch), axis=0)
    full = np.concatenate([batch, padding])
    if mesh is None:
        return np.asarray(_worths(game, full))[: len(batch)]
    shared = jax.device_put(full, NamedSharding(mesh, PartitionSpec(mesh.axis_names)))
    return np.asarray(_gathered(mesh)(game, shared))[: len(batch)]


@jax.jit
def _worths(game: Game, coalitions: Bool[Array | np.ndarray, "k n"]) -> Float[Array, "k *out"]:
    return jax.vmap(game)(jnp.asarray(coalitions))


@functools.lru_cache(maxsize=8)
def _gathered(mesh: Mesh):
    """The same on every device of a mesh, worths brought together again on each of them."""
    return jax.jit(jax.vmap(Game.__call__, (None, 0)), out_shardings=NamedSharding(mesh, PartitionSpec()))


def _resolve(batch_size: BatchSize, game: Game, count: int) -> int:
    """How many coalitions at once: a power of two within the byte limit, no more than there are."""
    most = 2 ** max(0, math.ceil(math.log2(max(1, count))))
    if batch_size != "auto":
        return min(batch_size, most)
    if isinstance(game.value, Host):
        size = byte_limit() // game.value.bytes_per_item
    else:
        size = byte_limit() // bytes_of_call(game, jax.ShapeDtypeStruct((game.num_players,), bool))
    return min(most, 2 ** int(math.log2(max(1, size))))


def is_traced(tree) -> bool:
    """Whether any array in the tree stands for one inside jit, vmap or grad, or this is itself being traced."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((tree, jnp.zeros(()))))
