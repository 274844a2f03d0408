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
    """Fit an additive game to distinct pairs {S, N∖S}, weighted by Shapley kernel over rate.

    Values sum to v(N) − v(∅). Exact for games with interactions of at most two players, and when
    all pairs are enumerated; otherwise biased by O(1/budget).
    """

    @abc.abstractmethod
    def _rates(self, num_players: int) -> Float[np.ndarray, "{num_players}//2"]:
        """How fast pairs with a smaller side of size 1..⌊n/2⌋ come in; all at first if infinite."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        needed = min(2 * num_players + 2, 2**num_players)
        if budget < needed:
            raise BudgetError(
                f"budget={budget} does not determine the values of {num_players} players: "
                f"pass budget={needed} or more.",
                needed=needed,
            )
        count = affordable_pairs(num_players, budget)
        side = draw_pairs(key, num_players, count, tuple(self._rates(num_players)))
        return Plan(paired(side), 2 * count)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        gaps = worths[::2] - worths[1::2]
        rates = self._rates(plan.coalitions.shape[1])
        return regress_pairs(plan.coalitions[::2], plan.live[::2], gaps, full - empty, rates)


@dataclasses.dataclass(frozen=True)
class Kernel(PairedRegression):
    """KernelSHAP: regression on coalitions that come in by the mass of the Shapley kernel.

    All single players and their complements come first; a size that the budget covers is
    enumerated. Biased by O(1/budget), exact for games with interactions of at most two players.
    Values sum to v(N) − v(∅). Lundberg & Lee (2017), Covert & Lee (2021).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.Kernel(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def _rates(self, num_players: int) -> Float[np.ndarray, "{num_players}//2"]:
        return np.concatenate([[np.inf], pair_mass(num_players)[1:]])


@dataclasses.dataclass(frozen=True)
class Leverage(PairedRegression):
    """Leverage SHAP: regression on coalitions that come in by their statistical leverage.

    All sizes 1..n−1 are then equally likely; their shares are fixed here rather than random. Biased
    by O(1/budget), exact for games with interactions of at most two players. Values sum to
    v(N) − v(∅). Musco & Witter (2025).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 0 and 1 add 2 together
        >>> estimate = jaxshap.estimate(0, game, jaxshap.Leverage(), budget=8)
        >>> print(np.asarray(estimate.values).round(3))
        [2. 3. 3.]
    """

    def _rates(self, num_players: int) -> Float[np.ndarray, "{num_players}//2"]:
        return pair_mass(num_players) / kernel_mass(num_players)[: num_players // 2]
