"""OddGP: balanced pairs and a Gaussian process on the odd part of the game."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxshap.estimators.odd.balanced import BalancedPairs, unit_rows
from jaxshap.estimators.odd.kernels import white_value_cross
from jaxshap.estimators.odd.read_out import Shown, read_out
from jaxshap.estimators.protocol import Estimate, Plan
from jaxshap.estimators.stating import stated

MAX_ENUMERABLE_PLAYERS = 31  # beyond, no plan can hold every pair


@dataclasses.dataclass(frozen=True)
class OddGP(BalancedPairs):
    """Pairs {S, N∖S} balanced like an orthogonal array, and the posterior mean of a smooth random
    game given them.

    Only the odd part of a game, (v(S) − v(N∖S))/2, matters to Shapley values; a Gaussian process
    with a length scale for each player learns how fast its interactions fade, and gives the values
    in closed form. How worths depend on size alone is learned apart, since it gives all players the
    same. Where an additive game, or one without interactions of five players and more, predicts
    left-out pairs better, it is taken instead. Values sum to v(N) − v(∅), are exact for games with
    interactions of at most two players, for those of at most four from about n³/3 evaluations on,
    and when all pairs are enumerated. Otherwise biased: worths of nearby coalitions are
    assumed to be alike, and it gains least where they jump. Beyond 4,000 pairs the process knows
    the first, and the others correct it: a regression, as `Leverage` does it, of its errors on
    them. Standard errors are the posterior's, widened by a rule learned on random games, and hold
    what an interaction that no pair shows could do: not 0 for an additive or pairwise game, NaN,
    unknown, where all worths of all outputs are the same.
    Related: OddSHAP (2026), ShaplEIG (2026), Zhou et al. (2025).

    Args:
        fit_each: Whether each output (each row, each class) gets length scales of its own, or all
            outputs share them. None, the default: its own where that costs a second or two at most,
            and up to 128 players; of more, the worths of one output hardly tell them.
            For a hundred rows of a network and a thousand pairs the error is smaller by two fifths,
            and the solve takes ten times as long: worth it where the model is slow.

    Example:
        >>> import jaxshap, numpy as np
        >>> worths = [0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]  # players 0 and 1 add 2 together
        >>> estimate = jaxshap.estimate(0, jaxshap.table(worths), jaxshap.OddGP(), budget=8)
        >>> print(np.asarray(estimate.values).round(3))
        [2. 3. 3.]
    """

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        rows, scale = unit_rows(plan, (worths[::2] - worths[1::2]) / 2, (full - empty) / 2)
        scale = jnp.where(scale == 0, 1, scale)
        found = read_out(rows, self.fit_each, _shown(plan, worths, empty, full, scale))
        values = found.values * scale
        error = found.std_error * scale
        complete: bool | Array = False
        if num_players <= MAX_ENUMERABLE_PLAYERS:
            complete = rows.live.sum() == 2 ** (num_players - 1)
            exact = white_value_cross(rows.signs).T @ rows.targets * scale
            values = jnp.where(complete, exact, values)
        values = values + ((full - empty).reshape(-1) - values.sum(0)) / num_players
        values, error = (array.reshape(-1, *empty.shape) for array in (values, error))
        return stated(values, error, exact=complete)


def _shown(
    plan: Plan,
    worths: Float[Array, "m *out"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
    scale: Float[Array, "out"],
) -> Shown:
    """In units of `scale`; a spread of NaN where no output varies: nothing tells what a coalition
    not seen could show. An output that is constant beside others that vary is taken as constant.
    """
    spread = spread_of(plan, worths, empty, full)
    worths = jax.lax.stop_gradient(worths.reshape(len(worths), -1))
    inside = jnp.where(plan.live[:, None], worths, empty.reshape(-1))
    even = (inside[::2] + inside[1::2] - (empty + full).reshape(-1)) / 2
    even = jnp.pad(even, ((1, 0), (0, 0)))  # {∅, N} is where it is measured from
    return Shown(spread / 2 / scale, even / scale)


def spread_of(
    plan: Plan,
    worths: Float[Array, "m *out"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
) -> Float[Array, "out"]:
    """The largest less the smallest worth; NaN where no output varies."""
    worths = jax.lax.stop_gradient(worths.reshape(len(worths), -1))
    ends = jax.lax.stop_gradient(jnp.stack([empty, full]).reshape(2, -1))
    inside = jnp.concatenate([ends, jnp.where(plan.live[:, None], worths, ends[0])])
    spread = inside.max(0) - inside.min(0)
    constant = jnp.where((spread > 0).any(), 0, jnp.nan).astype(spread.dtype)
    return jnp.where(spread > 0, spread, constant)
