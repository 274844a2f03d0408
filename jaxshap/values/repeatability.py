"""Whether a model answers the same when a row stands elsewhere in a batch, among other rows, and
still does when the evaluation is over.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from jaxshap.errors import EvaluationError, UnsupportedModelError
from jaxshap.games import Game, Host, as_pytree
from jaxshap.values.host_masked import HostMasked
from jaxshap.values.masked import Masked, outputs_of_ends
from jaxshap.values.mixing import num_rows_of

TOLERANCE = 1e-3  # of the largest output: what rounding may change
HALF_TOLERANCE = 3e-2  # for models in half precision
MAX_DRIFT = 1e-4  # of the spread of outputs, between the first answer to a batch and the last
ROUNDING = 64 * float(np.finfo(np.float32).eps)  # of the largest output, in the same batch


class Asked(NamedTuple):
    """What a host model said of a few inputs before the evaluation."""

    model: Host
    inputs: Any
    outputs: np.ndarray
    allowed: float  # by how much it may say something else of the same inputs later


def check_repeatable(game: Game, model: Callable, rows: Any, references: Any) -> Asked | None:
    """Refuse a model in training mode: dropout, batch statistics, or state that changes.

    Rows and references are asked about again in another order and partly replaced; nothing is
    looked at under jit. A host model may be slow or paid for by the row: it is asked about two rows
    and two references, twice. Where its outputs for them are known already, one of the two times is
    left for the end: `check_unchanged` takes what is returned here.
    """
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((game, rows, references))):
        return None
    value = game.value.function if isinstance(game.value, Host) else game.value
    value = getattr(value, "inner", value)  # of groups of players
    if isinstance(value, HostMasked) and value.ends is not None:
        return _ask_host(value, np.asarray(game.full))
    if isinstance(value, Masked) and num_rows_of(value.rows) + num_rows_of(value.references) > 2:
        _check_device(value)
    else:
        check_few_rows(model, rows, references)
    return None


def check_unchanged(asked: Asked | None, explanation: Any) -> None:
    """Ask a host model about the same batch as before the evaluation; a state that has changed
    since then is in the values. Rounding, which the same batch has nearly the same of, is not.
    """
    if asked is None:
        return
    outputs = np.asarray(asked.model(jax.tree.map(np.copy, asked.inputs)), np.float64)
    apart = np.abs(outputs - asked.outputs).max(initial=0)
    if not apart <= asked.allowed:
        failed = EvaluationError(
            "the model changed while it was explained: asked about the same rows again, it "
            f"answers by up to {apart:.2g} differently than before the evaluation, where rounding "
            f"may make {asked.allowed:.2g}. The values of `.explanation` hold both: freeze the "
            "model, or make its answers depend on the rows alone.",
            np.empty((0, *outputs.shape[1:])),
        )
        failed.explanation = explanation
        raise failed


def _ask_host(masked: HostMasked, full: np.ndarray) -> Asked:
    """Compare outputs that are known with those of the same inputs in another batch."""
    few = jax.tree.map(_first_two, masked.rows, masked.references)
    known = np.concatenate([full[:2], np.asarray(masked.ends)[:2]]).astype(np.float64)
    order = _reversed_without_first(len(known))
    moved = jax.tree.map(lambda leaf: leaf[order], few)
    outputs = masked.model(jax.tree.map(np.copy, moved))
    half = _is_half(few) or outputs.dtype.itemsize < 4
    _compare(known, order, outputs, half)
    largest, spread = np.abs(known).max(initial=0), np.ptp(known, axis=0).max(initial=0)
    allowed = HALF_TOLERANCE * largest if half else MAX_DRIFT * spread + ROUNDING * largest
    return Asked(masked.model, moved, outputs.astype(np.float64), float(allowed))


def _reversed_without_first(count: int) -> np.ndarray:
    """The last comes twice in place of the first, so that batch statistics change."""
    order = np.arange(count)[::-1].copy()
    order[-1] = order[0]
    return order


def check_few_rows(model: Callable, rows: Any, references: Any) -> None:
    """The same with two rows and two references at most, together in one batch."""
    few = jax.tree.map(_first_two, rows, references)
    order = _reversed_without_first(num_rows_of(few))
    moved = jax.tree.map(lambda leaf: leaf[order], few)
    if isinstance(model, Host):
        outputs = model(jax.tree.map(np.copy, few)), model(moved)
    else:
        function = as_pytree(model)
        batches = jax.device_put((few, moved))
        outputs = jax.device_get([_answers(function, batch) for batch in batches])
    _compare(outputs[0], order, outputs[1], _is_half(few))


def _first_two(rows: Any, references: Any) -> np.ndarray:
    rows = np.asarray(rows)
    return np.concatenate([rows[:2], np.asarray(references)[:2].astype(rows.dtype)])


@jax.jit
def _answers(model: Callable, rows: Any) -> Array:
    return model(rows)


def _check_device(masked: Masked) -> None:
    """With the program that made the endpoints, so that nothing is compiled."""
    rows, references = (_moved(num_rows_of(tree)) for tree in (masked.rows, masked.references))
    moved = _take(masked.rows, masked.references, *jax.device_put((rows, references)))
    again = dataclasses.replace(masked, rows=moved[0], references=moved[1])
    half = _is_half(masked.rows)
    pairs = zip(outputs_of_ends(masked), outputs_of_ends(again), (rows, references), strict=True)
    for first, second, order in pairs:
        _compare(jax.device_get(first), order, jax.device_get(second), half)


@jax.jit
def _take(rows: Any, references: Any, order: Array, other_order: Array) -> tuple[Any, Any]:
    """In one program: small ones, operation by operation, would take longer to compile."""
    return (
        jax.tree.map(lambda leaf: leaf[order], rows),
        jax.tree.map(lambda leaf: leaf[other_order], references),
    )


def _moved(count: int) -> np.ndarray:
    """The last half in reverse, then the first row over and over."""
    order = np.arange(count)[::-1].copy()
    order[count - count // 2 :] = 0
    return order


def _is_half(tree: Any) -> bool:
    return any(leaf.dtype.itemsize < 4 for leaf in jax.tree.leaves(tree))


def _compare(first: np.ndarray, order: np.ndarray, second: np.ndarray, half: bool) -> None:
    """Outputs, and those of the rows in another order, of which some may be gone."""
    first, second = (np.asarray(part, np.float64) for part in (first, second))
    largest = np.abs(first).max(initial=0)  # of rows that are gone too: rounding goes by it
    apart = np.abs(first[order] - second).max(initial=0)
    if apart > (HALF_TOLERANCE if half else TOLERANCE) * largest:
        raise UnsupportedModelError(
            "the model answers differently when a row stands elsewhere in the batch, by up to "
            f"{apart:.2g} (its outputs go up to {largest:.2g}): dropout or batch statistics in "
            "training mode, or a state that changes. Switch it to inference: model.eval() for Flax "
            "nnx and torch, eqx.nn.inference_mode(model), train=False for Flax linen and Haiku."
        )
