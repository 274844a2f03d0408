"""OddLinear: the balanced design of OddGP with a read-out that is linear in the worths."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.least_squares import debiased_odd_fit, sequence_after
from jaxshap.estimators.odd.design import balanced_pairs, balanced_rates
from jaxshap.estimators.pair_regression import regress_pairs
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import stated
from jaxshap.games import affordable_pairs, paired


@dataclasses.dataclass(frozen=True)
class OddLinear(Estimator):
    """Two thirds of a least squares fit to balanced pairs, and one third of what each player adds
    alone and last.

    Single players and their complements see interactions of three players with the opposite sign of
    a balanced design, in a proportion that this mean undoes: exact for games with interactions of
    at most four players on an orthogonal array of strength 4, which the design comes close to, and
    always for at most two. Otherwise biased, and more budget does not undo that; where a regression
    without this bias disagrees by more than its error, the standard errors hold the difference.
    Cheap for thousands of players, without hyperparameters, linear in the worths, and less accurate
    than OddGP. Values sum to v(N) − v(∅).

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> alone = jnp.arange(4.0)  # and players 0 and 1 add 2 together
        >>> def worth(s):
        ...     return jnp.where(s, alone, 0).sum() + jnp.where(s[0] & s[1], 2.0, 0.0)
        >>> game = jaxshap.make_game(worth, 4)
        >>> estimate = jaxshap.estimate(0, game, jaxshap.OddLinear(), budget=16)
        >>> print(np.asarray(estimate.values).round(3))
        [1. 2. 2. 3.]
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        most = 2 ** (num_players - 1) - 1
        least = 2 * min(2 * num_players, most) + 2
        if budget < least:
            raise BudgetError(
                f"budget={budget} does not determine the values of {num_players} players twice "
                f"over: pass budget={least} or more.",
                needed=least,
            )
        count = affordable_pairs(num_players, budget)
        return Plan(paired(balanced_pairs(key, num_players, count)), 2 * count)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players, total = plan.coalitions.shape[1], (full - empty).reshape(-1)
        odd = ((worths[::2] - worths[1::2]) / 2).reshape(-1, total.size)
        signs = jnp.where(plan.coalitions[::2], 1, -1).astype(odd.dtype)
        fit = debiased_odd_fit(signs, odd, plan.live[::2], total / 2)
        values, error = 2 * fit.coefficients, 2 * fit.std_error
        if len(signs) > num_players:  # of three players there are no other pairs, and no bias
            sides = sequence_after(values, signs) > 0
            rates = balanced_rates(num_players)
            unbiased = regress_pairs(sides, plan.live[::2], 2 * odd, total, rates)
            apart = ((values - unbiased.values) ** 2).mean(0)
            chance = (unbiased.std_error**2).mean(0)
            error = jnp.sqrt(error**2 + jnp.where(apart > 2 * chance, apart - chance, 0))
        shape = (num_players, *empty.shape)
        spare = plan.live[::2].sum() - 2 * num_players  # n pairs are single players
        exhausted = len(signs) == num_players
        values, error = values.reshape(shape), error.reshape(shape)
        return stated(values, error, degrees=jnp.maximum(spare, 1), exact=exhausted)
