"""Owen sampling: the multilinear extension, integrated level by level."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import mean_of_draws
from jaxshap.games import read_flag, read_whole, with_ends, without_ends


@dataclasses.dataclass(frozen=True)
class Owen(Estimator):
    """φ_i = ∫₀¹ E[v(S_q∪i) − v(S_q∖i)] dq, where every player is in S_q with probability q.

    Levels are equal parts of [0, 1], and each mask S_q draws its q within its level, so the
    estimate is unbiased for every game and any number of levels; a fixed grid of q is biased. One
    mask gives the gains of all n players for n + 1 evaluations. Values need not sum to
    v(N) − v(∅). Okhrati & Lipani (2020).

    Args:
        num_levels: into how many levels q is stratified; 2 by default.
        samples_per_level: masks per level; as many as the budget buys by default.
        halved: whether to take levels in [0, ½] and each mask with its complement, which is exact
            for games with interactions of at most two players; needs an even number of levels.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])  # 0 and 1 add 2 together
        >>> estimate = jaxshap.estimate(0, game, jaxshap.Owen(halved=True), budget=40)
        >>> print(np.asarray(estimate.values).round(3))
        [2. 3. 3.]
    """

    num_levels: int = 2
    samples_per_level: int | None = None
    halved: bool = False

    def __post_init__(self) -> None:
        read_flag(self.halved, "halved")
        object.__setattr__(self, "num_levels", read_whole(self.num_levels, "num_levels"))
        if self.samples_per_level is not None:
            samples = read_whole(self.samples_per_level, "samples_per_level")
            object.__setattr__(self, "samples_per_level", samples)
        least = 2 if self.halved else 1
        if self.num_levels < least or (self.halved and self.num_levels % 2):
            kind = "an even number" if self.halved else "a positive number"
            raise InputError(f"num_levels={self.num_levels}: pass {kind} of levels.")

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        cost = self.num_levels * (num_players + 1)  # of a sample at every level
        samples, least = (budget - 2) // cost, self.samples_per_level or 1
        if samples < least:
            needed = least * cost + 2
            raise BudgetError(
                f"budget={budget} does not buy {least} sample(s) at {self.num_levels} level(s) for "
                f"{num_players} players: pass budget={needed} or more, or fewer levels "
                "(num_levels=).",
                needed=needed,
            )
        masks = jax.vmap(lambda draw: self._masks(jax.random.fold_in(key, draw), num_players))(
            jnp.arange(self.samples_per_level or samples)
        )
        none = jnp.zeros((1, num_players), bool)
        flips = jnp.concatenate([none, jnp.eye(num_players, dtype=bool)])
        # each mask is followed by the n coalitions that differ from it in one player
        coalitions = (masks[..., None, :] ^ flips).reshape(-1, num_players)
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

    def _masks(
        self, key: Key[Array, ""], num_players: int
    ) -> Bool[Array, "{self.num_levels} {num_players}"]:
        """One mask per level; if halved, the second half are the complements of the first."""
        levels = self.num_levels // 2 if self.halved else self.num_levels
        chances = jax.random.uniform(key, (levels, num_players + 1), jnp.float32)
        level = (jnp.arange(levels, dtype=jnp.float32) + chances[:, 0]) / self.num_levels
        masks = chances[:, 1:] < level[:, None]
        return jnp.concatenate([masks, ~masks]) if self.halved else masks
