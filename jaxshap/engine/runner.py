"""estimate and estimate_interactions: plan, evaluate, solve; and the estimator to take when none is
named.
"""

import functools

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float, Key

from jaxshap.engine.compilation import compiled
from jaxshap.engine.evaluation import BatchSize, evaluate, is_traced
from jaxshap.engine.memory import bucket
from jaxshap.errors import BudgetError
from jaxshap.estimators import Estimate, Estimator, Exact, OddGP, Permutation, Plan
from jaxshap.games import Game, as_key, check_game


def estimate(
    key: Key[Array, ""] | int,
    game: Game,
    estimator: Estimator | None = None,
    budget: int | None = None,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
    mesh: Mesh | None = None,
) -> Estimate:
    """Shapley values and standard errors of a game for at most `budget` evaluations, ∅ and N
    counted.

    Pure: jit, vmap and grad go through it, in the key and in the game. Without an estimator it is
    exact when 2**n fits the budget, otherwise the most accurate estimator of the library. A `mesh`
    shares the evaluation out over its devices.

    Example:
        >>> import jaxshap, numpy as np
        >>> found = jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]))
        >>> print(np.asarray(found.values).round(3), found.std_error)
        [2. 3. 3.] [0. 0. 0.]
    """
    check_game(game)
    key, budget, estimator = settle(key, game.num_players, estimator, budget)
    return _estimate(key, game, estimator, budget, batch_size, progress, mesh)


def _estimate(
    key: Key[Array, ""],
    game: Game,
    estimator: Estimator,
    budget: int,
    batch_size: BatchSize,
    progress: bool | None,
    mesh: Mesh | None = None,
) -> Estimate:
    if is_traced((key, game)):
        plan = estimator.plan(key, game.num_players, budget)
        worths = evaluate(game, plan.coalitions, batch_size=batch_size, mesh=mesh)
        return estimator.solve(plan, worths, game.empty, game.full)
    plan, coalitions = make_plan(key, game.num_players, estimator, budget)
    worths = evaluate(game, coalitions, batch_size=batch_size, progress=progress, mesh=mesh)
    return solve(estimator, plan, np.asarray(worths), game)


def settle(
    key: Key[Array, ""] | int, num_players: int, estimator: Estimator | None, budget: int | None
) -> tuple[Key[Array, ""], int, Estimator]:
    """The key, budget and estimator that a call means."""
    key = as_key(key)
    budget = default_budget(num_players) if budget is None else int(budget)
    if budget < 2:
        raise BudgetError(f"budget={budget}: v(∅) and v(N) alone cost 2 evaluations.")
    if num_players <= 2 or (
        estimator is None and 2**num_players <= budget
    ):  # two players have four worths in all
        return key, budget, Exact()
    if (
        estimator is None
    ):  # below 2n + 2, one ordering and its reverse is the most that a budget buys
        estimator = OddGP() if budget >= 2 * num_players + 2 else Permutation()
    return key, budget, estimator


def default_budget(num_players: int) -> int:
    """The budget when none is named: what shap's KernelExplainer takes, so that the two can be
    compared.
    """
    return 2 * num_players + 2048


def make_plan(
    key: Key[Array, ""], num_players: int, estimator: Estimator, budget: int
) -> tuple[Plan, Bool[np.ndarray, "live n"]]:
    """The plan for this budget, padded with what a slightly larger one would buy, and the
    coalitions without padding.

    A plan is a prefix of the plan for any larger budget, so nearby budgets share one compiled
    program.
    """
    size = plan_size(estimator, num_players, budget)
    plan = _plan(estimator, num_players, bucket(budget), key)._replace(num_live=size)
    return plan, np.asarray(plan.coalitions)[:size]


def solve(
    estimator: Estimator, plan: Plan, worths: Float[np.ndarray, "live *out"], game: Game
) -> Estimate:
    """`estimator.solve`, compiled once for all plans and outputs of about this size."""
    shape = game.empty.shape
    outputs = int(np.prod(shape))

    def padded(array, length):
        flat = np.asarray(array).reshape(-1, outputs)
        return np.pad(flat, ((0, length - len(flat)), (0, bucket(outputs) - outputs)))

    ends = (padded(end, 1)[0] for end in (game.empty, game.full))
    result = _solve(estimator, plan, padded(worths, len(plan.coalitions)), *ends)
    return Estimate(
        *(jax.device_put(np.asarray(part)[:, :outputs].reshape(-1, *shape)) for part in result)
    )


@functools.lru_cache(maxsize=1024)
def plan_size(estimator: Estimator, num_players: int, budget: int) -> int:
    """How many coalitions the budget buys, ∅ and N not counted."""
    return len(
        jax.eval_shape(
            lambda key: estimator.plan(key, num_players, budget), jax.random.key(0)
        ).coalitions
    )


def _plan_of(estimator: Estimator, num_players: int, budget: int, key: Key[Array, ""]) -> Plan:
    return estimator.plan(key, num_players, budget)


def _solve_of(estimator: Estimator, plan: Plan, worths, empty, full) -> Estimate:
    return estimator.solve(plan, worths, empty, full)


_plan = compiled(_plan_of, static_argnums=(0, 1, 2))
_solve = compiled(_solve_of, static_argnums=0)
