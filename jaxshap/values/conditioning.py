"""Ways to condition: what is learned from the background, and inputs drawn given what is present."""

import dataclasses
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Bool, Float

from jaxshap.errors import InputError
from jaxshap.inputs import spread
from jaxshap.values.sampled import Fill

# of the correlations, below which float32 cannot tell a column from a combination of others
MIN_EIGENVALUE = 1e-5


@runtime_checkable
class How(Protocol):
    """A way to condition: what it needs is learned from the background once."""

    def learn(
        self, background: Float[Array, "m features"], weights: Float[Array, "m"]
    ) -> tuple[Fill, int]:
        """The filling, and how many points it gives."""
        ...


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """Features are normal with the mean and covariance of the background.

    `num_samples` draws a coalition, in pairs about the mean, so that linear models are exact.
    `shrinkage` moves correlations towards 0, which a covariance without an inverse needs.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> X, background = jnp.array([[3.0, 3.0]]), jnp.array([[-1.0, -1.0], [1.0, 1.0]])  # one column is the other
        >>> game = jaxshap.conditional(lambda x: x[:, 0], X, background, how=jaxshap.values.Gaussian(shrinkage=0.5))
        >>> print(np.asarray(jaxshap.shapley_values(game)[:, 0]).round(3))
        [2.25 0.75]
    """

    num_samples: int = 128
    shrinkage: float = 0.0
    key: int = 0

    def learn(self, background, weights) -> tuple[Fill, int]:
        _check_varies(background)
        margins = _Affine(weights @ background, spread(background, weights))
        return _normal_fill(margins, margins.scores(background), weights, self)


@dataclasses.dataclass(frozen=True)
class Copula:
    """Features have the margins of the background and, as normal scores, its correlations. For
    continuous features.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> background = jnp.array([[0.0, 0.1], [1.0, 3.0], [2.0, 1.0], [3.0, 9.0]])
        >>> game = jaxshap.conditional(lambda x: x[:, 0], background[:1], background, how=jaxshap.values.Copula())
        >>> game.name, bool(jaxshap.shapley_values(game)[1, 0] < 0)
        ('conditional (copula)', True)
    """

    num_samples: int = 128
    shrinkage: float = 0.0
    key: int = 0

    def learn(self, background, weights) -> tuple[Fill, int]:
        _check_varies(background)
        order = jnp.argsort(background, axis=0)
        ordered = jnp.take_along_axis(jnp.asarray(background), order, axis=0)
        shares = jnp.asarray(weights)[order]
        margins = _Quantiles(
            ordered, jax.scipy.stats.norm.ppf(jnp.cumsum(shares, axis=0) - shares / 2)
        )
        scores = margins.scores(background)
        scores = scores - weights @ scores
        scale = jnp.sqrt(weights @ scores**2)
        return _normal_fill(margins, scores / scale, weights, self)


