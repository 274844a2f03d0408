"""OddGP: balanced pairs and a Gaussian process on the odd part of the game; interactions come from the even part."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.coalitions import affordable_pairs, paired
from jaxshap.designs import balanced_pairs, least_pairs
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.linear import LeastSquares, least_squares, two_thirds
from jaxshap.sign_fit import fitted, widened_error
from jaxshap.sign_kernels import (
    pair_cross,
    pair_variance,
    value_cross,
    value_variance,
    white_pair_cross,
    white_pair_variance,
    white_value_cross,
    white_value_variance,
)
from jaxshap.sign_process import ROUGH, Parameters, Posterior, Rows

MOST_ROWS = 4000  # of the read-out; beyond, a linear rule
NEARLY_ADDITIVE = 1e-3  # rest beside the additive part, below which an output says nothing about lengths


@dataclasses.dataclass(frozen=True)
class BalancedPairs(Estimator):
    """What OddGP and its interactions share: the coalitions they ask about, and whether each output is fitted alone."""

    fit_each: bool | None = None

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = 2 * least_pairs(num_players) + 2
        if budget < least:
            raise ValueError(
                f"budget={budget} does not buy each of {num_players} players and its complement: "
                f"pass budget={least} or more."
            )
        count = affordable_pairs(num_players, budget)
        return Plan(paired(balanced_pairs(key, num_players, count)), 2 * count)


@dataclasses.dataclass(frozen=True)
class OddGP(BalancedPairs):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process with a length scale
    for each player learns how fast its interactions fade, and gives the values in closed form. Where an additive game
    predicts left-out pairs better, its least squares are taken instead. Values sum to v(N) − v(∅), are exact for games
    with interactions of at most two players, and when all pairs are enumerated. Otherwise biased: worths of nearby
    coalitions are assumed to be alike, and it gains least where they jump.
    Standard errors are the posterior's, widened by a rule learned on random games (see `widened_error`).
    `fit_each`: whether each output (each row, class) gets length scales of its own, or all of them the same. None:
    where that costs a second or two at most. For a hundred rows of a network and a thousand pairs the error is smaller
    by two fifths, and the solve takes ten times as long: worth it where the model is slow.
    Related: OddSHAP (2026), ShaplEIG (2026), Zhou et al. (2025).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.OddGP(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        rows, scale = _unit_rows(plan, (worths[::2] - worths[1::2]) / 2, (full - empty) / 2)
        values, error = _read_out(rows, self.fit_each)
        if plan.coalitions.shape[1] < 32:  # a plan can hold every pair, and then nothing is left to be uncertain about
            every = rows.live.sum() == 2 ** (plan.coalitions.shape[1] - 1)
            values = jnp.where(every, white_value_cross(rows.signs).T @ rows.targets, values)
            error = jnp.where(every, 0, error)
        values, error = values * scale, error * scale
        values = values + ((full - empty).reshape(-1) - values.sum(0)) / len(values)
        return Estimate(*(part.reshape(-1, *empty.shape) for part in (values, error)))


@dataclasses.dataclass(frozen=True)
class OddInteractions(BalancedPairs):
    """The Shapley interaction index I_ij of every two players, one row for each i n + j; 0 where i = j.

    A Gaussian process on (v(S) + v(N∖S))/2, as OddGP has one on the odd part; biased like it, exact when all pairs
    are enumerated. `jaxshap.estimate_interactions` gives the result its two axes.
    """

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        middle = (full + empty) / 2  # a constant has no interactions; taking it away leaves what varies
        rows, scale = _unit_rows(plan, (worths[::2] + worths[1::2]) / 2 - middle, jnp.zeros_like(middle))
        found = fitted(rows, scale > 0, _of_pairs, odd=False, fit_each=self.fit_each)
        values, error = found.values, widened_error(rows, found)
        num_players = plan.coalitions.shape[1]
        first, second = np.triu_indices(num_players, 1)
        if len(rows.live) >= 2 ** (num_players - 1):  # a plan that can hold every pair
            every = rows.live.sum() == 2 ** (num_players - 1)
            values = jnp.where(every, white_pair_cross(rows.signs)[:, first, second].T @ rows.targets, values)
            error = jnp.where(every, 0, error)

        def square(upper):
            both = jnp.zeros((num_players, num_players, upper.shape[1]), upper.dtype)
            both = both.at[first, second].set(upper).at[second, first].set(upper)
            return both.reshape(num_players**2, *empty.shape)

        return Estimate(square(values * scale), square(error * scale))


def _unit_rows(
    plan: Plan, halves: Float[Array, "pairs *out"], whole: Float[Array, "*out"]
) -> tuple[Rows, Float[Array, "out"]]:
    """What was seen of the odd or the even part, {∅, N} first, each output in units of its size; and these sizes."""
    sides = jnp.concatenate([jnp.ones((1, plan.coalitions.shape[1]), bool), plan.coalitions[::2]])
    live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
    targets = jnp.concatenate([whole.reshape(1, -1), halves.reshape(len(halves), -1)])
    targets = jnp.where(live[:, None], targets, 0)
    scale = jnp.sqrt((jax.lax.stop_gradient(targets) ** 2).sum(0) / live.sum().astype(targets.dtype))  # a unit, no more
    signs = jnp.where(sides, 1, -1).astype(targets.dtype)
    return Rows(signs, live, targets / jnp.where(scale == 0, 1, scale)), scale


def _read_out(rows: Rows, fit_each: bool | None) -> Estimate:
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
    found = fitted(rows, curved, _of_values, odd=True, fit_each=fit_each)
    wide = Estimate(found.values, widened_error(rows, found))
    better = _squares(additive, rows.live) < _squares(found, rows.live)
    return jax.tree.map(lambda first, second: jnp.where(better, first, second), straight, wide)


def _squares(found: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    return (jnp.where(live[:, None], found.left_out, 0) ** 2).sum(0)


def _of_values(signs: Float[Array, "m n"], parameters: Parameters) -> tuple[Float[Array, "m n"], Float[Array, "n"]]:
    """Covariance of the Shapley values with each row, and their prior variance, in units of the process."""
    both, nu, w = _scales(parameters)
    smooth, rough = jax.vmap(value_cross, (None, 0))(signs, both)
    variance = jax.vmap(value_variance)(both)
    cross = smooth + w * rough + nu * white_value_cross(signs)
    return cross, variance[0] + w * variance[1] + nu * white_value_variance(signs.shape[1])


def _of_pairs(signs: Float[Array, "m n"], parameters: Parameters) -> tuple[Float[Array, "m k"], Float[Array, "k"]]:
    """The same for I_ij, i < j."""
    both, nu, w = _scales(parameters)
    smooth, rough = jax.vmap(pair_cross, (None, 0))(signs, both)
    variance = jax.vmap(pair_variance)(both)
    cross = smooth + w * rough + nu * white_pair_cross(signs)
    variance = variance[0] + w * variance[1] + nu * white_pair_variance(signs.shape[1])
    first, second = np.triu_indices(signs.shape[1], 1)
    return cross[:, first, second], variance[first, second]


def _scales(parameters: Parameters) -> tuple[Float[Array, "2 n"], Float[Array, ""], Float[Array, ""]]:
    """θ of the two smooth components, ν and w."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    return theta * jnp.asarray([[1], [ROUGH]], theta.dtype), nu, w
