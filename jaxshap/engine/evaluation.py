"""The one place where a game is evaluated: batches, progress, interrupts and checkpoints."""

import collections
import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float

from jaxshap.engine.asked import read_coalitions, read_known
from jaxshap.engine.batches import (
    BatchSize,
    choose_batch_size,
    is_traced,
)
from jaxshap.engine.checkpoint import open_checkpoint
from jaxshap.engine.dispatch import Work, make_work
from jaxshap.engine.distinct import distinct_items
from jaxshap.engine.options import Options, read_options
from jaxshap.engine.progress import move_bar, shown_bar
from jaxshap.engine.sharding import place
from jaxshap.errors import CheckpointError, EvaluationError, InputError, InputTypeError, Interrupted
from jaxshap.games import Game, all_coalitions, check_game

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
    show a bar on a terminal and be interrupted; a repeated coalition is then asked about once.

    Args:
        game: the game to evaluate.
        coalitions: which players are in, boolean `(m, n)`; or `(m, strata, n)`, where [i, b] is
            asked of stratum b alone and what comes back is its part of the worth.
        batch_size: coalitions per batch; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.
        known: worths of the first coalitions, which are then not asked for again.
        checkpoint: a file that keeps every worth as it comes and is read first.
        mesh: devices that each batch is shared out over, those of other processes among them; all
            processes get all worths. Arrays of the game that are sharded stay so, and batches are
            shared out over the axes that they leave free.

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
    options = read_options(batch_size, progress, checkpoint, mesh)
    traced = is_traced((game, coalitions))
    _check_options(game, traced, checkpoint, mesh)
    asked = read_coalitions(game, coalitions)
    if traced:
        return _traced_worths(game, jnp.asarray(asked), batch_size)
    known = read_known(game, known, asked)
    worths = evaluate_on_host(game, asked, known, options)
    return worths if game.on_host else jax.device_put(worths)


def evaluate_all(game: Game) -> Float[Array, "size *out"]:
    """v(S) − v(∅) of all 2**n coalitions; S stands at index Σ_{i∈S} 2**i."""
    inner = evaluate(game, all_coalitions(game.num_players)[1:-1])
    ends = jnp.zeros_like(game.empty)[None], jnp.asarray(game.full - game.empty)[None]
    return jnp.concatenate([ends[0], jnp.asarray(inner - game.empty, ends[0].dtype), ends[1]])


def evaluate_on_host(
    game: Game, asked: Bool[np.ndarray, "..."], known: Any, options: Options
) -> Float[np.ndarray, "..."]:
    """Worths in the order of the plan: all strata of a coalition, then those of the next."""
    items = asked.reshape(-1, game.num_players)
    num_strata = asked.shape[1] if asked.ndim == 3 else None
    worths, done = _room(game, items, known), 0 if known is None else _length(known, game)
    try:
        with contextlib.ExitStack() as stack:
            file = None
            if options.checkpoint is not None:
                opened = open_checkpoint(options.checkpoint, game, items, num_strata)
                file = stack.enter_context(opened)
                done = _resumed(file, game, items, num_strata, worths, done, options)
            bar = stack.enter_context(shown_bar(len(items), done, options.progress, options.note))
            for reached in _steps(game, items, num_strata, worths, done, options, file):
                done = reached
                move_bar(bar, done, options.note)
    except KeyboardInterrupt:
        raise Interrupted(worths[:done], len(items)) from None
    except (CheckpointError, EvaluationError):
        raise
    except Exception as error:
        if done == 0 or not game.on_host:
            raise
        message = f"the model failed after {done} of {len(items)} coalitions: {error!r}"
        raise EvaluationError(message, worths[:done]) from error
    return worths.reshape(*asked.shape[:-1], *game.empty.shape)


def _steps(
    game: Game, items, num_strata: int | None, worths, done: int, options: Options, file: Any
) -> Iterator[int]:
    """Fill in the worths, some batches at a time; yields how many are there.

    So many batches come at once that the host looks at them a few times a second and no more.
    """
    placement = None
    if options.mesh is not None:
        game, placement = place(game, options.mesh)
    first, rank = distinct_items(items, num_strata)
    asked = taken = int(np.searchsorted(first, done))
    left = len(first) - asked
    work = make_work(game, items, num_strata, left, options.batch_size, placement)
    batches = 1 if placement is None else work.most  # clocks differ between processes: no adapting
    running, begin = collections.deque(), time.monotonic()
    while done < len(items):
        while asked < len(first) and len(running) < work.ahead:
            some = first[asked : asked + batches * work.size]
            running.append((some, work.start(some)))
            asked += len(some)
        if running:
            some, worths_of_some = running.popleft()
            worths[some] = work.finish(some, worths_of_some)
            taken += len(some)
        start, done = done, int(first[taken]) if taken < len(first) else len(items)
        worths[start:done] = worths[first[rank[start:done]]]
        _keep(file, start, worths[:done], len(items))
        yield done
        before, begin = begin, time.monotonic()
        if placement is None and 4 * (begin - before) < POLL_INTERVAL_SECONDS:
            batches = min(4 * batches, work.most_at_once)


def _resumed(file, game: Game, items, num_strata, worths, done: int, options: Options) -> int:
    """Put in what the checkpoint holds beyond what is known; how many worths are there then."""

    def ask(some: np.ndarray) -> np.ndarray:
        work = Work(game, items, num_strata, None, most=1, size=len(some))
        return work.finish(some, work.start(some))

    kept = file.resume(ask, done)
    if len(kept) > done:
        worths[: len(kept)] = kept
    elif done > len(kept):
        _keep(file, len(kept), worths[:done], len(items))
    return max(done, len(kept))


def _keep(file: Any, start: int, worths: np.ndarray, planned: int) -> None:
    """Write what was just evaluated, from `start` on, to the checkpoint, where there is one."""
    if file is None:
        return
    try:
        file.append(start, worths[start:])
    except OSError as error:
        message = (
            f"the checkpoint could not be written after {len(worths)} of {planned} coalitions: "
            f"{error}. Their worths are in `.worths`; the file keeps those before it."
        )
        raise EvaluationError(message, worths) from error


def _length(known: Any, game: Game) -> int:
    return int(np.size(known)) // max(1, int(np.prod(game.empty.shape)))


def _room(game: Game, items, known: Any) -> np.ndarray:
    """Space for all worths, those known in front."""
    worths = np.empty((len(items), *game.empty.shape), game.empty.dtype)
    if known is not None:
        worths[: _length(known, game)] = np.asarray(known).reshape(-1, *game.empty.shape)
    return worths


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
