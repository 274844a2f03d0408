"""Compiled programs that are kept on disk between processes, when the user asks for it."""

import os
import pathlib

import jax
from jax.experimental.compilation_cache import compilation_cache

from jaxshap.errors import InputError

CACHE_OPTIONS = {
    "jax_persistent_cache_min_compile_time_secs": 0,  # ours are many and small
    "jax_persistent_cache_min_entry_size_bytes": 0,
}


def cache_programs(folder: str | os.PathLike | None = None) -> pathlib.Path:
    """Keep compiled programs in a folder, so that a later process need not compile them again.

    This switches on JAX's own compilation cache, for all of this process's programs, yours too.
    jaxshap never does so unasked. Call it before the first explanation; a notebook's first cell is
    a good place. Programs of another version of JAX, or for another machine, are not read.

    Args:
        folder: where to keep them, made if it is missing; by default `jaxshap` in the user's
            cache folder, `$XDG_CACHE_HOME` or `~/.cache`. Delete it whenever you like.

    Returns:
        The folder.

    Raises:
        InputError: the folder cannot be made or written to.

    Example:
        >>> import jax, jaxshap, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = jaxshap.cache_programs(folder)
        ...     jax.config.update("jax_compilation_cache_dir", None)  # off again
    """
    if folder is None:
        folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "jaxshap"
    path = pathlib.Path(folder).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"programs cannot be kept in {path}: {error}. Pass a folder that can be written to."
        ) from error
    if not os.access(path, os.W_OK):
        raise InputError(
            f"programs cannot be kept in {path}: it is not writable. Pass a folder that is."
        )
    for name, value in CACHE_OPTIONS.items():
        jax.config.update(name, value)
    jax.config.update("jax_compilation_cache_dir", str(path))
    compilation_cache.reset_cache()  # JAX looks for a folder once, at the first program it compiles
    return path
