"""evaluate: the one place where a game is evaluated, with batches, memory, host models, progress
and interrupts.
"""

import functools
import math
import os
import time
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float
from tqdm import tqdm

from jaxshap.engine.checkpoint import append, resume
from jaxshap.engine.memory import byte_limit, bytes_of_call
from jaxshap.errors import EvaluationError, InputError, InputTypeError, Interrupted
from jaxshap.games import Game, Host, all_coalitions

BatchSize = int | Literal["auto"]
MOST_BATCHES = 16  # in one call of the compiled loop
SECONDS_A_LOOK = (
    0.5  # how long a call may take before the bar moves and Ctrl-C is heard, if a batch does not
)


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
    """The worth of every coalition, a memory-bounded batch at a time; results do not depend on the
    batches.

    Under jit, vmap or grad the loop is a `lax.map`. Otherwise it runs on the host, so that it can
    show a bar on a terminal (`progress=None`: when it takes longer than two seconds) and be
    interrupted; worths `known` already for the first coalitions, or in the file `checkpoint`, to
    which it adds, are not asked for again. With a `mesh` each batch is shared out over its devices,
    those of other processes among them; all processes get all worths.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> jaxshap.evaluate(game, np.array([[True, False], [True, True]])).tolist()
        [1.0, 6.0]
    """
    if batch_size != "auto" and batch_size < 1:
        raise InputError(f'batch_size={batch_size}: pass a positive number, or "auto".')
    if mesh is not None and (game.on_host or is_traced((game, coalitions))):
        raise InputError(
            "mesh= shares out a JAX model outside of jit, vmap and grad: leave it away here."
        )
    if checkpoint is not None and jax.process_count() > 1:
        raise InputError(
            "checkpoint= is for one process: with many they would go on from different places."
        )
    if is_traced((game, coalitions)):
        if game.on_host:
            raise InputTypeError(
                "a host model cannot run under jit, vmap or grad: call estimate or explain outside of them."
            )
        again = jax.checkpoint(
            game.__call__, prevent_cse=False
        )  # a gradient keeps no more than a batch
        return jax.lax.map(
            again, coalitions, batch_size=_resolve(batch_size, game, len(coalitions))
        )
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
    most = 1 if game.on_host else min(MOST_BATCHES, _power_above((len(asked) - done) / size))
    batches = (
        1 if mesh is None else most
    )  # between two looks at the clock, which is another one in each process
    bar = tqdm(
        total=len(asked),
        initial=done,
        unit=" coalitions",
        leave=False,
        disable=None if progress is None else not progress,
        delay=0 if progress else 2,
    )
    with bar:
        try:
            while done < len(asked):
                begin = time.monotonic()
                part = asked[done : done + batches * size]
                worths[done : done + len(part)] = _run(game, part, (most, size), mesh)
                if checkpoint is not None:
                    append(checkpoint, game, part, worths[done : done + len(part)])
                done += len(part)
                bar.update(len(part))
                if mesh is None and 4 * (time.monotonic() - begin) < SECONDS_A_LOOK:
                    batches = min(4 * batches, most)
        except KeyboardInterrupt:
            raise Interrupted(worths[:done], len(asked)) from None
        except Exception as error:
            if not game.on_host or done == 0:
                raise
            message = f"the model failed after {done} of {len(asked)} coalitions: {error!r}"
            raise EvaluationError(message, worths[:done]) from error
    return jax.device_put(worths)


def evaluate_all(game: Game) -> Float[Array, "size *out"]:
    """v(S) − v(∅) of all 2**n coalitions; S stands at index Σ_{i∈S} 2**i."""
    inner = evaluate(game, all_coalitions(game.num_players)[1:-1])
    return jnp.concatenate(
        [jnp.zeros_like(game.empty)[None], inner - game.empty, (game.full - game.empty)[None]]
    )


def _run(
    game: Game, part: Bool[np.ndarray, "k n"], shape: tuple[int, int], mesh: Mesh | None
) -> Float[np.ndarray, "k *out"]:
    """Some batches; a traced game sees whole ones, and room for the most of them, so that it is
    compiled once.
    """
    if isinstance(game.value, Host):
        worths = game.value(part)
        expected = (len(part), *game.empty.shape)
        if worths.shape != expected:
            raise InputError(
                f"the game returned worths of shape {worths.shape} for {len(part)} coalitions, not {expected}."
            )
        return worths
    padded = np.zeros((shape[0] * shape[1], game.num_players), bool)
    padded[: len(part)], padded[len(part) :] = part, part[-1]
    batches = padded.reshape(*shape, game.num_players)
    count = -(-len(part) // shape[1])
    if mesh is None:
        worths = _worths(game, batches, count)
    else:
        shared = jax.device_put(batches, NamedSharding(mesh, PartitionSpec(None, mesh.axis_names)))
        worths = _gathered(mesh)(game, shared, count)
    return np.asarray(worths).reshape(-1, *game.empty.shape)[: len(part)]


def _worths_of_first(
    game: Game, batches: Bool[Array | np.ndarray, "most k n"], count: int
) -> Float[Array, "most k *out"]:
    """Worths of the first `count` batches, one after the other in the same memory."""
    batches = jnp.asarray(batches)

    def turn(number, worths):
        return worths.at[number].set(jax.vmap(game)(batches[number]))

    room = jnp.zeros((*batches.shape[:2], *game.empty.shape), game.empty.dtype)
    return jax.lax.fori_loop(0, count, turn, room)


_worths = jax.jit(_worths_of_first)


@functools.lru_cache(maxsize=8)
def _gathered(mesh: Mesh):
    """The same on every device of a mesh, worths brought together again on each of them."""
    return jax.jit(_worths_of_first, out_shardings=NamedSharding(mesh, PartitionSpec()))


def _resolve(batch_size: BatchSize, game: Game, count: int) -> int:
    """How many coalitions at once: a power of two within the byte limit, no more than there are."""
    most = _power_above(count)
    if batch_size != "auto":
        return min(batch_size, most)
    if isinstance(game.value, Host):
        size = byte_limit() // game.value.bytes_per_item
    else:
        size = byte_limit() // bytes_of_call(game, jax.ShapeDtypeStruct((game.num_players,), bool))
    return min(most, 2 ** int(math.log2(max(1, size))))


def _power_above(number: float) -> int:
    return 2 ** max(0, math.ceil(math.log2(max(1, number))))


def is_traced(tree) -> bool:
    """Whether any array in the tree stands for one inside jit, vmap or grad, or this is itself
    being traced.
    """
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((tree, jnp.zeros(()))))
