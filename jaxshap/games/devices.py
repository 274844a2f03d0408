"""Where a computation runs: a CPU takes small steps one after the other, other devices at once, and
numpy needs no compiler.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

MAX_MAPPED_BYTES = 2**29  # of what one batch of `mapped` holds off the CPU
Results = TypeVar("Results")


def platform() -> str:
    """What is traced or called now runs there: "cpu", "gpu" or "tpu"; the default device says."""
    config: Any = jax.config
    device = config.jax_default_device
    return jax.default_backend() if device is None else getattr(device, "platform", device)


def runs_on_cpu() -> bool:
    return platform() == "cpu"


def array_library(array: Any) -> Any:
    """numpy for its own arrays, which a host computes with at once, and otherwise JAX's numpy."""
    return np if isinstance(array, np.ndarray | np.generic) else jnp


def held_fixed(array: Any) -> Any:
    """What gradients are not to go through; numpy's have none."""
    return array if array_library(array) is np else jax.lax.stop_gradient(array)


def steps_at_once() -> int:
    """How many turns of a loop over players become one kernel."""
    return 1 if runs_on_cpu() else 16


def mapped(function: Callable[[Any], Results], items: Any, bytes_per_item: int) -> Results:
    """`jax.lax.map`, one item after the other on a CPU, where this is quickest and needs least
    memory; elsewhere in batches, since a device that starts thousands of tiny kernels idles.
    """
    if runs_on_cpu():
        return jax.lax.map(function, items)
    count = len(jax.tree.leaves(items)[0])
    size = min(count, max(1, MAX_MAPPED_BYTES // bytes_per_item))
    return jax.lax.map(function, items, batch_size=size)
