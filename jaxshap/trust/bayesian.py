"""BayesSHAP: the posterior of a Bayesian linear regression on coalitions."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float, Key

from jaxshap.engine import answer, check_squares, read_budget, read_key, unit_over_first
from jaxshap.errors import BudgetError
from jaxshap.estimators import Estimate, Plan
from jaxshap.games import (
    Game,
    check_game,
    draw_independent,
    full_precision,
    kernel_mass,
    read_whole,
)
from jaxshap.trust.intervals import Interval, draws_to_narrow, interval


class BayesPosterior(NamedTuple):
    """The posterior of the values: Student's t with one degree of freedom per coalition.

    It is about the coefficients of an additive game fitted to coalitions drawn by the Shapley
    kernel without any constraint. These need not sum to v(N) − v(∅) and are not the Shapley values,
    unless the game is additive: the more coalitions, the more surely an interval misses the Shapley
    value. Nor do intervals cover the coefficients exactly as often as they say, since `scale`, the
    scatter about the additive game, is taken to be the same for all coalitions. For intervals of
    the Shapley values see `efficient_bayes_shap`.

    Attributes:
        values: the centre of the posterior.
        covariance: the covariance of the values, in units of `scale`.
        scale: the scatter of the worths about the additive fit, per output.
        num_coalitions: how many coalitions the regression has seen.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> posterior = jaxshap.trust.bayes_shap(0, game, budget=500)
        >>> lower, upper = posterior.interval(level=0.9)
        >>> bool((lower < posterior.values).all() and (posterior.values < upper).all())
        True
        >>> posterior.more_evaluations(width=10.0)
        0
    """

    values: Float[Array, "n *out"]
    covariance: Float[Array, "n n"]
    scale: Float[Array, "*out"]
    num_coalitions: int

    def std_error(self) -> Float[Array, "n *out"]:
        """The scale of each value's marginal distribution.

        Returns:
            One number per value.
        """
        return jnp.sqrt(jnp.multiply.outer(jnp.diag(self.covariance), self.scale))

    def interval(self, level: float = 0.95) -> Interval:
        """Credible intervals.

        Args:
            level: the posterior probability of each interval, 0.95 by default.

        Returns:
            The `Interval` of every value.

        Raises:
            InputError: the level is not between 0 and 1.
        """
        return interval(Estimate(self.values, self.std_error()), level, self.num_coalitions)

    @full_precision
    def draw(self, key: Key[Array, ""], count: int) -> Float[Array, "{count} n *out"]:
        """Values drawn from the posterior.

        Args:
            key: a JAX key.
            count: how many draws to make.

        Returns:
            The draws, of shape (count, n, *out).
        """
        count = read_whole(count, "count")
        scatter_key, direction_key = jax.random.split(read_key(key))
        shape, dtype = self.scale.shape, self.values.dtype
        squares = jax.random.chisquare(scatter_key, self.num_coalitions, (count, *shape), dtype)
        sigma = jnp.sqrt(self.num_coalitions * self.scale / squares)
        normal = jax.random.normal(direction_key, (count, len(self.values), *shape), dtype)
        spread = jnp.einsum("ij,cj...->ci...", jnp.linalg.cholesky(self.covariance), normal)
        return self.values + sigma[:, None] * spread

    def error_density(self) -> Float[Array, "*out"]:
        """The density at 0 of what the additive game leaves unexplained of a worth.

        Returns:
            One density per output; the higher, the better the fit.
        """
        half = self.num_coalitions / 2
        gammas = math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        return gammas / math.sqrt(math.pi * self.num_coalitions) / jnp.sqrt(self.scale)

    def more_evaluations(self, width: float, level: float = 0.95) -> int:
        """How many more coalitions would make every interval narrow enough.

        Args:
            width: the largest width allowed, upper end less lower end.
            level: the posterior probability of each interval, 0.95 by default.

        Returns:
            The number of coalitions still to evaluate, 0 where the intervals are narrow enough.

        Raises:
            InputError: the level is not between 0 and 1.
        """
        return draws_to_narrow(self.interval(level), self.num_coalitions, width)


def bayes_shap(key: Key[Array, ""] | int, game: Game, budget: int) -> BayesPosterior:
    """BayesSHAP: Bayesian linear regression on coalitions drawn by the Shapley kernel.

    From Slack et al. (2021), without the constraint that values sum to v(N) − v(∅): its limit is
    another vector than the Shapley values, which `efficient_bayes_shap` estimates. The prior
    shrinks the values towards 0, less so with a larger budget.

    Args:
        key: a JAX key, or an int that makes one.
        game: the game.
        budget: how many coalitions to evaluate, ∅ and N included.

    Returns:
        The `BayesPosterior` of the values.

    Raises:
        BudgetError: the budget does not buy a coalition.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> print(np.asarray(jaxshap.trust.bayes_shap(0, game, budget=500).values).round(1))
        [1. 2. 3.]
    """
    check_game(game)
    budget = read_budget(budget, game.num_players)
    if budget < 3:
        raise BudgetError(
            f"budget={budget} does not buy one coalition: pass budget=3 or more.", needed=3
        )
    mass = kernel_mass(game.num_players)
    coalitions = draw_independent(read_key(key), game.num_players, budget - 2, mass)
    worths = answer(game, Plan(coalitions, len(coalitions))).worths
    gains = jnp.asarray(worths - game.empty)
    unit = unit_over_first(gains)
    check_squares(unit)
    found = posterior(coalitions, gains / unit)
    return found._replace(values=found.values * unit, scale=found.scale * unit * unit)


@full_precision
def posterior(
    coalitions: Bool[Array, "m n"],
    gains: Float[Array, "m *out"],
    weights: Float[Array, "m"] | None = None,
) -> BayesPosterior:
    """V = (Z'ΠZ + I)⁻¹, φ̂ = VZ'ΠY and s² = [(Y − Zφ̂)'Π(Y − Zφ̂) + φ̂'φ̂]/N, with Y = v(S) − v(∅)."""
    design = coalitions.astype(gains.dtype)
    flat = gains.reshape(len(gains), -1)
    weights = jnp.ones(len(gains)) if weights is None else weights
    column = weights[:, None].astype(gains.dtype)
    identity = jnp.eye(design.shape[1], dtype=gains.dtype)
    covariance = cho_solve(cho_factor((column * design).T @ design + identity), identity)
    values = covariance @ ((column * design).T @ flat)
    scale = ((column * (flat - design @ values) ** 2).sum(0) + (values**2).sum(0)) / len(gains)
    shape = gains.shape[1:]
    return BayesPosterior(values.reshape(-1, *shape), covariance, scale.reshape(shape), len(gains))
