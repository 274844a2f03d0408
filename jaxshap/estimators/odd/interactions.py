"""OddInteractions: balanced pairs and a Gaussian process on the even part of the game."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.estimators.odd.balanced import BalancedPairs, unit_rows
from jaxshap.estimators.odd.calibration import widened_error
from jaxshap.estimators.odd.fit import fitted
from jaxshap.estimators.odd.kernels import white_pair_cross
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.protocol import Estimate, Plan
from jaxshap.estimators.stating import stated

MAX_PROCESS_ROWS = 4000  # of one process, which cannot use more


@dataclasses.dataclass(frozen=True)
class OddInteractions(BalancedPairs):
    """The Shapley interaction index I_ij of every two players, one row for each i n + j; 0 where i
    = j.

    A Gaussian process on (v(S) + v(N∖S))/2, as OddGP has one on the odd part; biased like it, exact
    when all pairs are enumerated; short of that it asks about `MAX_PROCESS_ROWS` pairs at most.
    `jaxshap.estimate_interactions` gives the result its two axes.
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        usable = budget if 2**num_players <= budget else min(budget, 2 * MAX_PROCESS_ROWS)
        return super().plan(key, num_players, usable)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        middle = (full + empty) / 2  # a constant has no interactions; without it, less is unknown
        halves = (worths[::2] + worths[1::2]) / 2 - middle
        rows, scale = unit_rows(plan, halves, jnp.zeros_like(middle))
        used = Rows(*(array[:MAX_PROCESS_ROWS] for array in rows))
        process, _ = fitted(used, scale > 0, rows.signs[:0], odd=False, fit_each=self.fit_each)
        values = process.values * scale
        error = widened_error(used, process) * scale
        num_players = plan.coalitions.shape[1]
        first, second = np.triu_indices(num_players, 1)
        complete: bool | Array = False
        if len(rows.live) >= 2 ** (num_players - 1):  # a plan that can hold every pair
            complete = rows.live.sum() == 2 ** (num_players - 1)
            weights = white_pair_cross(rows.signs)[:, first, second]
            values = jnp.where(complete, weights.T @ rows.targets * scale, values)

        def square(upper):
            both = jnp.zeros((num_players, num_players, upper.shape[1]), upper.dtype)
            both = both.at[first, second].set(upper).at[second, first].set(upper)
            return both.reshape(num_players**2, *empty.shape)

        on_diagonal = jnp.eye(num_players, dtype=bool).reshape(-1, *(1,) * empty.ndim)
        return stated(square(values), square(error), exact=on_diagonal | complete)
