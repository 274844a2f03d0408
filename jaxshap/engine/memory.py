"""How much memory a traced function needs, read from its jaxpr before anything is compiled."""

import functools
import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import runs_on_cpu


def byte_limit() -> int:
    """What one batch may hold: on a CPU little enough to stay near the cache, elsewhere enough to
    fill the device.
    """
    return 2**23 if runs_on_cpu() else 2**29


def bytes_of_call(function: Callable, *arguments) -> int:
    """Bytes of the two largest neighbouring intermediates of one call; arguments may be
    `ShapeDtypeStruct`s.

    Constants and parameters do not count: under vmap they are shared by the whole batch.
    """
    return bytes_of_trace(trace(function, *arguments))


def bytes_of_trace(traced: Any) -> int:
    """The same for a function that is traced already."""
    return max(1, 2 * _largest(traced.jaxpr))


def trace(function: Callable, *arguments) -> Any:
    """Its closed jaxpr. JAX names what it traces by its text, which for an object that holds arrays
    is slow to make and waits for the device: it gets a plain function.
    """
    return jax.make_jaxpr(lambda *arguments: function(*arguments))(*arguments)


def bucket(count: int) -> int:
    """The next size on a grid with eight steps an octave, so that nearby sizes share one compiled
    program.
    """
    step = 2 ** max(0, (count - 1).bit_length() - 4)
    return -(-count // step) * step


def check_fits(num_coalitions: int, num_players: int, num_outputs: int) -> None:
    """Refuse more coalitions than memory holds; XLA would end the interpreter."""
    needed = num_coalitions * (2 * num_players + 3 * 8 * max(1, num_outputs))
    if needed > _physical_bytes():
        raise InputError(
            f"{num_coalitions:,} coalitions of {num_players} players need about "
            f"{needed / 2**30:,.0f} GB, more than this machine has: pass a smaller budget, and "
            "in place of exact values an estimator that samples, as jaxshap.estimate(key, game) "
            "does."
        )


@functools.cache
def _physical_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not known on this system
        return 2**36


def _largest(jaxpr) -> int:
    sizes = [0]
    for equation in jaxpr.eqns:
        sizes.append(sum(_bytes(variable.aval) for variable in equation.outvars))
        sizes.extend(_largest(inner) for inner in _inner_jaxprs(equation.params))
    return max(sizes)


def _inner_jaxprs(params: dict) -> list:
    """The bodies of jit, scan, map and their like."""
    leaves = (getattr(leaf, "jaxpr", leaf) for leaf in jax.tree.leaves(params))
    return [leaf for leaf in leaves if hasattr(leaf, "eqns")]


def _bytes(aval) -> int:
    shape = getattr(aval, "shape", ())
    itemsize = getattr(getattr(aval, "dtype", None), "itemsize", 8)
    return int(np.prod(shape)) * itemsize
