"""The one place where plan, evaluate and solve are strung together, for everybody."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.engine.batches import is_traced
from jaxshap.engine.evaluation import evaluate, evaluate_on_host
from jaxshap.engine.host_solve import solve_on_host
from jaxshap.engine.memory import check_fits
from jaxshap.engine.options import Options
from jaxshap.engine.plans import Planner, is_enough, make_plan, plan_size, planned
from jaxshap.engine.units import in_units, rounding_error, unit_of
from jaxshap.errors import EvaluationError, Interrupted
from jaxshap.estimators import Estimate, Estimator, Plan, Scattered, of_one_shape
from jaxshap.games import Game

MAX_WORTH_BYTES = 3 * 2**27  # of worths and coalitions of all strata; a solve takes eight times it


class Answers(NamedTuple):
    """A plan and the worths of its coalitions, padding left out."""

    plan: Plan
    worths: Float[Array | np.ndarray, "m *out"]

    @property
    def num_evaluations(self) -> int:
        """Coalitions that were asked about, each of all rows and strata; ∅ and N not counted."""
        return len(self.worths)


class Run(NamedTuple):
    """What was asked, what came back, and the estimate it amounts to."""

    answers: Answers
    estimate: Estimate


def run(
    key: Key[Array, ""],
    game: Game,
    estimator: Estimator,
    budget: int,
    options: Options | None = None,
    known: Any = None,
) -> Run:
    """Plan, evaluate and solve; inside jit, vmap and grad all of it is traced.

    `known` are worths of the first coalitions of the plan, from a round with a smaller budget.
    """
    game = strata_for(game, estimator, budget)
    answers = ask(key, game, estimator, budget, options, known)
    return Run(answers, solve(estimator, answers, game))


def ask(
    key: Key[Array, ""],
    game: Game,
    planner: Planner,
    budget: int,
    options: Options | None = None,
    known: Any = None,
) -> Answers:
    """Plan and evaluate."""
    options = Options() if options is None else options
    num_strata = game.num_strata if isinstance(planner, Scattered) else None
    size = plan_size(planner, game.num_players, budget)
    check_fits(size, game.num_players, game.empty.size)
    if is_traced((key, game)):
        plan = planned(planner, game.num_players, budget, num_strata, key)
        how = {"batch_size": options.batch_size, "mesh": options.mesh}
        return Answers(plan, evaluate(game, plan.coalitions, **how))
    plan, coalitions = make_plan(key, game.num_players, planner, budget, num_strata)
    return Answers(plan, evaluate_on_host(game, coalitions, known, options))


def answer(game: Game, plan: Plan, options: Options | None = None) -> Answers:
    """Evaluate a plan that is there already, without padding."""
    options = Options() if options is None else options
    if is_traced((plan.coalitions, game)):
        return Answers(plan, evaluate(game, plan.coalitions, batch_size=options.batch_size))
    coalitions = np.asarray(jax.device_get(plan.coalitions))
    return Answers(plan, evaluate_on_host(game, coalitions, None, options))


def solve(estimator: Estimator, answers: Answers, game: Game) -> Estimate:
    """The estimate; of concrete worths in float64 on the host, under jit on the device."""
    plan, worths = answers
    ends: Any = game.strata_ends() if isinstance(estimator, Scattered) else (game.empty, game.full)
    if is_traced((plan, worths, game)):
        traced: Any = worths
        return traced_solve(estimator, plan, traced, *ends)
    return solve_on_host(estimator, plan, worths, *ends)


def solve_each(estimator: Scattered, answers: Answers, game: Game) -> Estimate:
    """What each stratum amounts to by itself, weights included, `(strata, n, *out)`."""
    return solve_on_host(estimator, *answers, *game.strata_ends(), each=True)


def traced_solve(estimator: Estimator, plan: Plan, worths, empty, full) -> Estimate:
    """`estimator.solve` under jit, with each output centred and in units of its size."""
    in_strata = isinstance(estimator, Scattered)
    rounding = rounding_error(worths, empty, full, in_strata)
    gains, total = worths - empty, full - empty
    unit = unit_of(gains, total, in_strata, estimator.has_units)
    solved = estimator.solve(plan, gains / unit, jnp.zeros_like(total), total / unit)
    return in_units(of_one_shape(solved), unit, rounding)


def salvage(
    key: Key[Array, ""], game: Game, estimator: Estimator, stop: Interrupted | EvaluationError
) -> Run | None:
    """What the worths evaluated so far amount to, or None where they are too few."""
    strata = strata_for(game, estimator, 2)
    per_coalition = strata.num_strata if isinstance(estimator, Scattered) else 1
    budget = len(stop.worths) // per_coalition + 2
    if not is_enough(estimator, game.num_players, budget):
        return None
    num_strata = per_coalition if isinstance(estimator, Scattered) else None
    plan, coalitions = make_plan(key, game.num_players, estimator, budget, num_strata)
    size = len(coalitions)
    worths = stop.worths[: size * per_coalition].reshape(*coalitions.shape[:-1], *game.empty.shape)
    answers = Answers(plan, worths)
    return Run(answers, solve(estimator, answers, strata))


def strata_for(game: Game, estimator: Estimator, budget: int) -> Game:
    """The game with no more strata than memory allows; neighbouring ones are merged."""
    if not isinstance(estimator, Scattered):
        return game
    bytes_of_worths = int(np.prod(game.empty.shape)) * game.empty.dtype.itemsize + game.num_players
    return game.with_strata(max(1, MAX_WORTH_BYTES // (max(budget, 256) * bytes_of_worths)))
