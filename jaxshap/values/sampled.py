"""Games in which what is absent depends on what is present: inputs and weights per row and
coalition.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine import byte_limit, jitted_with_model
from jaxshap.games import Game, Host, as_pytree, as_worths, widened
from jaxshap.inputs import check_finite, check_outputs
from jaxshap.values.masked import rematerialise
from jaxshap.values.outputs import bytes_per_point_of, weighted_sum

# (coalition, row) -> inputs (points, features) and their weights; a pytree. One whose points are
# independent draws has `num_draws`, and `only(start, size)` for some of them.
Fill = Callable[[Any, Any], tuple[Any, Any]]
PAIR = 2  # draws come in pairs about the mean: a stratum keeps pairs together


def filled_game(
    model: Callable,
    rows: Any,
    fill: Fill,
    num_points: int,
    bytes_per_row: int,
    name: str,
    absent: str,
) -> Game:
    """v(S) = Σ_k w_k model(z_k) for every row x, where z, w = fill(S, x) has `num_points` inputs.

    `fill` is a pytree that JAX can trace and needs `bytes_per_row`; the model may run on the host.
    """
    num_features = rows.shape[1]
    both = np.stack([np.zeros(num_features, bool), np.ones(num_features, bool)])
    if isinstance(model, Host):
        per_row = bytes_per_row + 8 * num_points * num_features * rows.dtype.itemsize
        rows_at_once = max(1, byte_limit() // per_row)
        filled = HostFilled(model, np.asarray(rows), fill, rows_at_once)
        empty, full = filled(both)
        value: Any = Host(filled, min(len(rows), rows_at_once) * bytes_per_row)
    else:
        model = as_pytree(model)
        per_row = bytes_per_row + num_points * bytes_per_point_of(model, rows)
        value = Filled(model, jax.device_put(rows), fill, max(1, byte_limit() // per_row))
        empty, full = _worths(value, jax.device_put(both))
    check_finite(empty, len(rows), "row with everything absent")
    check_finite(full, len(rows), "row")
    return Game(value, empty, full, num_features, name, absent)


class _DrawnStrata:
    """The strata of a game whose points are draws: pairs of them, or some pairs at a time."""

    fill: Any
    stratum_size: int
    rows: Any

    @property
    def strata(self) -> Any:
        return self if hasattr(self.fill, "only") else None

    @property
    def num_strata(self) -> int:
        return -(-self.fill.num_draws // self.stratum_size)

    def merged(self, size: int) -> Any:
        larger = self.stratum_size * size
        return dataclasses.replace(self, stratum_size=larger)  # pyright: ignore[reportArgumentType]

    def weights_of_strata(self) -> Float[np.ndarray, "strata"]:
        count = self.num_strata
        sizes = np.full(count, self.stratum_size)
        sizes[-1] = self.fill.num_draws - self.stratum_size * (count - 1)
        return sizes / self.fill.num_draws

    def some_draws(self, stratum: Any) -> Any:
        return self.fill.only(stratum * self.stratum_size, self.stratum_size)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Filled(_DrawnStrata):
    """The weighted mean of the model over what `fill` gives, `rows_at_once` per call."""

    model: Callable
    rows: Float[Array | np.ndarray, "rows features"]
    fill: Fill
    rows_at_once: int = dataclasses.field(metadata={"static": True})
    stratum_size: int = dataclasses.field(default=PAIR, metadata={"static": True})

    def __call__(
        self, coalition: Bool[Array | np.ndarray, "features"]
    ) -> Float[Array | np.ndarray, "rows *out"]:
        return self._sum(self.fill, coalition)

    def in_stratum(
        self, stratum: Int[Array | np.ndarray, ""], coalition: Bool[Array | np.ndarray, "features"]
    ) -> Float[Array | np.ndarray, "rows *out"]:
        return self._sum(self.some_draws(stratum), coalition)

    def empties(self) -> Float[Array | np.ndarray, "strata rows *out"]:
        return _empties(self, self.num_strata)

    def _sum(self, fill: Fill, coalition) -> Float[Array | np.ndarray, "rows *out"]:
        @rematerialise
        def of_row(row):
            inputs, weights = fill(coalition, widened(row))
            outputs = as_worths(self.model(inputs.astype(row.dtype)))
            return weighted_sum(weights.astype(outputs.dtype), outputs[None])[0]

        return jax.lax.map(of_row, self.rows, batch_size=min(self.rows_at_once, len(self.rows)))


@jitted_with_model
def _worths(
    filled: Filled, coalitions: Bool[Array | np.ndarray, "m n"]
) -> Float[Array | np.ndarray, "m rows *out"]:
    return jax.lax.map(filled, coalitions)


@functools.partial(jitted_with_model, static_argnums=1)
def _empties(filled: Filled, count: int) -> Float[Array | np.ndarray, "count rows *out"]:
    nobody = jnp.zeros(filled.rows.shape[1], bool)
    return jax.lax.map(lambda stratum: filled.in_stratum(stratum, nobody), jnp.arange(count))


@dataclasses.dataclass(frozen=True, eq=False)
class HostFilled(_DrawnStrata):
    """The same with a model in numpy: JAX fills, some rows of one coalition at a time."""

    model: Host
    rows: Float[np.ndarray, "rows features"]
    fill: Fill
    rows_at_once: int
    stratum_size: int = PAIR

    def __call__(
        self, coalitions: Bool[np.ndarray, "m features"]
    ) -> Float[np.ndarray, "m rows *out"]:
        return np.stack([self._sum(self.fill, coalition) for coalition in coalitions])

    def in_stratum(
        self, strata: Int[np.ndarray, "m"], coalitions: Bool[np.ndarray, "m features"]
    ) -> Float[np.ndarray, "m rows *out"]:
        pairs = zip(strata, coalitions, strict=True)
        return np.stack([self._sum(self.some_draws(b), coalition) for b, coalition in pairs])

    def empties(self) -> Float[np.ndarray, "strata rows *out"]:
        count = self.num_strata
        return self.in_stratum(np.arange(count), np.zeros((count, self.rows.shape[1]), bool))

    def _sum(self, fill: Fill, coalition) -> Float[np.ndarray, "rows *out"]:
        starts = range(0, len(self.rows), self.rows_at_once)
        blocks = (self.rows[start : start + self.rows_at_once] for start in starts)
        return np.concatenate([self._mean(fill, coalition, block) for block in blocks])

    def _mean(self, fill: Fill, coalition, rows) -> Float[np.ndarray, "rows *out"]:
        inputs, weights = map(np.asarray, _fill_rows(fill, coalition, widened(rows)))
        outputs = self.model(inputs.reshape(-1, inputs.shape[-1]).astype(self.rows.dtype))
        check_outputs(outputs.shape, outputs.dtype, inputs.shape[0] * inputs.shape[1])
        outputs = outputs.reshape(*inputs.shape[:2], *outputs.shape[1:])
        return np.einsum("rk,rk...->r...", weights, as_worths(outputs))


@jax.jit
def _fill_rows(fill: Fill, coalition, rows):
    return jax.vmap(fill, (None, 0))(coalition, rows)
