"""Direct effects of features, and predictors that leave protected ones out."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.causal.graphs import between_others
from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.games import Host, as_pytree
from jaxshap.inputs import (
    column_numbers,
    own_columns,
    read_inputs,
    read_model,
    read_table,
    read_weights,
)
from jaxshap.values import (
    HostMasked,
    Masked,
    bytes_per_point_of,
    checked_table,
    checked_weights,
    predictions,
)


class DirectEffect(NamedTuple):
    """What setting `features` from a reference to other values does to the model, all else as it is
    in the rows.
    """

    values: Float[np.ndarray, "..."]  # points, then outputs
    std_error: Float[np.ndarray, "..."]
    features: tuple[str, ...]


def direct_effect(
    model: Any,
    X: Any,
    features: str | int | Sequence[str | int],
    *,
    at: Any,
    reference: Any,
    graph: Any = None,
    feature_names: Sequence[str] | None = None,
) -> DirectEffect:
    """The average natural direct effect: the mean over rows of model(at, rest of the row) −
    model(reference, rest).

    It is a difference of partial dependence, and causal only where no feature has both causes and
    effects among the other inputs: with a `graph` that is checked, see `identifies_direct_effect`.
    `at` has features in its last axis, or is a number for one feature. Standard errors are those of
    the mean over rows like these, for the model as it is.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])
        >>> jaxshap.causal.direct_effect(lambda x: x[:, 0] * x[:, 1], X, 0, at=1.0, reference=0.0).values
        array(2.)
    """
    inputs = read_inputs(X, X, None, own_columns(model, X, feature_names))
    columns = _columns(features, inputs.names, "features=")
    names = tuple(inputs.names[column] for column in columns)
    if graph is not None:
        _check_identified(graph, names, inputs.names)
    predict, _ = read_model(model, inputs)
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    points, base = (
        _settings(at, len(columns), "at"),
        _settings(reference, len(columns), "reference"),
    )
    if base.shape[:-1] != ():
        raise InputError(
            f"reference has shape {base.shape}: pass one value for each of the features {list(names)}."
        )
    settings = np.concatenate([base[None], points.reshape(-1, len(columns))]).astype(rows.dtype)
    before = predictions(predict, _with(rows, columns, settings[:1])).astype(np.float64)
    size = max(1, byte_limit() // rows.nbytes)  # as many settings at once as memory holds
    parts = [settings[start : start + size] for start in range(1, len(settings), size)]
    found = [_change(predict, rows, columns, some, before) for some in parts]
    shape = points.shape[:-1] + before.shape[1:]
    means, errors = (np.concatenate(part).reshape(shape) for part in zip(*found, strict=True))
    return DirectEffect(means, errors, names)


def fair_predictor(
    model: Any,
    background: Any,
    protected: str | int | Sequence[str | int],
    *,
    feature_names: Sequence[str] | None = None,
) -> Callable:
    """The model without the protected features: the mean of model(x, a) over how a is distributed
    in the background.

    That is m₀ + m_X(x), the model less every term of its functional decomposition that a protected
    feature is part of. Other features cannot stand in for them, as they do in a model that is
    trained without them. It takes the same rows as the model, DataFrames by name, and ignores their
    protected columns; in JAX it is a pytree that works with jit, vmap and grad. Lindholm et al.
    (2022).

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 0.0]])
        >>> fair = jaxshap.causal.fair_predictor(lambda x: x[:, 0] + x[:, 1], background, 0)
        >>> fair(background).tolist()
        [1.5, 2.5, 3.5, 0.5]
    """
    table, _ = read_weights(background)
    inputs = read_inputs(table, background, None, own_columns(model, table, feature_names))
    columns = _columns(protected, inputs.names, "protected=")
    predict, _ = read_model(model, inputs)
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    shares = checked_weights(inputs.options.get("weights"), len(rows), rows)
    _, first, which = np.unique(rows[:, columns], axis=0, return_index=True, return_inverse=True)
    references, weights = (
        rows[first],
        np.bincount(which, shares).astype(rows.dtype),
    )  # each combination once
    present = ~np.isin(np.arange(rows.shape[1]), columns)
    if isinstance(predict, Host):
        block = max(1, byte_limit() // (8 * rows[:1].nbytes))

        def on_host(batch):
            taken = np.asarray(_taken(batch, inputs.columns, len(present)))
            return HostMasked(predict, taken, references, weights, None, len(present), block)(
                present[None]
            )[0]

        return Host(on_host)
    predict = as_pytree(predict)
    block = max(1, byte_limit() // bytes_per_point_of(predict, rows))
    references, weights, present = map(jnp.asarray, (references, weights, present))
    return FairPredictor(predict, references, weights, present, inputs.columns, block)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(
    frozen=True, eq=False
)  # equal to itself alone, so that jit takes it as a function
class FairPredictor:
    """The mean of a model over the protected features of some rows, each with its weight."""

    model: Callable
    references: Float[Array, "references features"]
    weights: Float[Array, "references"]
    present: Bool[Array, "features"]
    columns: tuple[str, ...] | None = dataclasses.field(
        metadata={"static": True}
    )  # of a background with names
    block: int = dataclasses.field(metadata={"static": True})

    def __call__(self, rows: Float[Array, "rows features"]) -> Float[Array, "rows *out"]:
        rows = jnp.asarray(_taken(rows, self.columns, len(self.present)))
        masked = Masked(
            self.model,
            rows,
            self.references.astype(rows.dtype),
            self.weights,
            None,
            len(self.present),
            self.block,
        )
        return masked(self.present)


def _taken(rows: Any, columns: tuple[str, ...] | None, width: int) -> Any:
    """Rows as wide as the model takes them; columns that have names on both sides are matched by
    name.
    """
    found = (
        read_table(rows, "the table", columns).array
        if columns and hasattr(rows, "columns")
        else rows
    )
    shape = np.shape(found)
    if len(shape) != 2 or shape[1] != width:
        raise InputError(
            f"the rows have shape {shape}: pass (rows, {width}), the protected features among them."
        )
    return found


def _columns(features, names: Sequence[str], what: str) -> list[int]:
    found = column_numbers(features, names, what)
    if not found:
        raise InputError(f"{what} names no column: pass one or more.")
    return found


def _settings(values, count: int, what: str) -> Float[np.ndarray, "*points features"]:
    found = np.asarray(values, np.float64)
    found = found[None] if found.ndim == 0 and count == 1 else found
    if found.ndim == 0 or found.shape[-1] != count:
        hint = " A grid of one feature is grid[:, None]." if count == 1 else ""
        raise InputError(
            f"{what} has shape {found.shape}, and the last axis must hold {count} features.{hint}"
        )
    return found


def _with(rows: np.ndarray, columns: list[int], settings: np.ndarray) -> np.ndarray:
    """All rows with the columns set to each of the settings in turn."""
    changed = np.repeat(rows[None], len(settings), axis=0)
    changed[:, :, columns] = settings[:, None]
    return changed.reshape(-1, rows.shape[1])


def _change(
    predict: Callable,
    rows: np.ndarray,
    columns: list[int],
    settings: np.ndarray,
    before: Float[np.ndarray, "rows *out"],
) -> tuple[Float[np.ndarray, "points *out"], Float[np.ndarray, "points *out"]]:
    """The mean over rows of what each setting changes, and its standard error."""
    outputs = predictions(predict, _with(rows, columns, settings)).astype(np.float64)
    change = outputs.reshape(len(settings), *before.shape) - before
    mean = change.mean(1)
    if len(rows) < 2:
        return mean, np.full_like(mean, np.nan)
    return mean, change.std(1, ddof=1) / np.sqrt(len(rows))


def _check_identified(graph: Any, features: Sequence[str], inputs: Sequence[str]) -> None:
    others = [name for name in inputs if name not in features]
    found = between_others(graph, list(features), others)
    if found:
        parts = (
            f"{node!r} has causes {sorted(causes)} and effects {sorted(effects)}"
            for node, (causes, effects) in found.items()
        )
        raise InputError(
            f"the direct effect of {list(features)} is not identified: among the other inputs, {', '.join(parts)}. "
            "Take the causes or the effects into features= as well."
        )
