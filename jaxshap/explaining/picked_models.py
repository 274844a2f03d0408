"""Models that return some outputs of another: nothing else is held or copied."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.games import Host, as_pytree
from jaxshap.inputs import check_columns
from jaxshap.values import distinct_inputs

INPUT, CHOICE = "input", "outputs"  # what a row consists of where each has outputs of its own


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Columns:
    """The same outputs for all rows."""

    model: Callable
    numbers: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    num_names: int | None = dataclasses.field(metadata={"static": True})

    def __call__(self, rows: Any) -> Float[Array | np.ndarray, "rows chosen"]:
        outputs = self.model(rows)
        check_columns(np.shape(outputs), max(self.numbers) + 1, self.num_names)
        return outputs[:, np.asarray(self.numbers)]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RowColumns:
    """Outputs that come with each row, `{"input": …, "outputs": their numbers}`."""

    model: Callable

    def __call__(self, rows: dict[str, Any]) -> Float[Array | np.ndarray, "rows chosen"]:
        if isinstance(self.model, Host):  # rows may differ in what is chosen alone
            first, rank = distinct_inputs(rows[INPUT])
            outputs = self.model(jax.tree.map(lambda leaf: leaf[first], rows[INPUT]))
            return outputs[rank[:, None], rows[CHOICE]]
        return jnp.take_along_axis(self.model(rows[INPUT]), rows[CHOICE], axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Transformed:
    """A function of the outputs."""

    model: Callable
    function: Callable

    def __call__(self, rows: Any) -> Any:
        return self.function(self.model(rows))


def wrapped(kind: Callable, model: Callable, *rest: Any) -> Callable:
    """A model made of another one, on the host where that is."""
    if isinstance(model, Host):
        return Host(kind(model, *rest), model.bytes_per_item)
    return kind(as_pytree(model), *(as_pytree(part) if callable(part) else part for part in rest))


def top_numbers(model: Callable, rows: Any, count: int, num_names: int | None) -> np.ndarray:
    """The numbers of each row's largest outputs, in decreasing order, `(rows, count)`."""
    if isinstance(model, Host):
        outputs = model(jax.tree.map(np.array, rows))  # a copy: it may work in place
        check_columns(outputs.shape, count, num_names)
        return np.argsort(-outputs, axis=1, kind="stable")[:, :count].astype(np.int32)
    chosen = _top_on_device(as_pytree(model), rows, count, num_names)
    return np.asarray(jax.device_get(chosen))


def _top(model: Callable, rows: Any, count: int, num_names: int | None) -> Any:
    outputs = model(rows)
    check_columns(outputs.shape, count, num_names)
    return jax.lax.top_k(outputs, count)[1]


_top_on_device = jax.jit(_top, static_argnums=(2, 3))
