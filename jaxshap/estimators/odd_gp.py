"""OddGP: a balanced design of pairs, and a Gaussian process on the odd part of the game."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.coalitions import paired
from jaxshap.designs import balanced_pairs, least_pairs
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.linear import LeastSquares, least_squares, two_thirds
from jaxshap.sign_fit import fitted, widened_error
from jaxshap.sign_kernels import value_cross, value_variance, white_value_cross, white_value_variance
from jaxshap.sign_process import ROUGH, Parameters, Posterior, Rows

MOST_ROWS = 4000  # of the read-out; beyond, a linear rule
NEARLY_ADDITIVE = 1e-3  # rest beside the additive part, below which an output says nothing about lengths


@dataclasses.dataclass(frozen=True)
class OddGP(Estimator):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process with a length scale
    for each player learns how fast its interactions fade, and gives the values in closed form. Where an additive game
    predicts left-out pairs better, its least squares are taken instead. Values sum to v(N) − v(∅), are exact for games
    with interactions of at most two players, and when all pairs are enumerated. Otherwise biased: worths of nearby
    coalitions are assumed to be alike, and it gains least where they jump.
    Standard errors are the posterior's, widened by a rule learned on random games (see `widened_error`).
    Related: OddSHAP (2026), ShaplEIG (2026), Zhou et al. (2025).
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
        num_players, total = plan.coalitions.shape[1], (full - empty).reshape(-1)
        odd = ((worths[::2] - worths[1::2]) / 2).reshape(-1, total.size)
        sides = jnp.concatenate([jnp.ones((1, num_players), bool), plan.coalitions[::2]])
        live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
        targets = jnp.where(live[:, None], jnp.concatenate([total[None] / 2, odd]), 0)
        scale = jnp.sqrt((targets**2).sum(0) / live.sum().astype(targets.dtype))
        rows = Rows(jnp.where(sides, 1, -1).astype(targets.dtype), live, targets / jnp.where(scale == 0, 1, scale))
        values, error = (part * scale for part in _read_out(rows))
        values = values + (total - values.sum(0)) / num_players
        if num_players < 32:  # a plan can hold every pair, and then there is nothing left to be uncertain about
            error = jnp.where(live.sum() == 2 ** (num_players - 1), 0, error)
        shape = (num_players, *empty.shape)
        return Estimate(values.reshape(shape), error.reshape(shape))


def _read_out(rows: Rows) -> Estimate:
    """Values and errors in units of the targets: of the process, or additive where that predicts better."""
    num_rows, num_players = rows.signs.shape
    if num_rows > MOST_ROWS and num_rows > 3 * num_players:
        found = two_thirds(rows.signs[1:], rows.targets[1:], rows.live[1:], rows.targets[0])
        return Estimate(2 * found.coefficients, 2 * found.std_error)
    additive = least_squares(rows.signs, rows.targets, rows.live)
    straight = Estimate(2 * additive.coefficients, 2 * additive.std_error)
    if num_rows > MOST_ROWS:
        return straight
    curved = (additive.left_out**2).sum(0) > NEARLY_ADDITIVE**2 * (rows.targets**2).sum(0)
    found = fitted(rows, curved, _of_values, odd=True)
    wide = Estimate(found.values, widened_error(rows, found))
    better = _squares(additive, rows.live) < _squares(found, rows.live)
    return jax.tree.map(lambda first, second: jnp.where(better, first, second), straight, wide)


def _squares(found: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    return (jnp.where(live[:, None], found.left_out, 0) ** 2).sum(0)


def _of_values(signs: Float[Array, "m n"], parameters: Parameters) -> tuple[Float[Array, "m n"], Float[Array, "n"]]:
    """Covariance of the Shapley values with each row, and their prior variance, in units of the process."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    cross = value_cross(signs, theta) + w * value_cross(signs, ROUGH * theta) + nu * white_value_cross(signs)
    variance = value_variance(theta) + w * value_variance(ROUGH * theta) + nu * white_value_variance(signs.shape[1])
    return cross, variance
