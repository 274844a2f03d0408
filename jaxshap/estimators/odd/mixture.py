"""The prior covariance of the odd or the even part of a game: one mixture of kernels that owns all
its read-outs.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.estimators.odd.kernels import (
    pair_cross,
    pair_variance,
    sign_kernel,
    value_cross,
    value_variance,
    white_pair_cross,
    white_pair_variance,
    white_value_cross,
    white_value_variance,
)

ROUGHNESS_RATIO = 8.0  # θ of the rough component over θ of the smooth one


class ReadOut(NamedTuple):
    """Covariance of the quantities that are asked for with each row, and their prior variance."""

    cross: Float[Array, "m k"]
    variance: Float[Array, "k"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SignMixture:
    """k_θ + w k_{8θ} + ν 1[z = z'], up to a scale: the covariance of half a game at signs z and z'.

    ν belongs to the game and is not noise, so that enumerating all pairs is exact. The odd part
    gives the Shapley values, the even part the interactions of two players. Hyperparameters are
    logarithms; an array of them for several outputs has the outputs first.
    """

    log_theta: Float[Array, "*outputs n"]
    log_nu: Float[Array, "*outputs"]
    log_w: Float[Array, "*outputs"]
    odd: bool = dataclasses.field(metadata={"static": True})

    def covariance(self, signs: Float[Array, "m n"]) -> Float[Array, "m m"]:
        """Of distinct rows with each other."""
        white = jnp.exp(self.log_nu) * jnp.eye(len(signs), dtype=signs.dtype)
        return self.between(signs, signs) + white

    def between(
        self, signs: Float[Array, "m n"], others: Float[Array, "k n"]
    ) -> Float[Array, "m k"]:
        """The part of the covariance that rows share with other rows: all but ν."""
        smooth, rough = (
            weight * sign_kernel((signs * theta) @ others.T, theta.sum(), self.odd)
            for theta, weight in self._components()
        )
        return smooth + rough

    def read_out(self, signs: Float[Array, "m n"]) -> ReadOut:
        """Of the Shapley values, or of the interactions I_ij in the order of `np.triu_indices`."""
        return self._of_values(signs) if self.odd else self._of_pairs(signs)

    def _of_values(self, signs: Float[Array, "m n"]) -> ReadOut:
        cross = jnp.exp(self.log_nu) * white_value_cross(signs)
        variance = jnp.exp(self.log_nu) * white_value_variance(signs.shape[1])
        for theta, weight in self._components():
            cross = cross + weight * value_cross(signs, theta)
            variance = variance + weight * value_variance(theta)
        return ReadOut(cross, variance)

    def _of_pairs(self, signs: Float[Array, "m n"]) -> ReadOut:
        cross = jnp.exp(self.log_nu) * white_pair_cross(signs)
        variance = jnp.exp(self.log_nu) * white_pair_variance(signs.shape[1])
        for theta, weight in self._components():
            cross = cross + weight * pair_cross(signs, theta)
            variance = variance + weight * pair_variance(theta)
        first, second = np.triu_indices(signs.shape[1], 1)
        return ReadOut(cross[:, first, second], variance[first, second])

    def _components(self) -> tuple[tuple[Float[Array, "n"], Float[Array, ""]], ...]:
        """θ and the weight of the smooth and of the rough kernel."""
        theta, w = jnp.exp(self.log_theta), jnp.exp(self.log_w)
        return (theta, jnp.ones_like(w)), (ROUGHNESS_RATIO * theta, w)
