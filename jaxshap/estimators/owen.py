"""Owen sampling: the multilinear extension, integrated level by level."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.coalitions import with_ends, without_ends
from jaxshap.estimator import Estimate, Estimator, Plan, mean_of_draws


@dataclasses.dataclass(frozen=True)
class Owen(Estimator):
    """φ_i = ∫₀¹ E[v(S_q∪i) − v(S_q∖i)] dq, every player in S_q with probability q, by Gauss–Legendre quadrature.

    The integrand is a polynomial of degree n−1 in q: with ⌈n/2⌉ levels or more (the default) the quadrature is exact
    and the estimate unbiased; with fewer, biased by interactions of more than 2·num_levels players. `halved` draws at
    the levels q ≤ 1/2 only and takes each mask with its complement, which is exact for games with interactions of at
    most two players. One mask gives the gains of all n players for n + 1 evaluations; `samples_per_level` is as many
    as the budget buys, unless given. Values need not sum to v(N) − v(∅). Okhrati & Lipani (2020).
    """

    num_levels: int | None = None
    samples_per_level: int | None = None
    halved: bool = False

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        levels, _ = self._levels(num_players)
        masks = len(levels) * (2 if self.halved else 1)  # of one round: a sample at every level
        rounds = (budget - 2) // (masks * (num_players + 1))
        if rounds < (self.samples_per_level or 1):
            need = (self.samples_per_level or 1) * masks * (num_players + 1) + 2
            raise ValueError(
                f"budget={budget} does not buy {self.samples_per_level or 1} sample(s) at each of {len(levels)} levels "
                f"for {num_players} players: pass budget={need} or more, or fewer levels (num_levels=)."
            )
        rounds = self.samples_per_level or rounds
        draw = jax.vmap(
            lambda index: _masks(jax.random.fold_in(key, index), jnp.asarray(levels, jnp.float32), num_players)
        )
        drawn = draw(jnp.arange(rounds))[:, None]  # (rounds, 1, levels, n)
        if self.halved:
            drawn = jnp.concatenate([drawn, ~drawn], axis=1)
        flips = jnp.concatenate([jnp.zeros((1, num_players), bool), jnp.eye(num_players, dtype=bool)])
        coalitions = (drawn[..., None, :] ^ flips).reshape(
            -1, num_players
        )  # the mask, then each player changed in turn
        return Plan(without_ends(coalitions), len(coalitions), coalitions)

    def solve(
        self, plan: Plan, worths: Float[Array, "m *out"], empty: Float[Array, "*out"], full: Float[Array, "*out"]
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        levels, weights = self._levels(num_players)
        shape = (-1, 2 if self.halved else 1, len(levels), num_players + 1)
        worths = with_ends(worths, plan.detail, empty, full).reshape(*shape, *empty.shape)
        member = plan.detail.reshape(*shape, num_players)[..., 0, :]
        change = worths[:, :, :, :1] - worths[:, :, :, 1:]  # (rounds, sides, levels, n, *out)
        gains = jnp.where(member.reshape(*member.shape, *(1,) * empty.ndim), change, -change).mean(1)
        draws = jnp.tensordot(jnp.asarray(weights, worths.dtype), gains, (0, 1))
        return mean_of_draws(draws, plan.num_live // int(np.prod(shape[1:])))

    def _levels(self, num_players: int) -> tuple[Float[np.ndarray, "levels"], Float[np.ndarray, "levels"]]:
        """Nodes and weights on [0, 1]; halved, those up to 1/2 with the weight of their mirror image."""
        if self.num_levels is not None and self.num_levels < 1:
            raise ValueError(f"num_levels={self.num_levels}: pass a positive number of levels.")
        nodes, weights = np.polynomial.legendre.leggauss(self.num_levels or -(-num_players // 2))
        levels, weights = (nodes + 1) / 2, weights / 2
        if not self.halved:
            return levels, weights
        lower = levels <= 0.5 + 1e-12
        return levels[lower], weights[lower] * np.where(levels[lower] < 0.5 - 1e-12, 2, 1)


def _masks(key: Key[Array, ""], levels: Float[Array, "levels"], num_players: int) -> Bool[Array, "levels n"]:
    return jax.random.uniform(key, (len(levels), num_players), jnp.float32) < levels[:, None]
