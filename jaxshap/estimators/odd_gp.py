"""OddGP: a balanced design of pairs, and a Gaussian process on the odd part of the game."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.coalitions import paired
from jaxshap.designs import balanced_pairs, least_pairs
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.linear import LeastSquares, least_squares, two_thirds
from jaxshap.sign_kernels import value_cross, value_variance, white_value_cross, white_value_variance
from jaxshap.sign_process import ROUGH, Parameters, Posterior, Rows, first_prior, fit, posterior, prior_around, start

MOST_FITTED = 500  # rows that the likelihood looks at; the read-out takes them all
MOST_ROWS = 4000  # of the read-out; beyond, a linear rule
MOST_WORK = 2e11  # multiplications that fitting each output by itself may cost
NEARLY_ADDITIVE = 1e-3  # rest beside the additive part, below which an output says nothing about lengths


@dataclasses.dataclass(frozen=True)
class OddGP(Estimator):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process with a length scale
    for each player learns how fast its interactions fade, and gives the values in closed form. Where an additive game
    predicts left-out pairs better, its least squares are taken instead. Values sum to v(N) − v(∅), are exact for games
    with interactions of at most two players, and when all pairs are enumerated. Otherwise biased: worths of nearby
    coalitions are assumed to be alike, and it gains least where they jump.
    Standard errors are the posterior's, widened by a rule learned on random games (see `widening`).
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
        rows = Rows(
            jnp.where(sides, 1, -1).astype(targets.dtype), live, targets / jnp.where(scale == 0, 1, scale)
        )
        values, error = (part * scale for part in _read_out(rows))
        values = values + (total - values.sum(0)) / num_players
        if num_players < 32:  # a plan can hold every pair, and then there is nothing left to be uncertain about
            error = jnp.where(live.sum() == 2 ** (num_players - 1), 0, error)
        shape = (num_players, *empty.shape)
        return Estimate(values.reshape(shape), error.reshape(shape))


def widening(rows: Rows, found: Posterior) -> Float[Array, "out"]:
    """By how much to widen the posterior's errors, from how well it predicts rows left out.

    1.4 r^1.5 √(κ/3): r is the size of standardised left-out errors beyond the single players, not below 0.6, and κ
    their kurtosis, not below 3. The posterior is too sure of games that jump (κ large) and not sure enough of sparse
    ones (r small). The form and its three numbers were chosen on random games of seventeen kinds.
    """
    count = rows.live.sum().astype(found.values.dtype)
    standard = jnp.where(rows.live[:, None], found.left_out / jnp.maximum(found.expected, 1e-30), 0)
    size = jnp.abs(rows.signs.sum(1))
    beyond = rows.live & (size < rows.signs.shape[1] - 2)
    square = (jnp.where(beyond[:, None], standard, 0) ** 2).sum(0) / jnp.maximum(beyond.sum(), 1).astype(count.dtype)
    fourth, second = ((standard**power).sum(0) / count for power in (4, 2))
    kurtosis = fourth / jnp.maximum(second**2, 1e-30)
    apart = jnp.where(beyond.any(), jnp.maximum(jnp.sqrt(square), 0.6), 1)
    return 1.4 * apart**1.5 * jnp.sqrt(jnp.maximum(kurtosis / 3, 1))


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
    found = _posterior(rows, curved)
    wide = Estimate(found.values, widening(rows, found) * jnp.sqrt(found.variance))
    better = _squares(additive, rows.live) < _squares(found, rows.live)
    return jax.tree.map(lambda first, second: jnp.where(better, first, second), straight, wide)


def _squares(found: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    return (jnp.where(live[:, None], found.left_out, 0) ** 2).sum(0)


def _posterior(rows: Rows, curved: Bool[Array, "out"]) -> Posterior:
    """Hyperparameters for all outputs together, then a few steps for each, where that is not too much work."""
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = 1e-7 if dtype == jnp.float64 else 1e-5
    seen = jax.lax.stop_gradient(Rows(*(part[:MOST_FITTED] for part in rows)))
    begin, prior = start(num_players, dtype), first_prior(num_players, dtype)
    if outputs == 1:
        return _of_values(rows, fit(seen, begin, prior, 32, odd=True, jitter=jitter), jitter)
    shared = seen._replace(targets=jnp.where(curved, seen.targets, 0))
    pooled = fit(shared, begin, prior, 20, odd=True, jitter=jitter)
    if outputs * 6 * num_rows**3 > MOST_WORK:
        return _of_values(rows, pooled, jitter)

    def of_output(column):
        """One output after the other: batched factorisations are no faster on a CPU."""
        alone = seen._replace(targets=jax.lax.stop_gradient(column[:MOST_FITTED, None]))
        own = fit(alone, pooled, prior_around(pooled), 6, odd=True, jitter=jitter)
        return jax.tree.map(lambda part: part[:, 0], _of_values(rows._replace(targets=column[:, None]), own, jitter))

    return jax.tree.map(jnp.transpose, jax.lax.map(of_output, rows.targets.T))


def _of_values(rows: Rows, parameters: Parameters, jitter: float) -> Posterior:
    theta, nu, w = (jnp.exp(part) for part in parameters)
    signs, num_players = rows.signs, rows.signs.shape[1]
    cross = value_cross(signs, theta) + w * value_cross(signs, ROUGH * theta) + nu * white_value_cross(signs)
    variance = value_variance(theta) + w * value_variance(ROUGH * theta) + nu * white_value_variance(num_players)
    return posterior(rows, parameters, cross, variance, odd=True, jitter=jitter)
