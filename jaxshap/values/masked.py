"""Games in which what is absent takes the values it has in reference rows."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from jaxshap.engine import bucket, byte_limit, bytes_of_call
from jaxshap.errors import InputError, InputTypeError, ModelOutputError
from jaxshap.games import Game, Host, as_pytree
from jaxshap.inputs import Players

PIECE = 256  # terms of a sum in float32 before it is put aside


def masked_game(
    model: Callable,
    rows: Any,
    references: Any,
    weights: Any,
    name: str,
    players: Players | None = None,
) -> Game:
    """v(S) = Σ_r weights_r model(row where S, reference r elsewhere), for every row.

    Players are the columns of a table, or `players` says which parts of an input they own. The
    endpoints need no mixing: the model on the rows, and its mean over the references, once for all
    rows.
    """
    rows, references = _checked(model, rows, references, players)
    num_references = _length(references)
    weights = checked_weights(weights, num_references, rows)
    num_rows, num_players = (
        _length(rows),
        jax.tree.leaves(rows)[0].shape[1] if players is None else len(players),
    )
    owner = None if players is None else players.owner
    mixes_empty = players is not None and players.some_stay
    if isinstance(model, Host):
        full, ends = model(rows), model(references)
        check_outputs(full.shape, full.dtype, num_rows)
        _check_alike(full, ends)
        bytes_per_point = (
            8 * sum(part.nbytes for part in jax.tree.leaves(rows)) // num_rows
        )  # with room for its work
        block = max(1, byte_limit() // bytes_per_point)
        bytes_per_coalition = min(block, num_rows * num_references) * bytes_per_point
        masked = HostMasked(model, rows, references, weights, owner, block)
        nobody = np.zeros((1, num_players), bool)
        empty = masked(nobody)[0] if mixes_empty else np.tensordot(weights, ends, 1)
        empty = np.broadcast_to(empty, full.shape).astype(full.dtype)
        value: Any = Host(masked, bytes_per_coalition)
    else:
        model = as_pytree(model)
        block = max(1, byte_limit() // bytes_per_point_of(model, rows))
        references, weights = _pad(references, weights, bucket(num_references))
        rows, references, weights, owner = jax.device_put((rows, references, weights, owner))
        value = Masked(model, rows, references, weights, owner, block)
        full, ends, empty = _endpoints(value)
        if mixes_empty:
            empty = jax.jit(Masked.__call__)(value, jnp.zeros(num_players, bool))
    check_finite(full, num_rows, "row")
    if not mixes_empty:
        check_finite(ends, num_references, "background row")
    return Game(value, jax.device_put(empty), jax.device_put(full), num_players, name)


again = functools.partial(
    jax.checkpoint, prevent_cse=False
)  # evaluated again for a gradient rather than kept


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Masked:
    """The weighted mean of the model over references, at most `block` points a call."""

    model: Callable
    rows: PyTree[Float[Array, "rows ..."]]
    references: PyTree[Float[Array, "references ..."]]
    weights: Float[Array, "references"]
    owner: PyTree[Int[Array, "..."]] | None
    block: int = dataclasses.field(metadata={"static": True})

    def __call__(self, coalition: Bool[Array, "n"]) -> Float[Array, "rows *out"]:
        count = len(self.weights)
        if _length(self.rows) * count <= self.block:
            return self._mean(coalition, self.rows, self.references, self.weights)
        length = min(self.block, count)
        padded = _pad(self.references, self.weights, -(-count // length) * length)
        parts = jax.tree.map(lambda part: part.reshape(-1, length, *part.shape[1:]), padded)

        @again
        def of_row(row):
            one = jax.tree.map(lambda part: part[None], row)
            return jax.lax.map(again(lambda part: self._mean(coalition, one, *part)[0]), parts).sum(
                0
            )

        return jax.lax.map(of_row, self.rows, batch_size=max(1, self.block // length))

    def _mean(self, coalition, rows, references, weights) -> Float[Array, "rows *out"]:
        def mix(mask, row, reference):
            return jnp.where(mask, row[:, None], reference)

        inputs = jax.tree.map(mix, _masks(coalition, self.owner, rows), rows, references)
        shape = _length(rows), len(weights)
        outputs = self.model(jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:]), inputs))
        outputs = outputs.reshape(*shape, *outputs.shape[1:])
        return weighted_sum(weights.astype(outputs.dtype), outputs)


def weighted_sum(
    weights: Float[Array, "m"], outputs: Float[Array, "rows m *out"]
) -> Float[Array, "rows *out"]:
    """Σ_k w_k y_k in pieces: one long sum of like numbers in float32 loses three digits at 100,000
    of them.
    """
    count = len(weights)
    if count <= PIECE:
        return jnp.tensordot(weights, outputs, (0, 1))
    missing = -count % PIECE
    weights = jnp.pad(weights, (0, missing)).reshape(-1, PIECE)
    outputs = jnp.pad(outputs, ((0, 0), (0, missing), *((0, 0),) * (outputs.ndim - 2)))
    outputs = outputs.reshape(len(outputs), -1, PIECE, *outputs.shape[2:])
    return jnp.einsum("pk,rpk...->rp...", weights, outputs).sum(1)


@jax.jit
def _endpoints(
    masked: Masked,
) -> tuple[Float[Array, "rows *out"], Float[Array, "references *out"], Float[Array, "rows *out"]]:
    """The model on the rows and on the references, and its weighted mean over the references, one a
    row.
    """
    full, ends = masked.model(masked.rows), masked.model(masked.references)
    return (
        full,
        ends,
        jnp.broadcast_to(jnp.tensordot(masked.weights.astype(ends.dtype), ends, 1), full.shape),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class HostMasked:
    """The same in numpy for a batch of coalitions: one call of the model, unless memory asks for
    more.
    """

    model: Host
    rows: PyTree[Float[np.ndarray, "rows ..."]]
    references: PyTree[Float[np.ndarray, "references ..."]]
    weights: Float[np.ndarray, "references"]
    owner: PyTree[Int[np.ndarray, "..."]] | None
    block: int

    def __call__(self, coalitions: Bool[np.ndarray, "m n"]) -> Float[np.ndarray, "m rows *out"]:
        points = max(1, self.block // len(coalitions))
        parts = _split((self.references, self.weights), points)
        blocks = _split(self.rows, points // len(self.weights))
        return np.concatenate(
            [sum(self._mean(coalitions, rows, *part) for part in parts) for rows in blocks], axis=1
        )

    def _mean(self, coalitions, rows, references, weights):
        def mix(mask, row, reference):
            return np.where(mask[:, None, None], row[:, None], reference)

        inputs = jax.tree.map(mix, _masks(coalitions, self.owner, rows), rows, references)
        shape = len(coalitions), _length(rows), len(weights)
        outputs = self.model(jax.tree.map(lambda part: part.reshape(-1, *part.shape[3:]), inputs))
        check_outputs(outputs.shape, outputs.dtype, int(np.prod(shape)))
        return np.tensordot(weights, outputs.reshape(*shape, *outputs.shape[1:]), (0, 2))


def _masks(
    coalitions: Bool[Array, "*m n"], owner: PyTree | None, rows: PyTree
) -> PyTree[Bool[Array, "..."]]:
    """For each leaf of the input, which entries keep the row's value; the axes of the coalitions in
    front.
    """
    if owner is None:
        return coalitions
    xp: Any = np if isinstance(coalitions, np.ndarray) else jnp
    front = coalitions.shape[:-1]
    kept = xp.concatenate(
        [coalitions, xp.ones((*front, 1), bool)], axis=-1
    )  # the owner −1 is the last: always there

    def mask(owner, leaf):
        return kept[..., owner].reshape(*front, *owner.shape, *(1,) * (leaf.ndim - 1 - owner.ndim))

    return jax.tree.map(mask, owner, rows)


def _checked(model: Callable, rows, references, players: Players | None) -> tuple[Any, Any]:
    """Inputs as arrays with shapes that fit each other; what JAX does not hold yet stays in numpy."""
    on_host = isinstance(model, Host)
    if players is not None:
        rows, references = (
            jax.tree.map(lambda part: as_array(part, on_host), part) for part in (rows, references)
        )
        players.check(rows, "X")
        players.check(references, "the background")
        for row, reference in zip(jax.tree.leaves(rows), jax.tree.leaves(references), strict=True):
            if row.shape[1:] != reference.shape[1:] or not row.shape[0] or not reference.shape[0]:
                raise InputError(
                    f"X has an array of shape {row.shape} where the background has {reference.shape}: both need rows, "
                    "of the same shape."
                )
            if jnp.issubdtype(row.dtype, jnp.integer) and not jnp.issubdtype(
                reference.dtype, jnp.integer
            ):
                raise InputTypeError(
                    f"X has an array of {row.dtype} where the background has {reference.dtype}: they would mix. "
                    "Pass both as whole numbers, or X as floating-point numbers."
                )
        lengths = [
            sorted({part.shape[0] for part in jax.tree.leaves(tree)}) for tree in (rows, references)
        ]
        if max(map(len, lengths)) > 1:
            raise InputError(
                f"the arrays of an input must have as many rows each; they have {lengths}."
            )
        return rows, jax.tree.map(lambda row, part: part.astype(row.dtype), rows, references)
    return checked_table(model, rows, references)


def checked_table(model: Callable, rows, references) -> tuple[Any, Any]:
    """Rows and references as floating-point tables with the same columns."""
    rows, references = (_floating(part, isinstance(model, Host)) for part in (rows, references))
    for part, what in ((rows, "X"), (references, "the background")):
        if part.ndim != 2 or 0 in part.shape:
            raise InputError(
                f"{what} must be a non-empty table (rows, features), not an array of shape {part.shape}: for other "
                "inputs say who plays, with jaxshap.patches, segments, tokens or leaves."
            )
    if rows.shape[1] != references.shape[1]:
        raise InputError(
            f"X has {rows.shape[1]} columns and the background {references.shape[1]}: they must have the same features."
        )
    return rows, references


def checked_weights(weights, count: int, rows: PyTree):
    """One weight for each of `count` background rows, summing to 1; alike where none are given."""
    dtypes = [
        part.dtype for part in jax.tree.leaves(rows) if jnp.issubdtype(part.dtype, jnp.floating)
    ]
    dtype = dtypes[0] if dtypes else jnp.result_type(float)
    if weights is None:
        return np.full(count, 1 / count, dtype)
    if np.shape(weights) != (count,):
        raise InputError(
            f"weights have shape {np.shape(weights)} for {count} background rows: pass one a row."
        )
    if isinstance(weights, Tracer):
        return weights / weights.sum()
    weights = np.asarray(weights, dtype)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise InputError(
            "weights of the background must be non-negative numbers, and not all of them 0."
        )
    return weights / weights.sum()


def as_array(part, on_host: bool):
    """An array as wide as JAX is set to, or for a host model as wide as it came."""
    array = part if isinstance(part, jax.Array) and not on_host else np.asarray(part)
    return array if on_host else array.astype(jax.dtypes.canonicalize_dtype(array.dtype))


def _floating(part, on_host: bool):
    array = part if isinstance(part, jax.Array) and not on_host else np.asarray(part)
    return as_array(
        array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(np.float64), on_host
    )


def bytes_per_point_of(model: Callable, rows: PyTree) -> int:
    """Memory a row of the model's input needs, from a trace that also shows whether the model can
    be traced.
    """
    two = jax.tree.map(lambda part: jax.ShapeDtypeStruct((2, *part.shape[1:]), part.dtype), rows)
    try:
        outputs = jax.eval_shape(model, two)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise InputTypeError(
            "JAX cannot trace this model. If it runs in numpy, scikit-learn, torch or elsewhere, "
            "wrap it in jaxshap.host(model)."
        ) from error
    if not hasattr(outputs, "shape"):
        raise ModelOutputError(
            f"the model must return one array (rows,) or (rows, outputs), not {type(outputs).__name__}."
        )
    check_outputs(outputs.shape, outputs.dtype, 2)
    inputs = sum(int(np.prod(part.shape)) * part.dtype.itemsize for part in jax.tree.leaves(two))
    return max(bytes_of_call(model, two) // 2, inputs)


def check_outputs(shape: tuple[int, ...], dtype, num_rows: int) -> None:
    if len(shape) == 0 or shape[0] != num_rows:
        raise ModelOutputError(
            f"the model returned shape {shape} for {num_rows} rows: it must return one result a row, "
            "(rows,) or (rows, outputs)."
        )
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ModelOutputError(
            f"the model returned {dtype}: Shapley values share out a number. Return probabilities or scores "
            "rather than labels, or cast quantities to float."
        )


def _check_alike(full: np.ndarray, ends: np.ndarray) -> None:
    if full.shape[1:] != ends.shape[1:]:
        raise ModelOutputError(
            f"the model returned outputs of shape {full.shape[1:]} for rows of X and {ends.shape[1:]} for the "
            "background: the shape must not depend on what is masked. Pad its outputs to one shape."
        )


def check_finite(outputs: Any, count: int, what: str) -> None:
    """A NaN in the background would spoil every value; under jit there is nothing to look at."""
    if isinstance(outputs, Tracer):
        return
    bad = np.asarray((~np.isfinite(np.asarray(outputs)[:count])).reshape(count, -1).any(axis=1))
    if bad.any():
        raise ModelOutputError(
            f"the model returns NaN or infinity for {bad.sum()} {what}(s), the first is {what} {bad.argmax()}: "
            "mend the model or leave them out."
        )


def _length(tree: PyTree) -> int:
    return len(jax.tree.leaves(tree)[0])


def _pad(references, weights, length: int) -> tuple[Any, Any]:
    """Up to this many references, those added having weight 0."""
    missing = length - len(weights)

    def padded(part):
        xp: Any = np if isinstance(part, np.ndarray) else jnp
        return xp.concatenate([part, xp.repeat(part[-1:], missing, axis=0)])

    xp: Any = np if isinstance(weights, np.ndarray) else jnp
    return jax.tree.map(padded, references), xp.pad(weights, (0, missing))


def _split(tree: PyTree, length: int) -> list:
    length = max(1, length)
    starts = range(0, _length(tree), length)
    return [
        jax.tree.map(lambda part, start=start: part[start : start + length], tree)
        for start in starts
    ]
