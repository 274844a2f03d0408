"""Games in which an absent feature takes the values it has in reference rows."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float

from jaxshap.game import Game, Host, as_pytree
from jaxshap.memory import bucket, byte_limit, bytes_of_call


def masked_game(
    model: Callable,
    rows: Any,
    references: Any,
    weights: Any,
    name: str,
) -> Game:
    """v(S) = Σ_r weights_r model(row where S, reference r elsewhere), for every row; players are the columns.

    The endpoints need no mixing: the model on the rows, and its mean over the references, once for all rows.
    """
    rows, references, weights = _checked(model, rows, references, weights)
    num_rows, num_features = rows.shape
    if isinstance(model, Host):
        full, ends = model(rows), model(references)
        _check_outputs(full.shape, full.dtype, num_rows)
        empty = np.broadcast_to(np.tensordot(weights, ends, 1), full.shape).astype(full.dtype)
        bytes_per_point = 8 * num_features * rows.itemsize  # the input, and room for the model's own work
        block = max(1, byte_limit() // bytes_per_point)
        bytes_per_coalition = min(block, num_rows * len(references)) * bytes_per_point
        value: Any = Host(HostMasked(model, rows, references, weights, block), bytes_per_coalition)
    else:
        model = as_pytree(model)
        block = max(1, byte_limit() // _bytes_per_point(model, rows))
        arrays = jax.device_put((rows, *_pad(references, weights, bucket(len(references)))))
        value = Masked(model, arrays[0], arrays[1], arrays[2], block)
        full, ends, empty = _endpoints(value)
    _check_finite(ends, len(references), "background row")
    _check_finite(full, num_rows, "row")
    return Game(value, jax.device_put(empty), jax.device_put(full), num_features, name)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Masked:
    """The weighted mean of the model over references, at most `block` points a call."""

    model: Callable
    rows: Float[Array, "rows features"]
    references: Float[Array, "references features"]
    weights: Float[Array, "references"]
    block: int = dataclasses.field(metadata={"static": True})

    def __call__(self, coalition: Bool[Array, "features"]) -> Float[Array, "rows *out"]:
        if len(self.rows) * len(self.references) <= self.block:
            return self._mean(coalition, self.rows, self.references, self.weights)
        length = min(self.block, len(self.references))
        references, weights = _pad(self.references, self.weights, -(-len(self.references) // length) * length)
        parts = references.reshape(-1, length, references.shape[1]), weights.reshape(-1, length)

        def of_row(row):
            return jax.lax.map(lambda part: self._mean(coalition, row[None], *part)[0], parts).sum(0)

        return jax.lax.map(of_row, self.rows, batch_size=max(1, self.block // length))

    def _mean(self, coalition, rows, references, weights) -> Float[Array, "rows *out"]:
        inputs = jnp.where(coalition, rows[:, None], references)
        outputs = self.model(inputs.reshape(-1, inputs.shape[-1]))
        outputs = outputs.reshape(*inputs.shape[:2], *outputs.shape[1:])
        return jnp.tensordot(weights.astype(outputs.dtype), outputs, (0, 1))


@jax.jit
def _endpoints(
    masked: Masked,
) -> tuple[Float[Array, "rows *out"], Float[Array, "references *out"], Float[Array, "rows *out"]]:
    """The model on the rows and on the references, and its weighted mean over the references, one a row."""
    full, ends = masked.model(masked.rows), masked.model(masked.references)
    return full, ends, jnp.broadcast_to(jnp.tensordot(masked.weights.astype(ends.dtype), ends, 1), full.shape)


@dataclasses.dataclass(frozen=True, eq=False)
class HostMasked:
    """The same in numpy for a batch of coalitions: one call of the model, unless memory asks for more."""

    model: Host
    rows: Float[np.ndarray, "rows features"]
    references: Float[np.ndarray, "references features"]
    weights: Float[np.ndarray, "references"]
    block: int

    def __call__(self, coalitions: Bool[np.ndarray, "m features"]) -> Float[np.ndarray, "m rows *out"]:
        points = max(1, self.block // len(coalitions))
        parts = list(zip(_split(self.references, points), _split(self.weights, points), strict=True))
        blocks = _split(self.rows, points // len(self.references))
        return np.concatenate([sum(self._mean(coalitions, rows, *part) for part in parts) for rows in blocks], axis=1)

    def _mean(self, coalitions, rows, references, weights):
        inputs = np.where(coalitions[:, None, None], rows[:, None], references)
        flat = inputs.reshape(-1, inputs.shape[-1])
        outputs = self.model(flat)
        _check_outputs(outputs.shape, outputs.dtype, len(flat))
        return np.tensordot(weights, outputs.reshape(*inputs.shape[:3], *outputs.shape[1:]), (0, 2))


def _checked(model: Callable, rows, references, weights):
    """Inputs as floating-point arrays with shapes that fit each other; what JAX does not hold yet stays in numpy."""
    rows, references = (_floating(part, isinstance(model, Host)) for part in (rows, references))
    for part, what in ((rows, "X"), (references, "the background")):
        if part.ndim != 2 or 0 in part.shape:
            raise ValueError(f"{what} must be a non-empty table (rows, features), not an array of shape {part.shape}.")
    if rows.shape[1] != references.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} columns and the background {references.shape[1]}: they must have the same features."
        )
    if weights is None:
        return rows, references, np.full(len(references), 1 / len(references), rows.dtype)
    if np.shape(weights) != (len(references),):
        raise ValueError(
            f"weights have shape {np.shape(weights)} for {len(references)} background rows: pass one a row."
        )
    if isinstance(weights, Tracer):
        return rows, references, weights / weights.sum()
    weights = np.asarray(weights, rows.dtype)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise ValueError("weights of the background must be non-negative numbers, and not all of them 0.")
    return rows, references, weights / weights.sum()


def _floating(part, on_host: bool):
    """A floating-point array: as wide as JAX is set to, or for a host model as wide as it came."""
    array = part if isinstance(part, jax.Array) and not on_host else np.asarray(part)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(np.float64)
    return array if on_host else array.astype(jax.dtypes.canonicalize_dtype(array.dtype))


def _bytes_per_point(model: Callable, rows: Float[Array, "rows features"]) -> int:
    """Memory a row of the model's input needs, from a trace that also shows whether the model can be traced."""
    two = jax.ShapeDtypeStruct((2, rows.shape[1]), rows.dtype)
    try:
        outputs = jax.eval_shape(model, two)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise TypeError(
            "JAX cannot trace this model. If it runs in numpy, scikit-learn, torch or elsewhere, "
            "wrap it in jaxshap.host(model)."
        ) from error
    if not hasattr(outputs, "shape"):
        raise ValueError(f"the model must return one array (rows,) or (rows, outputs), not {type(outputs).__name__}.")
    _check_outputs(outputs.shape, outputs.dtype, 2)
    return max(bytes_of_call(model, two) // 2, 2 * rows.shape[1] * rows.dtype.itemsize)


def _check_outputs(shape: tuple[int, ...], dtype, num_rows: int) -> None:
    if len(shape) == 0 or shape[0] != num_rows:
        raise ValueError(
            f"the model returned shape {shape} for {num_rows} rows: it must return one result a row, "
            "(rows,) or (rows, outputs)."
        )
    if not jnp.issubdtype(dtype, jnp.floating):
        raise TypeError(
            f"the model returned {dtype}: Shapley values share out a number. Return probabilities or scores "
            "rather than labels, or cast quantities to float."
        )


def _check_finite(outputs: Any, count: int, what: str) -> None:
    """A NaN in the background would spoil every value; under jit there is nothing to look at."""
    if isinstance(outputs, Tracer):
        return
    bad = np.asarray((~np.isfinite(np.asarray(outputs)[:count])).reshape(count, -1).any(axis=1))
    if bad.any():
        raise ValueError(
            f"the model returns NaN or infinity for {bad.sum()} {what}(s), the first is {what} {bad.argmax()}: "
            "mend the model or leave them out."
        )


def _pad(references, weights, length: int) -> tuple[Any, Any]:
    """Up to this many references, those added having weight 0."""
    xp: Any = np if isinstance(references, np.ndarray) and isinstance(weights, np.ndarray) else jnp
    missing = length - len(references)
    return xp.concatenate([references, xp.repeat(references[-1:], missing, axis=0)]), xp.pad(weights, (0, missing))


def _split(array: np.ndarray, length: int) -> list[np.ndarray]:
    length = max(1, length)
    return [array[start : start + length] for start in range(0, len(array), length)]
