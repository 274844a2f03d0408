"""OddGP: a balanced design of pairs, and a Gaussian process on the odd part of the game."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.coalitions import draw_pairs, num_pairs, paired
from jaxshap.estimator import Estimate, Estimator, Plan
from jaxshap.odd_process import ReadOut, Rows, first_prior, fit, prior_around, read_out, start

MOST_FITTED = 500  # rows that the likelihood looks at; the read-out takes them all
MOST_WORK = 2e11  # multiplications that fitting each output by itself may cost


@dataclasses.dataclass(frozen=True)
class OddGP(Estimator):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process with a length scale
    for each player learns how fast its interactions fade, and gives the values in closed form. Biased: it assumes that
    worths of nearby coalitions are alike, and gains least where they jump. Values sum to v(N) − v(∅), and are exact
    when all pairs are enumerated. Standard errors widen the posterior's where residuals have heavy tails.
    Related: OddSHAP (2026), ShaplEIG (2026), Zhou et al. (2025).
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = min(2 * num_players + 2, 2**num_players)
        if budget < least:
            raise ValueError(
                f"budget={budget} does not buy each of {num_players} players and its complement: "
                f"pass budget={least} or more."
            )
        count = min((budget - 2) // 2, 2 ** (num_players - 1) - 1)
        return Plan(paired(_design(key, num_players, count)), 2 * count)

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        total = (full - empty).reshape(-1)
        odd = ((worths[::2] - worths[1::2]) / 2).reshape(-1, total.size)
        sides = jnp.concatenate([jnp.ones((1, num_players), bool), plan.coalitions[::2]])
        live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
        targets = jnp.where(live[:, None], jnp.concatenate([total[None] / 2, odd]), 0)
        scale = jnp.sqrt((targets**2).sum(0) / live.sum().astype(targets.dtype))
        flat = scale == 0
        rows = Rows(jnp.where(sides, 1, -1).astype(targets.dtype), live, targets / jnp.where(flat, 1, scale))
        found = _posterior(rows)
        values = found.values * scale
        values = values + (total - values.sum(0)) / num_players
        wider = 1.5 * jnp.maximum(1, (found.kurtosis / 3) ** 0.25)
        error = wider * jnp.sqrt(found.variance) * scale
        if num_players < 32:  # a plan can hold every pair, and then there is nothing left to be uncertain about
            error = jnp.where(live.sum() == 2 ** (num_players - 1), 0, error)
        shape = (num_players, *empty.shape)
        return Estimate(values.reshape(shape), error.reshape(shape))


def _posterior(rows: Rows) -> ReadOut:
    """Hyperparameters for all outputs together, then a few steps for each, where that is not too much work."""
    num_rows, num_players = rows.signs.shape
    outputs, dtype = rows.targets.shape[1], rows.targets.dtype
    jitter = 1e-7 if dtype == jnp.float64 else 1e-5
    seen = jax.lax.stop_gradient(Rows(*(part[:MOST_FITTED] for part in rows)))
    begin, prior = start(num_players, dtype), first_prior(num_players, dtype)
    if outputs == 1:
        return read_out(rows, fit(seen, begin, prior, 32, jitter), jitter)
    pooled = fit(seen, begin, prior, 20, jitter)
    if outputs * 6 * num_rows**3 > MOST_WORK:
        return read_out(rows, pooled, jitter)

    def of_output(column):
        """One output after the other: batched factorisations are no faster on a CPU."""
        own = fit(seen._replace(targets=column[:MOST_FITTED, None]), pooled, prior_around(pooled), 6, jitter)
        return read_out(rows._replace(targets=column[:, None]), jax.lax.stop_gradient(own), jitter)

    found = jax.lax.map(of_output, rows.targets.T)
    return ReadOut(found.values[:, :, 0].T, found.variance[:, :, 0].T, found.kurtosis[:, 0])


def _design(key: Key[Array, ""], num_players: int, count: int) -> Bool[Array, "count n"]:
    """One side each of `count` pairs: single players, then greedily the most balanced of a random pool, then the rest.

    Balance is a small Σ (z·z'/n)⁴ over the pairs so far, which an orthogonal array of strength 4 would minimise. The
    pool depends on the number of players alone, so a larger budget keeps every pair.
    """
    supply = num_pairs(num_players)
    pool_size = min(sum(supply), num_players + min(160 * num_players, 4000))
    greedy = min(8 * num_players, (pool_size - num_players) // 2, max(count - num_players, 0))
    sizes = np.arange(1, len(supply) + 1)
    rates = tuple(np.where(sizes == 1, np.inf, np.where(2 * sizes == num_players, 1.0, 2.0)).tolist())
    drawn = draw_pairs(key, num_players, max(count, pool_size) if greedy else count, rates)
    if greedy <= 0:
        return drawn[:count]
    signs = jnp.where(drawn, 1, -1).astype(jnp.float32)
    pool = signs[num_players:pool_size]
    chosen = jnp.concatenate([jnp.ones((1, num_players), jnp.float32), signs[:num_players]])
    score = ((pool @ chosen.T / num_players) ** 4).sum(1)

    def pick(score, _):
        best = jnp.argmin(score)
        score = score + (pool @ pool[best] / num_players) ** 4
        return score.at[best].set(jnp.inf), best

    score, picks = jax.lax.scan(pick, score, length=greedy)
    rest = jnp.argsort(jnp.isinf(score), stable=True)[: len(pool) - greedy]  # those not picked, in the order drawn
    order = jnp.concatenate([jnp.arange(num_players), num_players + picks, num_players + rest])
    return jnp.concatenate([drawn[order], drawn[pool_size:]])[:count]
