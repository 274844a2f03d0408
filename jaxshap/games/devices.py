"""Where a computation runs: a CPU takes small steps one after the other, other devices at once."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax

MAX_MAPPED_BYTES = 2**29  # of what one batch of `mapped` holds off the CPU
Results = TypeVar("Results")


def runs_on_cpu() -> bool:
    """Whether what is traced or called now runs on a CPU: the default device says so."""
    device = jax.config.jax_default_device
    if device is None:
        return jax.default_backend() == "cpu"
    return getattr(device, "platform", device) == "cpu"


def mapped(function: Callable[[Any], Results], items: Any, bytes_per_item: int) -> Results:
    """`jax.lax.map`, one item after the other on a CPU, where this is quickest and needs least
    memory; elsewhere in batches, since a device that starts thousands of tiny kernels idles.
    """
    if runs_on_cpu():
        return jax.lax.map(function, items)
    count = len(jax.tree.leaves(items)[0])
    size = min(count, max(1, MAX_MAPPED_BYTES // bytes_per_item))
    return jax.lax.map(function, items, batch_size=size)
