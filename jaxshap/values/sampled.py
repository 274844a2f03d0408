"""Games in which what is absent depends on what is present: inputs and weights for each row and
coalition.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.engine import byte_limit
from jaxshap.games import Game, Host, as_pytree
from jaxshap.values.masked import (
    again,
    bytes_per_point_of,
    check_finite,
    check_outputs,
    weighted_sum,
)

Fill = Callable[
    [Bool[Array, "features"], Float[Array, "features"]],
    tuple[Float[Array, "points features"], Float[Array, "points"]],
]


def filled_game(
    model: Callable,
    rows: Float[Array, "rows features"],
    fill: Fill,
    num_points: int,
    bytes_per_row: int,
    name: str,
) -> Game:
    """v(S) = Σ_k w_k model(z_k) for every row x, where z, w = fill(S, x): `num_points` inputs and
    their weights.

    `fill` is a pytree that JAX can trace and needs `bytes_per_row`; the model may run on the host.
    """
    num_features = rows.shape[1]
    if isinstance(model, Host):
        rows_at_once = max(
            1, byte_limit() // (bytes_per_row + 8 * num_points * num_features * rows.dtype.itemsize)
        )
        filled = HostFilled(model, np.asarray(rows), fill, rows_at_once)
        ends = filled(np.stack([np.zeros(num_features, bool), np.ones(num_features, bool)]))
        value: Any = Host(filled, min(len(rows), rows_at_once) * bytes_per_row)
    else:
        model = as_pytree(model)
        a_row = bytes_per_row + num_points * bytes_per_point_of(model, rows)
        value = Filled(model, jax.device_put(rows), fill, max(1, byte_limit() // a_row))
        ends = _ends(value, num_features)
    empty, full = ends
    check_finite(empty, len(rows), "row with everything absent")
    check_finite(full, len(rows), "row")
    return Game(value, jax.device_put(empty), jax.device_put(full), num_features, name)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Filled:
    """The weighted mean of the model over what `fill` gives, `rows_at_once` a call."""

    model: Callable
    rows: Float[Array, "rows features"]
    fill: Fill
    rows_at_once: int = dataclasses.field(metadata={"static": True})

    def __call__(self, coalition: Bool[Array, "features"]) -> Float[Array, "rows *out"]:
        @again
        def of_row(row):
            inputs, weights = self.fill(coalition, row)
            return weighted_sum(weights, self.model(inputs)[None])[0]

        return jax.lax.map(of_row, self.rows, batch_size=min(self.rows_at_once, len(self.rows)))


@jax.jit
def _ends_of(filled: Filled, both: Bool[Array, "2 features"]) -> Float[Array, "2 rows *out"]:
    return jax.lax.map(filled, both)


def _ends(filled: Filled, num_features: int) -> Float[Array, "2 rows *out"]:
    return _ends_of(
        filled, jnp.stack([jnp.zeros(num_features, bool), jnp.ones(num_features, bool)])
    )


@dataclasses.dataclass(frozen=True, eq=False)
class HostFilled:
    """The same with a model in numpy: JAX fills, some rows of one coalition at a time."""

    model: Host
    rows: Float[np.ndarray, "rows features"]
    fill: Fill
    rows_at_once: int

    def __call__(
        self, coalitions: Bool[np.ndarray, "m features"]
    ) -> Float[np.ndarray, "m rows *out"]:
        starts = range(0, len(self.rows), self.rows_at_once)
        blocks = [self.rows[start : start + self.rows_at_once] for start in starts]
        return np.stack(
            [np.concatenate([self._mean(one, block) for block in blocks]) for one in coalitions]
        )

    def _mean(self, coalition, rows) -> Float[np.ndarray, "rows *out"]:
        inputs, weights = (np.asarray(part) for part in _fill_rows(self.fill, coalition, rows))
        outputs = self.model(inputs.reshape(-1, inputs.shape[-1]).astype(self.rows.dtype))
        check_outputs(outputs.shape, outputs.dtype, inputs.shape[0] * inputs.shape[1])
        outputs = outputs.reshape(*inputs.shape[:2], *outputs.shape[1:])
        return np.einsum("rk,rk...->r...", weights, outputs)


@jax.jit
def _fill_rows(fill: Fill, coalition, rows):
    return jax.vmap(fill, (None, 0))(coalition, rows)
