"""KernelSHAP and Leverage SHAP: Shapley values by weighted least squares on pairs of coalitions."""

import abc
import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.coalitions import affordable_pairs, draw_pairs, kernel_mass, num_pairs, paired
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.linear import efficient_least_squares, jackknife_error


@dataclasses.dataclass(frozen=True)
class PairedRegression(Estimator):
    """Fit an additive game to distinct pairs {S, N∖S}, weighted by the Shapley kernel over how fast they come in.

    Values sum to v(N) − v(∅). Exact for games with interactions of at most two players, and when everything is
    enumerated; otherwise biased by O(1/budget).
    """

    @abc.abstractmethod
    def rates(self, num_players: int) -> Float[np.ndarray, "half"]:
        """How fast pairs with a smaller side of size 1..⌊n/2⌋ come in; infinite: all of them first."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        if budget < min(2 * num_players + 2, 2**num_players):
            raise ValueError(
                f"budget={budget} does not determine the values of {num_players} players: "
                f"pass budget={min(2 * num_players + 2, 2**num_players)} or more."
            )
        count = affordable_pairs(num_players, budget)
        side = draw_pairs(key, num_players, count, tuple(self.rates(num_players)))
        return Plan(paired(side), 2 * count)

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        """With Σφ given, a pair tells of v(S) − v(N∖S) only, so each pair is one row of the regression."""
        num_players = plan.coalitions.shape[1]
        side, live = plan.coalitions[::2], plan.live[::2]
        design = jnp.where(side, 1, -1).astype(worths.dtype)
        size = jnp.minimum(side.sum(1), (~side).sum(1)) - 1
        mass, supply = (jnp.asarray(of(num_players), worths.dtype) for of in (pair_mass, num_pairs))
        rate = jnp.asarray(np.where(np.isinf(self.rates(num_players)), 1, self.rates(num_players)), worths.dtype)
        drawn = jnp.zeros_like(mass).at[size].add(live.astype(mass.dtype))
        closed = drawn == supply  # enumerated: a pair has its own weight; a draw from the others stands for many pairs
        speed = jnp.where(closed, 0, drawn).sum() / jnp.where(closed, 0, rate).sum()
        weight = jnp.where(closed, mass / supply, mass / (speed * rate))
        fit = efficient_least_squares(
            design, worths[::2] - worths[1::2], jnp.where(live, weight[size], 0), full - empty
        )
        error = jackknife_error(fit, live & ~closed[size], 1 - (drawn / supply)[size])
        return Estimate(fit.values, jnp.where(closed.all(), 0, error))


@dataclasses.dataclass(frozen=True)
class Kernel(PairedRegression):
    """Coalitions by the Shapley kernel: all single players and their complements first, then sizes by their mass.

    Biased by O(1/budget), exact for games with interactions of at most two players. A size that fits is enumerated.
    Lundberg & Lee (2017), Covert & Lee (2021).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.Kernel(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def rates(self, num_players: int) -> Float[np.ndarray, "half"]:
        return np.concatenate([[np.inf], pair_mass(num_players)[1:]])


@dataclasses.dataclass(frozen=True)
class Leverage(PairedRegression):
    """Coalitions by their statistical leverage, which makes all sizes 1..n−1 equally likely.

    Biased by O(1/budget), exact for games with interactions of at most two players. Musco & Witter (2025), with shares
    of the sizes fixed rather than random.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.Leverage(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def rates(self, num_players: int) -> Float[np.ndarray, "half"]:
        return pair_mass(num_players) / kernel_mass(num_players)[: num_players // 2]


def pair_mass(num_players: int) -> Float[np.ndarray, "half"]:
    """The kernel's mass on the pairs whose smaller side has 1..⌊n/2⌋ players."""
    sizes = np.arange(1, num_players // 2 + 1)
    return kernel_mass(num_players)[: len(sizes)] * np.where(2 * sizes == num_players, 1, 2)
