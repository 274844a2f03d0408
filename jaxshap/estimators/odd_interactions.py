"""Interactions of two players out of the same pairs that OddGP asks about: they live in the even part of the game."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.coalitions import paired
from jaxshap.designs import balanced_pairs, least_pairs
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.sign_fit import fitted, widened_error
from jaxshap.sign_kernels import pair_cross, pair_variance, white_pair_cross, white_pair_variance
from jaxshap.sign_process import ROUGH, Parameters, Rows


@dataclasses.dataclass(frozen=True)
class OddInteractions(Estimator):
    """The Shapley interaction index I_ij of every two players, one row for each i n + j; 0 where i = j.

    A Gaussian process on (v(S) + v(N∖S))/2, as OddGP has one on the odd part; biased like it, exact when all pairs
    are enumerated. `jaxshap.estimate_interactions` gives the result its two axes.
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = 2 * least_pairs(num_players) + 2
        if budget < least:
            raise ValueError(
                f"budget={budget} does not buy each of {num_players} players and its complement: "
                f"pass budget={least} or more."
            )
        count = min((budget - 2) // 2, 2 ** (num_players - 1) - 1)
        return Plan(paired(balanced_pairs(key, num_players, count)), 2 * count)

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        num_players, ends = plan.coalitions.shape[1], ((full + empty) / 2).reshape(1, -1)
        even = jnp.concatenate([ends, ((worths[::2] + worths[1::2]) / 2).reshape(-1, ends.size)])
        sides = jnp.concatenate([jnp.ones((1, num_players), bool), plan.coalitions[::2]])
        live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
        count = live.sum().astype(even.dtype)
        mean = jnp.where(live[:, None], even, 0).sum(0) / count
        targets = jnp.where(live[:, None], even - mean, 0)
        scale = jnp.sqrt((targets**2).sum(0) / count)
        unit = targets / jnp.where(scale == 0, 1, scale)
        rows = Rows(jnp.where(sides, 1, -1).astype(even.dtype), live, unit)
        found = fitted(rows, scale > 0, _of_pairs, odd=False)
        values, error = found.values * scale, widened_error(rows, found) * scale
        if len(live) >= 2 ** (num_players - 1):  # a plan that can hold every pair
            first, second = np.triu_indices(num_players, 1)
            exact = white_pair_cross(rows.signs)[:, first, second].T @ targets
            every = live.sum() == 2 ** (num_players - 1)
            values, error = jnp.where(every, exact, values), jnp.where(every, 0, error)
        return Estimate(_square(values, empty.shape), _square(error, empty.shape))


def _of_pairs(signs: Float[Array, "m n"], parameters: Parameters) -> tuple[Float[Array, "m k"], Float[Array, "k"]]:
    """Covariance of I_ij, i < j, with each row, and their prior variance, in units of the process."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    cross = pair_cross(signs, theta) + w * pair_cross(signs, ROUGH * theta) + nu * white_pair_cross(signs)
    variance = pair_variance(theta) + w * pair_variance(ROUGH * theta) + nu * white_pair_variance(signs.shape[1])
    first, second = np.triu_indices(signs.shape[1], 1)
    return cross[:, first, second], variance[first, second]


def _square(upper: Float[Array, "k out"], shape: tuple[int, ...]) -> Float[Array, "nn *out"]:
    """From i < j to all i and j, one row each."""
    num_players = int(np.sqrt(2 * len(upper))) + 1
    first, second = np.triu_indices(num_players, 1)
    square = jnp.zeros((num_players, num_players, upper.shape[1]), upper.dtype)
    square = square.at[first, second].set(upper).at[second, first].set(upper)
    return square.reshape(num_players**2, *shape)
