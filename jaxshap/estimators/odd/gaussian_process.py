"""OddGP: balanced pairs and a Gaussian process on the odd part of the game; interactions come from
the even part.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import BudgetError
from jaxshap.estimators.least_squares import LeastSquares, least_squares, sequence_after
from jaxshap.estimators.odd.design import balanced_pairs, balanced_rates, least_pairs
from jaxshap.estimators.odd.fit import fitted, widened_error
from jaxshap.estimators.odd.kernels import (
    pair_cross,
    pair_variance,
    value_cross,
    value_variance,
    white_pair_cross,
    white_pair_variance,
    white_value_cross,
    white_value_variance,
)
from jaxshap.estimators.odd.process import ROUGH, Parameters, Posterior, Rows
from jaxshap.estimators.pair_regression import regress_pairs
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import affordable_pairs, paired

MOST_ROWS = 4000  # of a process; what it gets wrong about the others is left to regression
NEARLY_ADDITIVE = (
    1e-3  # rest beside the additive part, below which an output says nothing about lengths
)


@dataclasses.dataclass(frozen=True)
class BalancedPairs(Estimator):
    """What OddGP and its interactions share: the coalitions they ask about, and whether each output
    is fitted alone.
    """

    fit_each: bool | None = None

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        least = 2 * least_pairs(num_players) + 2
        if budget < least:
            raise BudgetError(
                f"budget={budget} does not buy each of {num_players} players and its complement: "
                f"pass budget={least} or more.",
                needed=least,
            )
        count = affordable_pairs(num_players, budget)
        return Plan(paired(balanced_pairs(key, num_players, count)), 2 * count)


@dataclasses.dataclass(frozen=True)
class OddGP(BalancedPairs):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random
    game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process
    with a length scale for each player learns how fast its interactions fade, and gives the values
    in closed form. Where an additive game predicts left-out pairs better, its least squares are
    taken instead. Values sum to v(N) − v(∅), are exact for games with interactions of at most two
    players, and when all pairs are enumerated. Otherwise biased: worths of nearby coalitions are
    assumed to be alike, and it gains least where they jump. Beyond 4,000 pairs the process knows
    the first, and the others correct it: a regression, as `Leverage` does it, of what it gets wrong
    about them. Standard errors are the posterior's, widened by a rule learned on random games (see
    `widened_error`). `fit_each`: whether each output (each row, class) gets length scales of its
    own, or all of them the same. None: where that costs a second or two at most. For a hundred rows
    of a network and a thousand pairs the error is smaller by two fifths, and the solve takes ten
    times as long: worth it where the model is slow. Related: OddSHAP (2026), ShaplEIG (2026), Zhou
    et al. (2025).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.OddGP(), budget=8).values).round(3))
        [2. 3. 3.]
    """

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        rows, scale = _unit_rows(plan, (worths[::2] - worths[1::2]) / 2, (full - empty) / 2)
        values, error = _read_out(rows, self.fit_each)
        if (
            plan.coalitions.shape[1] < 32
        ):  # a plan can hold every pair, and then nothing is left to be uncertain about
            every = rows.live.sum() == 2 ** (plan.coalitions.shape[1] - 1)
            values = jnp.where(every, white_value_cross(rows.signs).T @ rows.targets, values)
            error = jnp.where(every, 0, error)
        values, error = values * scale, error * scale
        values = values + ((full - empty).reshape(-1) - values.sum(0)) / len(values)
        return Estimate(*(part.reshape(-1, *empty.shape) for part in (values, error)))