@dataclasses.dataclass(frozen=True)
class Nearby:
    """Rows of the background, weighted by exp(−d²/2h²): d² is the mean over S of squared distances
    in standard
    deviations, h the `bandwidth`. Needs no distribution, and many rows.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> X, background = jnp.array([[2.0, 2.0]]), jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> game = jaxshap.conditional(lambda x: x[:, 0], X, background, how=jaxshap.values.Nearby())
        >>> print(np.asarray(jaxshap.shapley_values(game)[:, 0]).round(3))
        [0.5 0.5]
    """

    bandwidth: float = 0.1

    def learn(self, background, weights) -> tuple[Fill, int]:
        if not self.bandwidth > 0:
            raise InputError(
                f"bandwidth={self.bandwidth}: pass a positive number of standard deviations."
            )
        scale = spread(background, weights) * self.bandwidth
        return _NearbyFill(background, jnp.asarray(weights), scale), len(background)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _NearbyFill:
    background: Float[Array, "m features"]
    weights: Float[Array, "m"]
    scale: Float[Array, "features"]

    def __call__(self, coalition: Bool[Array, "features"], row: Float[Array, "features"]):
        gaps = jnp.where(coalition, (row - self.background) / self.scale, 0)
        size = jnp.maximum(coalition.sum(), 1).astype(gaps.dtype)
        counts = self.weights > 0
        logits = jnp.log(jnp.where(counts, self.weights, 1)) - 0.5 * (gaps**2).sum(1) / size
        return jnp.where(coalition, row, self.background), jax.nn.softmax(logits, where=counts)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Affine:
    mean: Float[Array, "features"]
    scale: Float[Array, "features"]

    def scores(self, rows):
        return (rows - self.mean) / self.scale

    def back(self, scores):
        return self.mean + self.scale * scores


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Quantiles:
    """Values of each feature in order, and the normal scores of their ranks."""

    ordered: Float[Array, "m features"]
    at: Float[Array, "m features"]

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
    correlations: Float[Array, "features features"]
    draws: Float[Array, "k features"]
    num_draws: int = dataclasses.field(
        metadata={"static": True}
    )  # in all, of which `draws` are some

    def only(self, start: Any, size: int) -> "_NormalFill":
        draws = jax.lax.dynamic_slice_in_dim(self.draws, start, size)
        return dataclasses.replace(self, draws=draws)

    def __call__(self, coalition: Bool[Array, "features"], row: Float[Array, "features"]):
        known = coalition[:, None] & coalition
        factor = jnp.linalg.cholesky(
            jnp.where(known, self.correlations, jnp.eye(len(row), dtype=row.dtype))
        )
        gap = jnp.where(coalition, self.margins.scores(row[None]) - self.draws, 0)
        moved = self.draws + cho_solve((factor, True), gap.T).T @ self.correlations
        weights = jnp.full(len(self.draws), 1 / self.num_draws, row.dtype)
        return jnp.where(coalition, row, self.margins.back(moved)), weights


def _normal_fill(margins, scores, weights, how: Gaussian | Copula) -> tuple[Fill, int]:
    if how.num_samples < 2 or how.num_samples % 2 or not 0 <= how.shrinkage < 1:
        raise InputError(
            f"{how}: num_samples is an even number, since draws come in pairs, and shrinkage in [0, 1)."
        )
    number = scores.shape[1]
    correlations = jnp.einsum("m,mi,mj->ij", weights, scores, scores, precision="highest")
    eye = jnp.eye(number, dtype=correlations.dtype)
    correlations = jnp.where(eye > 0, 1, (1 - how.shrinkage) * correlations)
    _check_regular(correlations)
    half = jax.random.normal(
        jax.random.key(how.key), (how.num_samples // 2, number), correlations.dtype
    )
    half = half @ jnp.linalg.cholesky(correlations).T
    draws = jnp.stack([half, -half], axis=1).reshape(how.num_samples, number)
    return _NormalFill(margins, correlations, draws, how.num_samples), how.num_samples


def _check_varies(background: Float[Array, "m features"]) -> None:
    if not isinstance(background, Tracer) and len(
        constant := np.flatnonzero(np.ptp(np.asarray(background), 0) == 0)
    ):
        raise InputError(
            f"columns {constant.tolist()} of the background do not vary, so nothing can be learned about them: leave "
            "them out, or use how=jaxshap.values.Nearby()."
        )


def _check_regular(correlations: Float[Array, "features features"]) -> None:
    if isinstance(correlations, Tracer):
        return
    values, vectors = np.linalg.eigh(np.asarray(correlations, np.float64))
    if values[0] < MIN_EIGENVALUE:
        involved = np.flatnonzero(np.abs(vectors[:, 0]) > 0.5 / np.sqrt(len(values))).tolist()
        raise InputError(
            f"the covariance of the background is singular: columns {involved} are, or nearly are, a linear "
            "combination of each other, or there are too few rows. Leave columns out, pass more rows, "
            "shrinkage=0.05, or how=jaxshap.values.Nearby()."
        )
