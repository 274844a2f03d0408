"""KernelSHAP and Leverage SHAP: Shapley values by weighted least squares on pairs of coalitions."""

import abc
import dataclasses

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.pair_regression import pair_mass, regress_pairs
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import affordable_pairs, draw_pairs, kernel_mass, paired


@dataclasses.dataclass(frozen=True)
class PairedRegression(Estimator):
    """Fit an additive game to distinct pairs {S, N∖S}, weighted by the Shapley kernel over how fast
    they come in.

    Values sum to v(N) − v(∅). Exact for games with interactions of at most two players, and when
    everything is enumerated; otherwise biased by O(1/budget).
    """

    @abc.abstractmethod
    def rates(self, num_players: int) -> Float[np.ndarray, "half"]:
        """How fast pairs with a smaller side of size 1..⌊n/2⌋ come in; infinite: all of them first."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        if budget < min(2 * num_players + 2, 2**num_players):
            raise BudgetError(
                f"budget={budget} does not determine the values of {num_players} players: "
                f"pass budget={min(2 * num_players + 2, 2**num_players)} or more."
            )
        count = affordable_pairs(num_players, budget)
        side = draw_pairs(key, num_players, count, tuple(self.rates(num_players)))
        return Plan(paired(side), 2 * count)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        gaps = worths[::2] - worths[1::2]
        rates = self.rates(plan.coalitions.shape[1])
        return regress_pairs(plan.coalitions[::2], plan.live[::2], gaps, full - empty, rates)


@dataclasses.dataclass(frozen=True)
class Kernel(PairedRegression):
    """Coalitions by the Shapley kernel: all single players and their complements first, then sizes
    by their mass.

    Biased by O(1/budget), exact for games with interactions of at most two players. A size that
    fits is enumerated. Lundberg & Lee (2017), Covert & Lee (2021).

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

    Biased by O(1/budget), exact for games with interactions of at most two players. Musco & Witter
    (2025), with shares of the sizes fixed rather than random.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.Leverage(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def rates(self, num_players: int) -> Float[np.ndarray, "half"]:
        return pair_mass(num_players) / kernel_mass(num_players)[: num_players // 2]