@dataclasses.dataclass(frozen=True)
class OddInteractions(BalancedPairs):
    """The Shapley interaction index I_ij of every two players, one row for each i n + j; 0 where i
    = j.

    A Gaussian process on (v(S) + v(N∖S))/2, as OddGP has one on the odd part; biased like it, exact
    when all pairs are enumerated; short of that it asks about `MOST_ROWS` pairs at most, since it
    cannot use more. `jaxshap.estimate_interactions` gives the result its two axes.
    """

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        return super().plan(
            key, num_players, budget if 2**num_players <= budget else min(budget, 2 * MOST_ROWS)
        )

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        middle = (
            full + empty
        ) / 2  # a constant has no interactions; taking it away leaves what varies
        rows, scale = _unit_rows(
            plan, (worths[::2] + worths[1::2]) / 2 - middle, jnp.zeros_like(middle)
        )
        used = Rows(*(part[:MOST_ROWS] for part in rows))
        found = fitted(
            used, scale > 0, _of_pairs, rows.signs[:0], odd=False, fit_each=self.fit_each
        )
        values, error = found.values, widened_error(used, found)
        num_players = plan.coalitions.shape[1]
        first, second = np.triu_indices(num_players, 1)
        if len(rows.live) >= 2 ** (num_players - 1):  # a plan that can hold every pair
            every = rows.live.sum() == 2 ** (num_players - 1)
            values = jnp.where(
                every, white_pair_cross(rows.signs)[:, first, second].T @ rows.targets, values
            )
            error = jnp.where(every, 0, error)

        def square(upper):
            both = jnp.zeros((num_players, num_players, upper.shape[1]), upper.dtype)
            both = both.at[first, second].set(upper).at[second, first].set(upper)
            return both.reshape(num_players**2, *empty.shape)

        return Estimate(square(values * scale), square(error * scale))


def _unit_rows(
    plan: Plan, halves: Float[Array, "pairs *out"], whole: Float[Array, "*out"]
) -> tuple[Rows, Float[Array, "out"]]:
    """What was seen of the odd or the even part, {∅, N} first, each output in units of its size;
    and these sizes.
    """
    sides = jnp.concatenate([jnp.ones((1, plan.coalitions.shape[1]), bool), plan.coalitions[::2]])
    live = jnp.concatenate([jnp.ones(1, bool), plan.live[::2]])
    targets = jnp.concatenate([whole.reshape(1, -1), halves.reshape(len(halves), -1)])
    targets = jnp.where(live[:, None], targets, 0)
    scale = jnp.sqrt(
        (jax.lax.stop_gradient(targets) ** 2).sum(0) / live.sum().astype(targets.dtype)
    )  # a unit, no more
    signs = jnp.where(sides, 1, -1).astype(targets.dtype)
    return Rows(signs, live, targets / jnp.where(scale == 0, 1, scale)), scale


def _read_out(rows: Rows, fit_each: bool | None) -> Estimate:
    """Values and errors in units of the targets.

    A process on the first `MOST_ROWS`, corrected by what it gets wrong about the others; with
    thousands of players, regression alone.
    """
    num_rows, num_players = rows.signs.shape
    if num_rows <= MOST_ROWS:
        return _of_process(rows, rows.signs[:0], fit_each)[0]
    if num_players <= MOST_ROWS // 2:
        return _corrected(rows, fit_each)
    if num_rows > 3 * num_players:
        return _of_regression(rows)
    return _straight(least_squares(rows.signs, rows.targets, rows.live))


def _corrected(rows: Rows, fit_each: bool | None) -> Estimate:
    """The process on the first rows, and as much of the regression of its errors on the others as
    these errors tell.

    Or regression alone, where its error is smaller.
    """
    num_rows, num_players = rows.signs.shape
    found, means = _of_process(
        Rows(*(part[:MOST_ROWS] for part in rows)), rows.signs[MOST_ROWS:], fit_each
    )
    known = jnp.arange(num_rows) < MOST_ROWS
    rest = _of_regression(
        Rows(sequence_after(means, rows.signs), rows.live, rows.targets - means), known
    )
    plain = _of_regression(rows._replace(signs=sequence_after(rest.values, rows.signs)))
    own, others, alone = (
        jax.lax.stop_gradient(part.std_error**2).mean(0) for part in (found, rest, plain)
    )
    enough = (rows.live & ~known).sum() > 2 * num_players
    others = jnp.where(enough & (others >= 0), others, jnp.inf)  # NaN is not
    share = own / jnp.where(own + others > 0, own + others, 1)
    used = Estimate(*(jnp.where(share > 0, part, 0) for part in rest))
    error = jnp.hypot((1 - share) * found.std_error, share * used.std_error)
    return _where(
        alone < (error**2).mean(0), plain, Estimate(found.values + share * used.values, error)
    )


