"""Concrete worths are solved once, in float64, on the host's CPU, whatever device evaluated them."""

import contextlib
from typing import Any

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from jaxshap.engine.compilation import compiled
from jaxshap.engine.memory import bucket
from jaxshap.estimators import Estimate, Estimator, Plan, Scattered


def solve_on_host(estimator: Estimator, plan: Plan, worths: Any, empty: Any, full: Any) -> Estimate:
    """`estimator.solve` in float64, compiled once for all plans and outputs of about this size.

    Worths are centred at v(∅) and scaled by a power of two, per output, in the precision they came
    in: results do not depend on units, and a large offset costs no digits.
    """
    worths, empty, full = (np.asarray(jax.device_get(part)) for part in (worths, empty, full))
    dtype = worths.dtype
    shape = empty.shape[1:] if isinstance(estimator, Scattered) else empty.shape
    centred = _flat(worths, shape).astype(np.float64) - _flat(empty, shape).astype(np.float64)
    total = _flat(full, shape).astype(np.float64) - _flat(empty, shape).astype(np.float64)
    scale = _scale(centred, total)
    solved = _solve_scaled(estimator, plan, centred / scale, total / scale)
    count = scale.shape[-1]
    columns = (np.asarray(part)[:, :count] * scale for part in solved)
    values, std_error = (column.reshape(-1, *shape).astype(dtype) for column in columns)
    return Estimate(values, std_error)


def _solve_scaled(estimator: Estimator, plan: Plan, worths: Any, total: Any) -> Estimate:
    """With padding up to the sizes of the plan and to a bucket of outputs."""
    count = worths.shape[-1]
    columns = [(0, bucket(count) - count)]
    front = plan.coalitions.shape[:-1]
    rows = [(0, room - have) for room, have in zip(front, worths.shape[:-1], strict=True)]
    worths = np.pad(worths, rows + columns)
    total = np.pad(total, rows[1:] + columns)
    host = jax.local_devices(backend="cpu")[0]
    plan = jax.tree.map(np.asarray, jax.device_get(plan))
    with in_float64_on(host):
        solved = _solve(estimator, plan, worths, np.zeros_like(total), total)
        return Estimate(*map(np.asarray, solved))


@contextlib.contextmanager
def in_float64_on(device: jax.Device):
    """64-bit arithmetic on this device, with one BLAS thread.

    The threads of BLAS spin against each other, and against a busy machine, in small problems.
    """
    with jax.enable_x64(True), jax.default_device(device), threadpool_limits(1, "blas"):
        yield


def _flat(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Outputs as one last axis."""
    front = array.shape[: array.ndim - len(shape)]
    return array.reshape(*front, int(np.prod(shape)))


def _scale(centred: np.ndarray, total: np.ndarray) -> np.ndarray:
    """A power of two near the largest magnitude of each output; 1 where all worths are the same."""
    axes = tuple(range(centred.ndim - 1))
    largest = np.abs(centred).max(axes, initial=0)
    largest = np.maximum(largest, np.abs(total).max(tuple(range(total.ndim - 1)), initial=0))
    usable = np.isfinite(largest) & (largest > 0)
    return np.exp2(np.floor(np.log2(np.where(usable, largest, 1))))


def _solved(estimator: Estimator, plan: Plan, worths, empty, full) -> Estimate:
    return estimator.solve(plan, worths, empty, full)


_solve = compiled(_solved, static_argnums=0)
