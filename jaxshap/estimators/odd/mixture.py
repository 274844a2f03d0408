"""The prior covariance of the odd or the even part of a game: one mixture of kernels that owns all
its read-outs.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxshap.estimators.odd.design import MAX_PLAYERS_IN_TWOS
from jaxshap.estimators.odd.kernels import (
    low_kernel,
    low_value_cross,
    low_value_variance,
    sign_kernel,
    size_kernel,
    size_value_cross,
    value_cross,
    value_variance,
    white_value_cross,
    white_value_variance,
)

CERTAIN = 60.0  # log-odds at which nothing else is left in float64
ROUGHNESS_RATIO = 8.0  # θ of the rough component over θ of the smooth one


class ReadOut(NamedTuple):
    """Covariance of the quantities that are asked for with each row, and their prior variance."""

    cross: Float[Array, "m k"]
    variance: Float[Array, "k"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SignMixture:
    """The covariance of half a game at signs z and z', up to a scale.

    (1 − l) (k_θ + w k_{8θ} + ν 1[z = z']) + l k_low, for the odd part plus c k_size. k_low holds
    products of one and of three signs only, in the even part those of two: all there is where
    interactions stop at four players, and at three. k_size lets the odd part depend on the size of
    a coalition in any way: a game of sizes alone gives all players the same, so it is learned in
    order to be left out. Beyond 48 players, when plans lack sets of two, the odd part does without
    k_low. ν belongs to the game and is not noise, so that enumerating all pairs is
    exact. The odd part gives the Shapley values, and interactions come from both parts (`SetsOf`).
    Hyperparameters are logarithms, of l the log-odds; an array of them for several outputs has the
    outputs first.
    """

    log_theta: Float[Array, "*outputs n"]
    log_nu: Float[Array, "*outputs"]
    log_w: Float[Array, "*outputs"]
    log_size: Float[Array, "*outputs"]
    low_odds: Float[Array, "*outputs"]
    odd: bool = dataclasses.field(metadata={"static": True})

    def only_low(self) -> "SignMixture":
        """The same without products of more than three signs, in the even part of more than two,
        and without ν.
        """
        return dataclasses.replace(self, low_odds=jnp.full_like(self.low_odds, CERTAIN))

    def covariance(self, signs: Float[Array, "m n"]) -> Float[Array, "m m"]:
        """Of distinct rows with each other."""
        return self.between(signs, signs) + self.white * jnp.eye(len(signs), dtype=signs.dtype)

    def between(
        self, signs: Float[Array, "m n"], others: Float[Array, "k n"]
    ) -> Float[Array, "m k"]:
        """The part of the covariance that rows share with other rows: all but ν."""
        theta = jnp.exp(self.log_theta)
        inner, total = (signs * theta) @ others.T, theta.sum()  # one product for all three kernels
        smooth, rough = (
            weight * sign_kernel(factor * inner, factor * total, self.odd)
            for factor, weight in self._factors_and_weights()
        )
        shared = smooth + rough
        if self.has_low:
            low = low_kernel(inner, signs, others, theta, self.odd)
            shared = shared + jax.nn.sigmoid(self.low_odds) * low
        if not self.odd:
            return shared
        return shared + jnp.exp(self.log_size) * size_kernel(signs, others)

    def read_out(self, signs: Float[Array, "m n"]) -> ReadOut:
        """Of the Shapley values."""
        num_players, theta = signs.shape[1], jnp.exp(self.log_theta)
        size = jnp.exp(self.log_size)
        cross = self.white * white_value_cross(signs) + size * size_value_cross(signs)
        variance = self.white * white_value_variance(num_players) + size * (2 / num_players) ** 2
        if self.has_low:
            low = jax.nn.sigmoid(self.low_odds)
            cross = cross + low * low_value_cross(signs, theta)
            variance = variance + low * low_value_variance(theta)
        thetas, weights = map(jnp.stack, zip(*self.components(), strict=True))
        crosses = jax.vmap(value_cross, (None, 0))(signs, thetas)  # both in one, compiled once
        cross = cross + (weights[:, None, None] * crosses).sum(0)
        return ReadOut(cross, variance + weights @ jax.vmap(value_variance)(thetas))

    @property
    def has_low(self) -> bool:
        """Whether products of few signs have a kernel of their own."""
        return not self.odd or self.log_theta.shape[-1] <= MAX_PLAYERS_IN_TWOS

    @property
    def _all_orders(self) -> Float[Array, ""]:
        """1 − l: the share of the kernels that hold products of any number of signs."""
        return jax.nn.sigmoid(-self.low_odds)

    @property
    def white(self) -> Float[Array, ""]:
        return self._all_orders * jnp.exp(self.log_nu)

    def components(self) -> tuple[tuple[Float[Array, "n"], Float[Array, ""]], ...]:
        """θ and the weight of the smooth and of the rough kernel."""
        theta = jnp.exp(self.log_theta)
        smooth, rough = self._factors_and_weights()
        return (smooth[0] * theta, smooth[1]), (rough[0] * theta, rough[1])

    def _factors_and_weights(self) -> tuple[tuple[float, Float[Array, ""]], ...]:
        """Of θ, and of the kernel."""
        share = self._all_orders
        return (1.0, share), (ROUGHNESS_RATIO, share * jnp.exp(self.log_w))