def _of_process(
    rows: Rows, elsewhere: Float[Array, "r n"], fit_each: bool | None
) -> tuple[Estimate, Array]:
    """Of the process, or additive where that predicts better; and what it makes of these rows and
    of other points.
    """
    additive = least_squares(rows.signs, rows.targets, rows.live)
    curved = (additive.left_out**2).sum(0) > NEARLY_ADDITIVE**2 * (rows.targets**2).sum(0)
    found = fitted(rows, curved, _of_values, elsewhere, odd=True, fit_each=fit_each)
    wide = Estimate(found.values, widened_error(rows, found))
    better = _squares(additive, rows.live) < _squares(found, rows.live)
    line = jnp.concatenate([rows.signs, elsewhere]) @ additive.coefficients
    means = jnp.where(better, line, found.means)
    return _where(better, _straight(additive), wide), means


def _of_regression(rows: Rows, known: Bool[Array, "m"] | None = None) -> Estimate:
    """By the pairs without {∅, N}, whose half gap is the sum that the values must have."""
    rates = balanced_rates(rows.signs.shape[1])
    known = None if known is None else known[1:]
    return regress_pairs(
        rows.signs[1:] > 0, rows.live[1:], 2 * rows.targets[1:], 2 * rows.targets[0], rates, known
    )


def _straight(found: LeastSquares) -> Estimate:
    return Estimate(2 * found.coefficients, 2 * found.std_error)


def _where(condition: Bool[Array, "out"], first: Estimate, second: Estimate) -> Estimate:
    return Estimate(*(jnp.where(condition, *parts) for parts in zip(first, second, strict=True)))


def _squares(found: LeastSquares | Posterior, live: Bool[Array, "m"]) -> Float[Array, "out"]:
    return (jnp.where(live[:, None], found.left_out, 0) ** 2).sum(0)


def _of_values(
    signs: Float[Array, "m n"], parameters: Parameters
) -> tuple[Float[Array, "m n"], Float[Array, "n"]]:
    """Covariance of the Shapley values with each row, and their prior variance, in units of the
    process.
    """
    both, nu, w = _scales(parameters)
    smooth, rough = jax.vmap(value_cross, (None, 0))(signs, both)
    variance = jax.vmap(value_variance)(both)
    cross = smooth + w * rough + nu * white_value_cross(signs)
    return cross, variance[0] + w * variance[1] + nu * white_value_variance(signs.shape[1])


def _of_pairs(
    signs: Float[Array, "m n"], parameters: Parameters
) -> tuple[Float[Array, "m k"], Float[Array, "k"]]:
    """The same for I_ij, i < j."""
    both, nu, w = _scales(parameters)
    smooth, rough = jax.vmap(pair_cross, (None, 0))(signs, both)
    variance = jax.vmap(pair_variance)(both)
    cross = smooth + w * rough + nu * white_pair_cross(signs)
    variance = variance[0] + w * variance[1] + nu * white_pair_variance(signs.shape[1])
    first, second = np.triu_indices(signs.shape[1], 1)
    return cross[:, first, second], variance[first, second]


def _scales(
    parameters: Parameters,
) -> tuple[Float[Array, "2 n"], Float[Array, ""], Float[Array, ""]]:
    """θ of the two smooth components, ν and w."""
    theta, nu, w = (jnp.exp(part) for part in parameters)
    return theta * jnp.asarray([[1], [ROUGH]], theta.dtype), nu, w
