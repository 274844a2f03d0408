"""Functions as pytrees, so that jit sees their arrays as data."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

_ARRAYS = (jax.Array, np.ndarray, np.generic)


def as_pytree(function: Callable) -> Callable:
    """The function as a pytree: its arrays are leaves, so that jit sees them as data.

    An opaque function is static, and so are leaves that are not arrays, such as the activation
    function of an Equinox module.
    """
    leaves, structure = jax.tree.flatten(function)
    if len(leaves) == 1 and leaves[0] is function:
        return jax.tree_util.Partial(function)
    if all(isinstance(leaf, _ARRAYS) for leaf in leaves):
        return function
    arrays, statics = (
        tuple(leaf if isinstance(leaf, _ARRAYS) == wanted else None for leaf in leaves)
        for wanted in (True, False)
    )
    return _Partly(arrays, statics, structure)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Partly:
    """A pytree function some of whose leaves are arrays; the rest of them is static."""

    arrays: tuple[Any, ...]
    statics: tuple[Any, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})

    def __call__(self, *inputs):
        pairs = zip(self.arrays, self.statics, strict=True)
        leaves = [static if array is None else array for array, static in pairs]
        return jax.tree.unflatten(self.structure, leaves)(*inputs)


def register_without(
    kind: type, leaves: tuple[str, ...], static: tuple[str, ...], *, dropped: str
) -> None:
    """Make a frozen dataclass a pytree without one of its fields, which becomes None; the oldest
    JAX that we name cannot drop a field.
    """

    def flatten(instance: Any):
        keyed = [(jax.tree_util.GetAttrKey(name), getattr(instance, name)) for name in leaves]
        return keyed, tuple(getattr(instance, name) for name in static)

    def unflatten(values: tuple[Any, ...], children: Any) -> Any:
        instance = object.__new__(kind)  # unchecked: JAX puts in shapes and placeholders too
        fields = (*zip(leaves, children, strict=True), *zip(static, values, strict=True))
        for name, field in (*fields, (dropped, None)):
            object.__setattr__(instance, name, field)
        return instance

    jax.tree_util.register_pytree_with_keys(kind, flatten, unflatten)
