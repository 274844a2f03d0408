"""Normal scores of features, and draws of absent ones given those that are present."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError
from jaxshap.games import full_precision, read_number, read_whole
from jaxshap.values.sampled import Fill

# of the correlations, below which float32 cannot tell a column from a combination of others
MIN_EIGENVALUE = 1e-5


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Affine:
    mean: Float[Array | np.ndarray, "features"]
    scale: Float[Array | np.ndarray, "features"]

    def scores(self, rows):
        return (rows - self.mean) / self.scale

    def back(self, scores):
        return self.mean + self.scale * scores


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Quantiles:
    """Values of each feature in order, and the normal scores of their ranks."""

    ordered: Float[Array | np.ndarray, "m features"]
    at: Float[Array | np.ndarray, "m features"]

    def scores(self, rows):
        """Between those of neighbours; of a value that occurs often, the middle of its ranks."""
        from_below = _interpolated(rows, self.ordered, self.at)
        return (from_below - _interpolated(-rows, -self.ordered[::-1], -self.at[::-1])) / 2

    def back(self, scores):
        return _interpolated(scores, self.at, self.ordered)


def _interpolated(points, knots, values):
    return jax.vmap(jnp.interp, in_axes=-1, out_axes=-1)(points, knots, values)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _NormalFill:
    """Draws of all features, moved to what is known: z + Σ_{·S} Σ_SS⁻¹ (x_S − z_S) has the
    conditional law.
    """

    margins: Any
    correlations: Float[Array | np.ndarray, "features features"]
    draws: Float[Array | np.ndarray, "k features"]
    num_draws: int = dataclasses.field(
        metadata={"static": True}
    )  # in all, of which `draws` are some

    def only(self, start: Any, size: int) -> "_NormalFill":
        draws = jax.lax.dynamic_slice_in_dim(self.draws, start, size)
        return dataclasses.replace(self, draws=draws)

    @full_precision
    def __call__(
        self,
        coalition: Bool[Array | np.ndarray, "features"],
        row: Float[Array | np.ndarray, "features"],
    ):
        known = coalition[:, None] & coalition
        factor = jnp.linalg.cholesky(
            jnp.where(known, self.correlations, jnp.eye(len(row), dtype=row.dtype))
        )
        gap = jnp.where(coalition, self.margins.scores(row[None]) - self.draws, 0)
        moved = self.draws + cho_solve((factor, True), gap.T).T @ self.correlations
        weights = jnp.full(len(self.draws), 1 / self.num_draws, row.dtype)
        return jnp.where(coalition, row, self.margins.back(moved)), weights


def check_draws(how: Any) -> None:
    """Refuse a number of draws, a shrinkage or a key that is none; a fraction becomes a float."""
    if read_whole(how.num_samples, "num_samples", 2) % 2:
        raise InputError(
            f"num_samples={how.num_samples}: pass an even number, since draws come in pairs."
        )
    shrinkage = read_number(how.shrinkage, "shrinkage", least=0, below=1)
    object.__setattr__(how, "shrinkage", shrinkage)
    read_whole(how.key, "key", -(2**63), 2**63 - 1)


@full_precision
def normal_fill(margins, scores, weights, how: Any) -> tuple[Fill, int]:
    number = scores.shape[1]
    correlations = jnp.einsum("m,mi,mj->ij", weights, scores, scores)
    eye = jnp.eye(number, dtype=correlations.dtype)
    correlations = jnp.where(eye > 0, 1, (1 - how.shrinkage) * correlations)
    _check_regular(correlations)
    num_samples = int(how.num_samples)
    half = jax.random.normal(
        jax.random.key(int(how.key)), (num_samples // 2, number), correlations.dtype
    )
    half = half @ jnp.linalg.cholesky(correlations).T
    draws = jnp.stack([half, -half], axis=1).reshape(num_samples, number)
    return _NormalFill(margins, correlations, draws, num_samples), num_samples


def check_varies(background: Float[Array | np.ndarray, "m features"]) -> None:
    if not isinstance(background, Tracer) and len(
        constant := np.flatnonzero(np.ptp(np.asarray(background), 0) == 0)
    ):
        raise InputError(
            f"columns {constant.tolist()} of the background do not vary, so nothing can be learned "
            "about them: leave "
            "them out, or use how=jaxshap.values.Nearby()."
        )


def _check_regular(correlations: Float[Array | np.ndarray, "features features"]) -> None:
    if isinstance(correlations, Tracer):
        return
    values, vectors = np.linalg.eigh(np.asarray(correlations, np.float64))
    if values[0] < MIN_EIGENVALUE:
        involved = np.flatnonzero(np.abs(vectors[:, 0]) > 0.5 / np.sqrt(len(values))).tolist()
        raise InputError(
            f"the covariance of the background is singular: columns {involved} are, or nearly are, "
            "a linear "
            "combination of each other, or there are too few rows. Leave columns out, pass more "
            "rows, "
            "shrinkage=0.05, or how=jaxshap.values.Nearby()."
        )
