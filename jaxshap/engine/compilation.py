"""Programs that are compiled sooner: on a CPU, most of the time of a first explanation is spent in
the compiler.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

FAST_COMPILE_OPTIONS = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_backend_optimization_level": 1,
}  # a third of the time, as fast


def compiled(function: Callable, static_argnums: int | tuple[int, ...]) -> Callable:
    """`jax.jit` for plans and solves, which hold many small operations; not for use inside of
    another jit.
    """
    return functools.wraps(function)(lambda *args: _jitted(function, static_argnums)(*args))


@functools.cache
def _jitted(function: Callable, static_argnums: int | tuple[int, ...]) -> Callable:
    return jax.jit(function, static_argnums=static_argnums, compiler_options=_options())


@functools.cache
def _options() -> dict | None:
    """The options that this version of the compiler has."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: jnp.zeros(()), compiler_options=FAST_COMPILE_OPTIONS)()
    except jax.errors.JaxRuntimeError:
        return None
    return FAST_COMPILE_OPTIONS
