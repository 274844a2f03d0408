"""Modules left in training mode, found inside whatever function calls them; none is imported."""

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import jax

from jaxshap.errors import UnsupportedModelError

MAX_CALLS = 4  # functions, wrappers and methods between the model and its module
_REMEDIES = {
    "torch": "call model.eval() first",
    "flax": "call model.eval() first for nnx, pass train=False or deterministic=True for linen",
    "equinox": "pass eqx.nn.inference_mode(model)",
}


def check_inference(model: Any) -> None:
    """Refuse a model that calls a module in training mode, before it is run: running changes it."""
    for module in _modules(model):
        if _in_training(module):
            library = str(_library(module))
            raise UnsupportedModelError(
                f"{type(module).__name__} of {library} is in training mode, in which the model "
                f"answers with random numbers or batch statistics: {_REMEDIES[library]}."
            )


def draws_numbers(jaxpr: Any) -> bool:
    """Whether a traced model draws random numbers."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "random_bits":
            return True
        inner = (getattr(leaf, "jaxpr", leaf) for leaf in jax.tree.leaves(equation.params))
        if any(draws_numbers(leaf) for leaf in inner if hasattr(leaf, "eqns")):
            return True
    return False


def _modules(model: Any) -> Iterator[Any]:
    """Modules that a model is, holds or calls, a few functions deep."""
    seen, waiting = {}, [(model, MAX_CALLS)]
    while waiting:
        thing, calls = waiting.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing  # kept, so that no later object gets its id
        if _library(thing) is not None:
            yield thing
        waiting.extend((part, calls) for part in _parts(thing))
        if calls > 0:
            waiting.extend((part, calls - 1) for part in _used_by(thing))


def _parts(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple):
        return list(thing)
    if isinstance(thing, functools.partial):  # and jax.tree_util.Partial
        return [thing.func, *thing.args, *thing.keywords.values()]
    if _library(thing) == "torch":
        return list(thing.modules())
    return [] if _library(thing) is None else list(_fields(thing).values())


def _used_by(function: Any) -> list[Any]:
    """What a function is a method of, wraps, closes over or finds among its globals."""
    inner = [getattr(function, name, None) for name in ("__self__", "__wrapped__")]
    if not inspect.isfunction(function):
        return inner
    try:
        found = inspect.getclosurevars(function)
    except ValueError:  # a name that has no value yet
        return inner
    return [*inner, *found.nonlocals.values(), *found.globals.values()]


def _library(thing: Any) -> str | None:
    """Of which library this is a module, if of any; by the names of its classes."""
    homes = [kind.__module__ for kind in type(thing).__mro__]
    if "torch.nn.modules.module" in homes:
        return "torch"
    if any(home.startswith(("flax.nnx.", "flax.linen.")) for home in homes):
        return "flax"
    return "equinox" if any(home.startswith("equinox._module") for home in homes) else None


def _in_training(module: Any) -> bool:
    """Whether this very module answers otherwise than it will in inference."""
    own = _fields(module)
    rates = (own.get(name) for name in ("rate", "dropout_rate", "dropout", "p"))
    drops = any(isinstance(rate, int | float) and rate > 0 for rate in rates)
    if _library(module) == "torch":
        homes = [kind.__module__ for kind in type(module).__mro__]
        own_kind = drops and homes[0].startswith("torch.nn.")
        return own.get("training") is True and (own_kind or "torch.nn.modules.batchnorm" in homes)
    flags = own.get("deterministic"), own.get("inference")
    averages = own.get("use_running_average") is False or (flags[1] is False and "p" not in own)
    return averages or (drops and any(flag is False for flag in flags))


def _fields(thing: Any) -> dict[str, Any]:
    return getattr(thing, "__dict__", {})
