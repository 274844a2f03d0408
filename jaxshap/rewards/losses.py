"""Losses as rewards: what each feature adds to the error of each row."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import check_function, read_flag
from jaxshap.rewards.class_rewards import at_class, check_classes, read_labels


def loss(labels: Any, kind: str | Callable = "squared", *, logits: bool = False) -> Callable:
    """The loss of each row against its label: features that help have negative values.

    Args:
        labels: one label per row: numbers of the outputs' shape for "squared" and "absolute", the
            number of the right class for "cross_entropy".
        kind: "squared" (the default) or "absolute", summed over outputs; "cross_entropy"; or a
            function of (outputs, labels), in JAX, that returns one number per row.
        logits: for "cross_entropy", whether the model returns logits; by default it returns
            probabilities.

    Returns:
        A function of the outputs of all rows, for `reward` and for `explain(reward=…)`.

    Raises:
        InputTypeError: where labels are not real numbers.
        InputError: where the kind is not known. `reward` raises it where labels do not fit the
            outputs: another number of rows, another shape, or a class that the model does not have.

    Example:
        >>> import jaxshap
        >>> of_one_row = jaxshap.table([[0.0], [1.0], [2.0], [3.0]])
        >>> squared = jaxshap.rewards.reward(of_one_row, jaxshap.rewards.loss([3.0]))
        >>> jaxshap.shapley_values(squared)[:, 0].tolist()
        [-3.0, -6.0]
    """
    is_known = isinstance(kind, str) and kind in _LOSSES
    remedy = f"one of {list(_LOSSES)}, or a function of (outputs, labels)"
    if isinstance(kind, str) and not is_known:
        raise InputError(f"kind={kind!r}: pass {remedy}.")
    if not is_known:
        check_function(kind, "kind", remedy, 2)
    read, logits = read_labels(labels, "labels"), read_flag(logits, "logits")
    if not read.ndim:
        raise InputError(f"labels={labels!r} is a single number: pass one label per row.")
    if isinstance(kind, str):
        return _Loss(read, _LOSSES[kind], logits, f"{kind.replace('_', ' ')} loss")
    return _Loss(read, kind, logits, "loss")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Loss:
    labels: Any
    kind: Callable = dataclasses.field(metadata={"static": True})
    logits: bool = dataclasses.field(metadata={"static": True})
    name: str = dataclasses.field(metadata={"static": True})

    def __call__(self, outputs: Float[Array, "rows *out"]) -> Float[Array, "rows *loss"]:
        if len(self.labels) != len(outputs):
            raise InputError(
                f"there are {len(self.labels)} labels for {len(outputs)} rows: pass one a row."
            )
        if self.kind is _cross_entropy:
            return _cross_entropy(outputs, self.labels, self.logits)
        return self.kind(outputs, jnp.asarray(self.labels))


def _squared(outputs: Float[Array, "rows *out"], labels: Array) -> Float[Array, "rows"]:
    return (_errors(outputs, labels) ** 2).sum(1)


def _absolute(outputs: Float[Array, "rows *out"], labels: Array) -> Float[Array, "rows"]:
    return jnp.abs(_errors(outputs, labels)).sum(1)


def _errors(outputs: Float[Array, "rows *out"], labels: Array) -> Float[Array, "rows outputs"]:
    if outputs.shape != labels.shape:
        raise InputError(
            f"labels have shape {labels.shape} and outputs {outputs.shape}: they must be the same."
        )
    return (outputs - labels.astype(outputs.dtype)).reshape(len(outputs), -1)


def _cross_entropy(
    outputs: Float[Array, "rows *out"], labels: Array | np.ndarray, logits: bool
) -> Float[Array, "rows"]:
    if outputs.ndim != 2 or labels.ndim != 1:
        raise InputError(
            "cross entropy needs outputs (rows, classes) and whole labels (rows,), not "
            f"{outputs.shape} and {labels.shape}."
        )
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise InputTypeError(f"cross entropy needs whole labels, not {labels.dtype}.")
    check_classes(labels, outputs.shape[1], "labels")
    return -at_class(jax.nn.log_softmax(outputs) if logits else jnp.log(outputs), labels)


_LOSSES: dict[Any, Callable] = {
    "squared": _squared,
    "absolute": _absolute,
    "cross_entropy": _cross_entropy,
}
