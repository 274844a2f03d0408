"""Owen sampling: the multilinear extension, integrated level by level."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan, mean_of_draws
from jaxshap.games import with_ends, without_ends


@dataclasses.dataclass(frozen=True)
class Owen(Estimator):
    """φ_i = ∫₀¹ E[v(S_q∪i) − v(S_q∖i)] dq, every player in S_q with probability q: one mask for
    each level of q.

    Levels are equal parts of [0, 1], and each mask draws its q within its part, so the estimate is
    unbiased for every game and any number of levels, with equal weights; a fixed grid is biased,
    and counts its ends and middle wrongly. `halved` takes levels in [0, 1/2] and each mask with its
    complement: exact for games with interactions of at most two players. One mask gives the gains
    of all n players for n + 1 evaluations; `samples_per_level` is as many as the budget buys,
    unless given. Values need not sum to v(N) − v(∅). Okhrati & Lipani (2020).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # players 0 and 1 add 2 together
        >>> print(np.asarray(jaxshap.estimate(0, game, jaxshap.Owen(halved=True), budget=40).values).round(3))
        [2. 3. 3.]
    """

    num_levels: int = 2
    samples_per_level: int | None = None
    halved: bool = False

    def __post_init__(self) -> None:
        least = 2 if self.halved else 1
        if self.num_levels < least or (self.halved and self.num_levels % 2):
            asked = "an even number" if self.halved else "a positive number"
            raise InputError(f"num_levels={self.num_levels}: pass {asked} of levels.")

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        samples = (budget - 2) // (self.num_levels * (num_players + 1))
        if samples < (self.samples_per_level or 1):
            need = (self.samples_per_level or 1) * self.num_levels * (num_players + 1) + 2
            raise BudgetError(
                f"budget={budget} does not buy {self.samples_per_level or 1} sample(s) at {self.num_levels} level(s) "
                f"for {num_players} players: pass budget={need} or more, or fewer levels (num_levels=)."
            )
        samples = self.samples_per_level or samples
        masks = jax.vmap(lambda draw: self._masks(jax.random.fold_in(key, draw), num_players))(
            jnp.arange(samples)
        )
        flips = jnp.concatenate(
            [jnp.zeros((1, num_players), bool), jnp.eye(num_players, dtype=bool)]
        )
        coalitions = (masks[..., None, :] ^ flips).reshape(
            -1, num_players
        )  # the mask, then each player changed in turn
        return Plan(without_ends(coalitions), len(coalitions), coalitions)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        shape = (-1, self.num_levels, num_players + 1)
        worths = with_ends(worths, plan.detail, empty, full).reshape(*shape, *empty.shape)
        member = plan.detail.reshape(*shape, num_players)[:, :, 0]
        change = worths[:, :, :1] - worths[:, :, 1:]  # (samples, levels, n, *out)
        gains = jnp.where(member.reshape(*member.shape, *(1,) * empty.ndim), change, -change)
        return mean_of_draws(gains.mean(1), plan.num_live // (self.num_levels * (num_players + 1)))

    def _masks(self, key: Key[Array, ""], num_players: int) -> Bool[Array, "levels n"]:
        """One sample at every level; halved, the second half of them are the complements of the
        first.
        """
        levels = self.num_levels // 2 if self.halved else self.num_levels
        chances = jax.random.uniform(key, (levels, num_players + 1), jnp.float32)
        level = (jnp.arange(levels, dtype=jnp.float32) + chances[:, 0]) / self.num_levels
        masks = chances[:, 1:] < level[:, None]
        return jnp.concatenate([masks, ~masks]) if self.halved else masks
