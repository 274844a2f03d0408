"""The one place where a game is evaluated: in batches, with progress, interrupts and checkpoints."""

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float
from tqdm import tqdm

from jaxshap.engine.batches import (
    BatchSize,
    check_batch_size,
    choose_batch_size,
    is_traced,
    power_above,
    worths_on_device,
    worths_on_host,
)
from jaxshap.engine.checkpoint import append, resume
from jaxshap.errors import EvaluationError, InputError, InputTypeError, Interrupted
from jaxshap.games import Game, all_coalitions, check_game

MAX_BATCHES = 16  # in one call of the compiled loop
POLL_INTERVAL_SECONDS = 0.5  # between two moves of the bar, and looks for Ctrl-C


def evaluate(
    game: Game,
    coalitions: Any,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
    known: Any = None,
    checkpoint: str | os.PathLike | None = None,
    mesh: Mesh | None = None,
) -> Float[Array | np.ndarray, "m *out"]:
    """The worth of every coalition, a memory-bounded batch at a time; batches change no result.

    Under jit, vmap or grad the loop is a `lax.map`. Otherwise it runs on the host, so that it can
    show a bar on a terminal and be interrupted.

    Args:
        game: the game to evaluate.
        coalitions: which players are in, boolean `(m, n)`; or `(m, strata, n)`, where [i, b] is
            asked of stratum b alone and what comes back is its part of the worth.
        batch_size: coalitions per batch; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.
        known: worths of the first coalitions, which are then not asked for again.
        checkpoint: a file that keeps every worth as it comes and is read first.
        mesh: devices that each batch is shared out over, those of other processes among them; all
            processes get all worths.

    Returns:
        Worths `(m, *out)` or `(m, strata, *out)`; a game on the host returns numpy arrays as wide
        as its own.

    Raises:
        Interrupted: on Ctrl-C; it carries the worths so far.
        EvaluationError: the model failed after some coalitions; it carries their worths.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> jaxshap.evaluate(game, np.array([[True, False], [True, True]])).tolist()
        [1.0, 6.0]
    """
    check_game(game)
    check_batch_size(batch_size)
    traced = is_traced((game, coalitions))
    _check_options(game, traced, checkpoint, mesh)
    _check_coalitions(game, coalitions)
    if traced:
        return _traced_worths(game, jnp.asarray(coalitions), batch_size)
    asked = np.asarray(jax.device_get(coalitions)).astype(bool)
    options = Options(batch_size, progress, checkpoint, mesh)
    worths = evaluate_on_host(game, asked, known, options)
    return worths if game.on_host else jax.device_put(worths)


def evaluate_all(game: Game) -> Float[Array, "size *out"]:
    """v(S) − v(∅) of all 2**n coalitions; S stands at index Σ_{i∈S} 2**i."""
    inner = evaluate(game, all_coalitions(game.num_players)[1:-1])
    ends = jnp.zeros_like(game.empty)[None], jnp.asarray(game.full - game.empty)[None]
    return jnp.concatenate([ends[0], jnp.asarray(inner - game.empty, ends[0].dtype), ends[1]])


class Options(NamedTuple):
    """How a game is evaluated outside of jit; see `evaluate`."""

    batch_size: BatchSize = "auto"
    progress: bool | None = None
    checkpoint: str | os.PathLike | None = None
    mesh: Mesh | None = None


def evaluate_on_host(
    game: Game, asked: Bool[np.ndarray, "..."], known: Any, options: Options
) -> Float[np.ndarray, "..."]:
    """Worths in the order of the plan: all strata of a coalition, then those of the next."""
    items = asked.reshape(-1, game.num_players)
    num_strata = asked.shape[1] if asked.ndim == 3 else None
    worths, done = _worths_so_far(game, items, known, options.checkpoint)
    try:
        with _bar(len(items), done, options.progress) as bar:
            for done in _steps(game, items, num_strata, worths, done, options):
                bar.update(done - bar.n)
    except KeyboardInterrupt:
        raise Interrupted(worths[:done], len(items)) from None
    except Exception as error:
        if not game.on_host or done == 0:
            raise
        message = f"the model failed after {done} of {len(items)} coalitions: {error!r}"
        raise EvaluationError(message, worths[:done]) from error
    return worths.reshape(*asked.shape[:-1], *game.empty.shape)


