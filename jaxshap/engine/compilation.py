"""Programs that are compiled sooner: on a CPU, most of the time of a first explanation is spent in
the compiler.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax

from jaxshap.games import runs_on_cpu

FAST_COMPILE_OPTIONS = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_backend_optimization_level": 1,
}  # a third of the time, as fast
MAX_MODELS = 32  # whose programs one function keeps, some 2 MB each


def jitted_with_model(function: Callable, **options: Any) -> Callable:
    """`jax.jit` of a function that gets a model or a game among its arguments.

    A plain function is a constant of its program, so a new lambda per call compiles anew. Programs
    of the models that were used last are kept; all of them would fill the memory.
    """

    @functools.lru_cache(maxsize=MAX_MODELS)
    def program(structure: Any) -> Callable:
        return jax.jit(functools.partial(function), **options)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return program(jax.tree.structure((args, kwargs)))(*args, **kwargs)

    return call


def compiled(function: Callable, static_argnums: int | tuple[int, ...]) -> Callable:
    """`jax.jit` for plans and solves, which hold many small operations; not for use inside of
    another jit. Who has told JAX to leave out optimisations gets what JAX does then.
    """

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        fast = runs_on_cpu() and not jax.config.read("jax_disable_most_optimizations")
        return _jitted(function, static_argnums, fast)(*args)

    return call


@functools.cache
def _jitted(function: Callable, static_argnums: int | tuple[int, ...], fast: bool) -> Callable:
    options = _options() if fast else {}
    return jax.jit(function, static_argnums=static_argnums, compiler_options=options)


@functools.cache
def _options() -> dict[str, bool | int]:
    """Those of the options that this compiler knows: it is asked once, whatever its version."""
    return {name: value for name, value in FAST_COMPILE_OPTIONS.items() if _has_option(name, value)}


def _has_option(name: str, value: bool | int) -> bool:
    try:
        jax.jit(lambda: True, compiler_options={name: value}).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
