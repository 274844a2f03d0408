"""Intervals around estimates, and the Bayesian regression of BayesSHAP."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Float, Key

from jaxshap.engine import evaluate
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Estimate
from jaxshap.games import Game, draw_independent, kernel_mass


class Interval(NamedTuple):
    lower: Float[Array, "n *out"]
    upper: Float[Array, "n *out"]


def interval(estimate: Estimate, level: float = 0.95, degrees: int | None = None) -> Interval:
    """values ± quantile · std_error: normal, or Student's t when the error itself comes from
    `degrees` + 1 draws.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> found = jaxshap.Estimate(jnp.array([1.0, 2.0]), jnp.array([0.5, 0.0]))
        >>> lower, upper = jaxshap.trust.interval(found, level=0.95)
        >>> print(np.asarray(lower).round(2), np.asarray(upper).round(2))
        [0.02 2.  ] [1.98 2.  ]
    """
    half = _quantile(level, degrees) * estimate.std_error
    return Interval(estimate.values - half, estimate.values + half)


class BayesPosterior(NamedTuple):
    """What coalitions tell of the values: Student's t with one degree of freedom a coalition,
    centred at `values`.

    The scatter `scale` is that of the game about an additive one, so the intervals also answer for
    what no additive game can explain; they are wider than the error of an estimator, and values
    need not sum to v(N) − v(∅).
    """

    values: Float[Array, "n *out"]
    covariance: Float[Array, "n n"]
    scale: Float[Array, "*out"]
    num_coalitions: int

    def std_error(self) -> Float[Array, "n *out"]:
        """The scale of each marginal distribution."""
        return jnp.sqrt(jnp.multiply.outer(jnp.diag(self.covariance), self.scale))

    def interval(self, level: float = 0.95) -> Interval:
        """Credible intervals."""
        return interval(Estimate(self.values, self.std_error()), level, self.num_coalitions)

    def draw(self, key: Key[Array, ""], count: int) -> Float[Array, "count n *out"]:
        """Values drawn from the posterior."""
        scatter, direction = jax.random.split(key)
        num_players, dtype = len(self.values), self.values.dtype
        squares = jax.random.chisquare(
            scatter, self.num_coalitions, (count, *self.scale.shape), dtype
        )
        sigma = jnp.sqrt(self.num_coalitions * self.scale / squares)
        normal = jax.random.normal(direction, (count, num_players, *self.scale.shape), dtype)
        spread = jnp.einsum("ij,cj...->ci...", jnp.linalg.cholesky(self.covariance), normal)
        return self.values + sigma[:, None] * spread

    def error_density(self) -> Float[Array, "*out"]:
        """The density at 0 of what the additive game leaves unexplained of one worth: higher is a
        better fit.
        """
        half = self.num_coalitions / 2
        peak = math.exp(math.lgamma(half + 0.5) - math.lgamma(half)) / math.sqrt(
            math.pi * self.num_coalitions
        )
        return peak / jnp.sqrt(self.scale)

    def more_evaluations(self, width: float, level: float = 0.95) -> int:
        """Coalitions still to evaluate until every interval is at most this wide, upper less lower."""
        lower, upper = self.interval(level)
        widest = float(jnp.max(upper - lower))
        return max(0, math.ceil(self.num_coalitions * ((widest / width) ** 2 - 1)))


def bayes_shap(key: Key[Array, ""] | int, game: Game, budget: int) -> BayesPosterior:
    """BayesSHAP: Bayesian linear regression on coalitions drawn by the Shapley kernel. Slack et al.
    (2021).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> print(np.asarray(jaxshap.trust.bayes_shap(0, game, budget=500).values).round(1))
        [1. 2. 3.]
    """
    if budget < 3:
        raise BudgetError(f"budget={budget} does not buy one coalition: pass budget=3 or more.")
    key = jax.random.key(key) if isinstance(key, int) else key
    mass = kernel_mass(game.num_players)
    coalitions = draw_independent(key, game.num_players, budget - 2, mass)
    return posterior(coalitions, evaluate(game, coalitions) - game.empty)


def posterior(
    coalitions: Float[Array, "m n"],
    gains: Float[Array, "m *out"],
    weights: Float[Array, "m"] | None = None,
) -> BayesPosterior:
    """V = (Z'ΠZ + I)⁻¹, φ̂ = VZ'ΠY and s² = [(Y − Zφ̂)'Π(Y − Zφ̂) + φ̂'φ̂]/N, for gains Y = v(S) −
    v(∅).
    """
    design = coalitions.astype(gains.dtype)
    flat = gains.reshape(len(gains), -1)
    weight = (
        jnp.ones((len(gains), 1), gains.dtype)
        if weights is None
        else weights[:, None].astype(gains.dtype)
    )
    identity = jnp.eye(design.shape[1], dtype=gains.dtype)
    covariance = cho_solve(cho_factor((weight * design).T @ design + identity), identity)
    values = covariance @ ((weight * design).T @ flat)
    scale = ((weight * (flat - design @ values) ** 2).sum(0) + (values**2).sum(0)) / len(gains)
    shape = gains.shape[1:]
    return BayesPosterior(values.reshape(-1, *shape), covariance, scale.reshape(shape), len(gains))


def _quantile(level: float, degrees: int | None) -> float:
    if not 0 < level < 1:
        raise InputError(f"level={level}: pass a probability between 0 and 1, such as 0.95.")
    from scipy.special import (  # a fifth of a second that `import jaxshap` need not take
        ndtri,
        stdtrit,
    )

    tail = (1 + level) / 2
    return float(ndtri(tail) if degrees is None else stdtrit(np.float64(degrees), tail))
