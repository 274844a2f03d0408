"""How a game is evaluated outside of jit: batches, the bar, the checkpoint and the devices."""

import os
from typing import Any, NamedTuple

from jax.sharding import Mesh

from jaxshap.engine.batches import BatchSize, check_batch_size
from jaxshap.engine.progress import Note
from jaxshap.errors import InputTypeError
from jaxshap.games import read_flag, read_path, shown


class Options(NamedTuple):
    """How a game is evaluated outside of jit; see `evaluate`."""

    batch_size: BatchSize = "auto"
    progress: bool | None = None
    checkpoint: str | os.PathLike | None = None
    mesh: Mesh | None = None
    note: Note = None


def read_options(
    batch_size: Any, progress: Any, checkpoint: Any = None, mesh: Any = None
) -> Options:
    """The same, checked."""
    check_batch_size(batch_size)
    if progress is not None:
        progress = read_flag(progress, "progress")
    if checkpoint is not None:
        checkpoint = read_path(checkpoint, "checkpoint")
    if mesh is not None and not isinstance(mesh, Mesh):
        raise InputTypeError(f"mesh={shown(mesh)}: pass a jax.sharding.Mesh.")
    return Options(batch_size, progress, checkpoint, mesh)
