"""Large arrays that a model closes over: JAX copies them into every program, whole."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import jax
from jax.core import Tracer

from jaxshap.errors import ClosureWarning

MAX_CLOSED_OVER_BYTES = 2**24  # of one array, above which a warning names it


def warn_of_closures(model: Callable, traced: Any) -> None:
    """Name what is large among the constants of a model that was traced with its own arrays as
    arguments.
    """
    large = [array for array in _constants(traced) if array.nbytes > MAX_CLOSED_OVER_BYTES]
    if large:
        described = ", ".join(_described(array, model) for array in large)
        warnings.warn(
            f"the model closes over {described}. JAX copies such arrays into every compiled "
            "program, whole even where they are sharded: pass jax.tree_util.Partial(function, "
            "parameters), with parameters as first argument, or a module that is a pytree.",
            ClosureWarning,
            stacklevel=2,
        )


def _constants(traced: Any) -> list[Any]:
    """Of a closed jaxpr and those inside."""
    arrays = (array for array in traced.consts if hasattr(array, "nbytes"))
    found = {id(array): array for array in arrays if not isinstance(array, Tracer)}
    for equation in traced.jaxpr.eqns:
        for leaf in jax.tree.leaves(equation.params):
            if hasattr(leaf, "consts"):
                found |= {id(array): array for array in _constants(leaf)}
    return list(found.values())


def _described(array: Any, model: Callable) -> str:
    kind = f"{array.dtype}{list(array.shape)}, {array.nbytes / 2**20:,.0f} MB"
    names = [name for name, value in _closed_over(model).items() if _holds(value, array)]
    return f"{names[0]} ({kind})" if names else f"an array ({kind})"


def _closed_over(model: Any) -> dict[str, Any]:
    """What the function closes over and finds among its globals, by name."""
    while isinstance(model, functools.partial):
        model = model.func
    function = inspect.unwrap(model)
    if not inspect.isfunction(function):
        return {}
    found = inspect.getclosurevars(function)
    return {**found.globals, **found.nonlocals}


def _holds(value: Any, array: Any) -> bool:
    """By shape and type: JAX may have wrapped it."""
    alike = (array.shape, array.dtype)
    return any(
        (getattr(leaf, "shape", None), getattr(leaf, "dtype", None)) == alike
        for leaf in jax.tree.leaves(value)
    )