def _steps(
    game: Game, items, num_strata: int | None, worths, done: int, options: Options
) -> Iterator[int]:
    """Fill in the worths, some batches at a time; yields how many are there."""
    mesh, checkpoint = options.mesh, options.checkpoint
    most, size = _shape_of_call(game, len(items) - done, num_strata is not None, options)
    if mesh is not None:
        game = jax.device_put(game, NamedSharding(mesh, PartitionSpec()))
    batches = 1 if mesh is None else most  # clocks differ between processes: a mesh cannot adapt
    while done < len(items):
        begin = time.monotonic()
        end = min(done + batches * size, len(items))
        numbers = None if num_strata is None else np.arange(done, end, dtype=np.int32) % num_strata
        if game.on_host:
            worths[done:end] = worths_on_host(game, items[done:end], numbers)
        else:
            worths[done:end] = worths_on_device(game, items[done:end], numbers, (most, size), mesh)
        if checkpoint is not None:
            append(checkpoint, game, items[done:end], worths[done:end])
        done = end
        yield done
        if mesh is None and 4 * (time.monotonic() - begin) < POLL_INTERVAL_SECONDS:
            batches = min(4 * batches, most)


def _worths_so_far(game: Game, items, known: Any, checkpoint: Any) -> tuple[np.ndarray, int]:
    """Room for all worths, those known in front, and how many these are."""
    known = None if known is None else np.asarray(known).reshape(-1, *game.empty.shape)
    if checkpoint is not None:
        kept = resume(checkpoint, game, items)
        known = kept if known is None or len(known) < len(kept) else known
    worths = np.empty((len(items), *game.empty.shape), game.empty.dtype)
    if known is None:
        return worths, 0
    worths[: len(known)] = known
    return worths, len(known)


def _shape_of_call(game: Game, left: int, in_strata: bool, options: Options) -> tuple[int, int]:
    """The most batches in one call of the compiled loop, and the size of a batch."""
    size = choose_batch_size(options.batch_size, game, left, in_strata)
    if options.mesh is not None:
        size *= options.mesh.size if options.batch_size == "auto" else 1
        size += -size % options.mesh.size  # as many for every device
    return (1 if game.on_host else min(MAX_BATCHES, power_above(left / size))), size


def _bar(total: int, done: int, progress: bool | None) -> tqdm:
    disable, delay = None if progress is None else not progress, 0 if progress else 2
    how = {"unit": " coalitions", "leave": False, "disable": disable, "delay": delay}
    return tqdm(total=total, initial=done, **how)


def _traced_worths(game: Game, coalitions: Any, batch_size: BatchSize) -> Float[Array, "m *out"]:
    """Inside jit, vmap or grad; a gradient keeps no more than a batch."""
    in_strata = coalitions.ndim == 3
    items = coalitions.reshape(-1, game.num_players)
    size = choose_batch_size(batch_size, game, len(items), in_strata)
    if not in_strata:
        value = jax.checkpoint(game.__call__, prevent_cse=False)
        return jax.lax.map(value, items, batch_size=size)
    strata = jnp.tile(jnp.arange(coalitions.shape[1], dtype=jnp.int32), len(coalitions))
    value = jax.checkpoint(game.in_stratum, prevent_cse=False)
    worths = jax.lax.map(lambda item: value(*item), (strata, items), batch_size=size)
    return worths.reshape(*coalitions.shape[:2], *worths.shape[1:])


def _check_options(game: Game, traced: bool, checkpoint: Any, mesh: Any) -> None:
    if mesh is not None and (game.on_host or traced):
        raise InputError(
            "mesh= shares out a JAX model outside of jit, vmap and grad: omit it here."
        )
    if checkpoint is not None and jax.process_count() > 1:
        raise InputError(
            "checkpoint= is for one process: with many they would go on from different places."
        )
    if traced and game.on_host:
        raise InputTypeError(
            "a host model cannot run under jit, vmap or grad: call estimate or explain outside of "
            "them."
        )


def _check_coalitions(game: Game, coalitions: Any) -> None:
    shape = np.shape(coalitions)
    if len(shape) not in (2, 3) or shape[-1] != game.num_players:
        raise InputError(
            f"coalitions have shape {shape} for {game.num_players} players: pass a boolean array "
            "(coalitions, players); a single coalition is coalition[None]."
        )
