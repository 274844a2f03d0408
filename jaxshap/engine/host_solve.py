"""Concrete worths are solved once, in float64, on the host's CPU, whatever device made them."""

import contextlib
import functools
from typing import Any

import jax
import jax.experimental
import numpy as np
from threadpoolctl import ThreadpoolController

from jaxshap.engine.compilation import compiled
from jaxshap.engine.memory import bucket
from jaxshap.engine.units import in_units, rounding_error, unit_of
from jaxshap.estimators import Estimate, Estimator, Plan, Scattered, of_one_shape
from jaxshap.games import array_library

UNKNOWN = -1.0  # in place of an error of NaN, within the program


def solve_on_host(
    estimator: Any, plan: Plan, worths: Any, empty: Any, full: Any, *, each: bool = False
) -> Estimate:
    """`estimator.solve`, or that of each stratum, in float64, compiled once for all plans and
    outputs of about this size.

    Worths are centred at v(∅) and scaled by a power of two, per output, in the precision they came
    in: results do not depend on units, and a large offset costs no digits.
    """
    arrays: Any = jax.device_get((worths, empty, full))
    worths, empty, full = map(np.asarray, arrays)
    in_strata = isinstance(estimator, Scattered)
    shape = empty.shape[1:] if in_strata else empty.shape
    asked, nobody, everybody = (_flat(array, shape) for array in (worths, empty, full))
    rounding = rounding_error(asked, nobody, everybody, in_strata)
    start, gains = nobody.astype(np.float64), asked.astype(np.float64)
    gains -= start  # in place: worths may be most of what memory holds
    total = everybody.astype(np.float64) - start
    unit = unit_of(gains, total, in_strata, estimator.has_units)
    gains /= unit
    solved = _solve_scaled(estimator, plan, gains, total / unit, each)
    if not in_strata and (successor := estimator.successor(plan, solved)):
        other, same_plan = successor
        solved = _solve_scaled(other, same_plan, gains, total / unit, each)
    error = np.where(solved.std_error == UNKNOWN, np.nan, solved.std_error)
    solved = solved._replace(std_error=error)
    num_strata = (len(empty),) if each else ()

    def shown(field: Any) -> np.ndarray:
        columns = np.asarray(field)[..., : len(unit)]
        return columns[: len(empty)] if each else columns

    def shaped(field: np.ndarray) -> np.ndarray:
        dtype = bool if field.dtype == bool else worths.dtype
        return field.reshape(*num_strata, -1, *shape).astype(dtype)

    return jax.tree.map(shaped, in_units(jax.tree.map(shown, solved), unit, rounding))


def _solve_scaled(estimator: Any, plan: Plan, worths: Any, total: Any, each: bool) -> Estimate:
    """With padding up to the sizes of the plan and, to be compiled, to a bucket of outputs."""
    in_numpy = estimator.solves_in_numpy(plan.coalitions.shape[-1])
    count = worths.shape[-1]
    columns = [(0, 0 if in_numpy else bucket(count) - count)]
    front = plan.coalitions.shape[:-1]
    rows = [(0, room - have) for room, have in zip(front, worths.shape[:-1], strict=True)]
    worths = np.pad(worths, rows + columns)
    total = np.pad(total, rows[1:] + columns)
    host = jax.local_devices(backend="cpu")[0]
    arrays: Any = jax.device_get(plan), worths, total
    if in_numpy:
        with _one_blas_thread(), np.errstate(divide="ignore", invalid="ignore"):
            return (_solved_each if each else _solved)(estimator, *arrays)
    arrays = jax.tree.map(np.asarray, arrays)
    with in_float64_on(host):
        solve = _solve_each if each else _solve
        solved = solve(estimator, *jax.device_put(arrays, host, may_alias=True))
        return jax.device_get(solved)


@contextlib.contextmanager
def in_float64_on(device: Any):
    """64-bit arithmetic on this device, with one BLAS thread.

    The threads of BLAS spin against each other, and against a busy machine, in small problems.
    """
    with _in_64_bits(), jax.default_device(device), _one_blas_thread():
        yield


def _one_blas_thread() -> Any:
    return _thread_pools().limit(limits=1, user_api="blas")


@functools.cache
def _thread_pools() -> ThreadpoolController:
    """Those of the libraries loaded by now: JAX's own BLAS is, and to look for them takes longer
    than to solve a small problem.
    """
    return ThreadpoolController()


def _in_64_bits() -> Any:
    """JAX before 0.8 has this among its experiments."""
    home: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
    return home.enable_x64(True)


def _flat(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Outputs as one last axis."""
    front = array.shape[: array.ndim - len(shape)]
    return array.reshape(*front, int(np.prod(shape)))


def _solved(estimator: Estimator, plan: Plan, worths, total) -> Estimate:
    zeros = array_library(total).zeros_like(total)
    solved = estimator.solve(plan, worths, zeros, total)
    return _without_nan(of_one_shape(solved))


def _solved_each(estimator: Scattered, plan: Plan, worths, total) -> Estimate:
    zeros = array_library(total).zeros_like(total)
    return _without_nan(estimator.estimator.solve_strata(plan, worths, zeros, total))


def _without_nan(estimate: Estimate) -> Estimate:
    """Unknown errors as −1, so that `jax_debug_nans` finds only what should not be there."""
    error = estimate.std_error
    xp: Any = array_library(error)
    return estimate._replace(std_error=xp.where(xp.isnan(error), UNKNOWN, error))


_solve = compiled(_solved, static_argnums=0)
_solve_each = compiled(_solved_each, static_argnums=0)
