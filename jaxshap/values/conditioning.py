"""Ways to condition: what is learned from the background, and draws given what is present."""

import abc
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.games import read_number
from jaxshap.inputs import spread
from jaxshap.values.normal_draws import Affine, Quantiles, check_draws, check_varies, normal_fill
from jaxshap.values.sampled import Fill


class How(abc.ABC):
    """A way to condition: what it needs is learned from the background once.

    Example:
        >>> import jaxshap
        >>> isinstance(jaxshap.values.Nearby(), jaxshap.values.How)
        True
    """

    @abc.abstractmethod
    def learn(self, background: Any, weights: Any) -> tuple[Fill, int]:
        """Learn how absent features are filled in.

        Args:
            background: the rows to learn from, `(m, features)`.
            weights: how much each of them counts; they add up to 1.

        Returns:
            A pytree function of (coalition, row) that gives inputs `(points, features)` and their
            weights, and how many points it gives.
        """


@dataclasses.dataclass(frozen=True)
class Gaussian(How):
    """Features are normal, with the mean and covariance of the background.

    Args:
        num_samples: draws per coalition, an even number; they come in pairs about the mean, so that
            linear models are exact.
        shrinkage: how far correlations are moved towards 0, in [0, 1); a covariance without an
            inverse needs it.
        key: of the draws, a whole number.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> X = jnp.array([[3.0, 3.0]])
        >>> background = jnp.array([[-1.0, -1.0], [1.0, 1.0]])  # one column is the other
        >>> how = jaxshap.values.Gaussian(shrinkage=0.5)
        >>> game = jaxshap.conditional(lambda x: x[:, 0], X, background, how=how)
        >>> print(np.asarray(jaxshap.shapley_values(game)[:, 0]).round(3))
        [2.25 0.75]
    """

    num_samples: int = 128
    shrinkage: float = 0.0
    key: int = 0

    def __post_init__(self) -> None:
        check_draws(self)

    def learn(self, background, weights) -> tuple[Fill, int]:
        check_varies(background)
        margins = Affine(weights @ background, spread(background, weights))
        return normal_fill(margins, margins.scores(background), weights, self)


@dataclasses.dataclass(frozen=True)
class Copula(How):
    """Features have the margins of the background and, as normal scores, its correlations.

    For continuous features.

    Args:
        num_samples: draws per coalition, an even number; they come in pairs.
        shrinkage: how far correlations are moved towards 0, in [0, 1).
        key: of the draws, a whole number.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> background = jnp.array([[0.0, 0.1], [1.0, 3.0], [2.0, 1.0], [3.0, 9.0]])
        >>> how = jaxshap.values.Copula()
        >>> game = jaxshap.conditional(lambda x: x[:, 0], background[:1], background, how=how)
        >>> game.name, bool(jaxshap.shapley_values(game)[1, 0] < 0)
        ('conditional (copula)', True)
    """

    num_samples: int = 128
    shrinkage: float = 0.0
    key: int = 0

    def __post_init__(self) -> None:
        check_draws(self)

    def learn(self, background, weights) -> tuple[Fill, int]:
        check_varies(background)
        order = jnp.argsort(background, axis=0)
        ordered = jnp.take_along_axis(jnp.asarray(background), order, axis=0)
        shares = jnp.asarray(weights)[order]
        margins = Quantiles(
            ordered, jax.scipy.stats.norm.ppf(jnp.cumsum(shares, axis=0) - shares / 2)
        )
        scores = margins.scores(background)
        scores = scores - weights @ scores
        scale = jnp.sqrt(weights @ scores**2)
        return normal_fill(margins, scores / scale, weights, self)


@dataclasses.dataclass(frozen=True)
class Nearby(How):
    """Rows of the background, weighted by exp(−d²/2h²); needs no distribution, and many rows.

    d² is the mean over the present features of squared distances in standard deviations.

    Args:
        bandwidth: h, in standard deviations.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> X, background = jnp.array([[2.0, 2.0]]), jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> how = jaxshap.values.Nearby()
        >>> game = jaxshap.conditional(lambda x: x[:, 0], X, background, how=how)
        >>> print(np.asarray(jaxshap.shapley_values(game)[:, 0]).round(3))
        [0.5 0.5]
    """

    bandwidth: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", read_number(self.bandwidth, "bandwidth", above=0))

    def learn(self, background, weights) -> tuple[Fill, int]:
        scale = spread(background, weights) * self.bandwidth
        return _NearbyFill(background, jnp.asarray(weights), scale), len(background)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _NearbyFill:
    background: Float[Array | np.ndarray, "m features"]
    weights: Float[Array | np.ndarray, "m"]
    scale: Float[Array | np.ndarray, "features"]

    def __call__(
        self,
        coalition: Bool[Array | np.ndarray, "features"],
        row: Float[Array | np.ndarray, "features"],
    ):
        gaps = jnp.where(coalition, (row - self.background) / self.scale, 0)
        size = jnp.maximum(coalition.sum(), 1).astype(gaps.dtype)
        counts = self.weights > 0
        logits = jnp.log(jnp.where(counts, self.weights, 1)) - 0.5 * (gaps**2).sum(1) / size
        return jnp.where(coalition, row, self.background), jax.nn.softmax(logits, where=counts)
