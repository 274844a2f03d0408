"""Predictors that average protected features out of a model."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.causal.direct_effects import listed_columns
from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.games import Host, as_numbers, as_pytree
from jaxshap.inputs import own_columns, read_inputs, read_model, read_table, read_weights
from jaxshap.values import (
    HostMasked,
    Masked,
    bytes_per_point_of,
    checked_table,
    checked_weights,
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)  # hashed by identity, so that jit can take it
class FairPredictor:
    """The mean of a model over the protected features of some rows, as `fair_predictor` makes it.

    A pytree: jit, vmap and grad work with it, and gradients reach the model's parameters. It is
    called with rows as the model takes them, (rows, features), or with a DataFrame.

    Attributes:
        model: the model, a function of a batch of rows.
        references: rows with each combination of the protected features once.
        weights: the share of each combination in the background, summing to 1.
        present: which features are not protected.
        columns: the names of the background's columns, or None.
        block: the most points per call of the model.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 0.0]])
        >>> fair = jaxshap.causal.fair_predictor(lambda x: x[:, 0] + x[:, 1], background, 0)
        >>> fair.present.tolist(), fair.weights.tolist()
        ([False, True], [0.5, 0.5])
    """

    model: Callable
    references: Any  # Float[Array, "references features"]; gradients have other leaves
    weights: Any  # Float[Array, "references"]
    present: Any  # Bool[Array, "features"]
    columns: tuple[str, ...] | None = dataclasses.field(metadata={"static": True})
    block: int = dataclasses.field(metadata={"static": True})

    def __call__(self, rows: Any) -> Float[Array, "rows *out"]:
        table = jnp.asarray(_matched(rows, self.columns, len(self.present)))
        references = self.references.astype(table.dtype)
        players = len(self.present)
        masked = Masked(self.model, table, references, self.weights, None, players, self.block)
        return jnp.asarray(masked(self.present))


def fair_predictor(
    model: Any,
    background: Any,
    protected: str | int | Sequence[str | int],
    *,
    feature_names: Sequence[str] | None = None,
) -> FairPredictor | Host:
    """The model without the protected features: the mean of f(x, a) over a in the background.

    That is the model less every term of its functional decomposition that has a protected feature.
    Other features cannot stand in for these, as they do in a model that is trained without them.
    Exact for the background. Lindholm et al. (2022).

    Args:
        model: what `explain` takes: a function f of a batch of rows, or a fitted model.
        background: the rows that say how the protected features are distributed; may be
            `WeightedRows`.
        protected: the protected features, by name or number.
        feature_names: the names of the features where the background has none.

    Returns:
        A function of rows like the model's, whose protected columns it ignores: a `FairPredictor`
        for a model in JAX, a `host` function for any other. `explain` takes either.

    Raises:
        InputError: where no or unknown columns are protected; from the predictor, where its rows
            lack columns.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 0.0]])
        >>> fair = jaxshap.causal.fair_predictor(lambda x: x[:, 0] + x[:, 1], background, 0)
        >>> fair(background).tolist()
        [1.5, 2.5, 3.5, 0.5]
    """
    table, _ = read_weights(background)
    inputs = read_inputs(table, background, None, own_columns(model, table, feature_names))
    columns = listed_columns(protected, inputs.names, "protected=")
    predict = read_model(model, inputs).predict
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    shares = checked_weights(inputs.options.get("weights"), len(rows), rows)
    _, first, which = np.unique(rows[:, columns], axis=0, return_index=True, return_inverse=True)
    references = rows[first]  # each combination once
    weights = np.bincount(which.ravel(), shares).astype(rows.dtype)
    present = ~np.isin(np.arange(rows.shape[1]), columns)
    if isinstance(predict, Host):
        block = max(1, byte_limit() // (8 * rows[:1].nbytes))

        def on_host(batch):
            matched = np.asarray(_matched(batch, inputs.columns, len(present)))
            players = len(present)
            masked = HostMasked(predict, matched, references, weights, None, players, block)
            return masked(present[None])[0]

        return Host(on_host)
    predict = as_pytree(predict)
    block = max(1, byte_limit() // bytes_per_point_of(predict, rows))
    references, weights, present = map(jnp.asarray, (references, weights, present))
    return FairPredictor(predict, references, weights, present, inputs.columns, block)


def _matched(rows: Any, columns: tuple[str, ...] | None, width: int) -> Any:
    """Rows as wide as the model takes them; where both sides have names, matched by name."""
    named = columns and hasattr(rows, "columns")
    rows = read_table(rows, "the table", columns).array if named else rows
    table = as_numbers(rows, "the table")
    shape = np.shape(table)
    if len(shape) != 2 or shape[1] != width or not shape[0]:
        raise InputError(
            f"the rows have shape {shape}: pass (rows, {width}), the protected features among them."
        )
    return table
