"""Interactions from the evaluations that values were estimated from."""

import math
from typing import Any

import jax
import numpy as np

from jaxshap.engine import Run, bucket, default_process, read_budget, solve
from jaxshap.errors import InputError
from jaxshap.estimators import Estimator, Exact, OddGP, OddInteractions, Scattered
from jaxshap.games import Game, check_num_sets, check_order, table
from jaxshap.interactions import Interactions, exact_interactions

FITS_OF_SETS = 3  # of the values, and of both halves of a game for its interactions


def check_interactions(order: Any, num_players: int) -> None:
    """Refuse an order that is not there."""
    check_order(order, num_players)
    if order < 2:
        raise InputError(f"interactions={order}: pass 2 for pairs of players, or more.")
    check_num_sets(order, num_players)


def check_no_sets(order: Any, separate_draws: bool) -> None:
    """Refuse what interactions do not go with."""
    if order is not None and separate_draws:
        raise InputError("interactions= does not go with separate_draws=: omit one of them.")


def estimator_with_sets(
    estimator: Any, game: Game, budget: Any, order: int, in_rounds: bool
) -> Estimator:
    """The one that was named, or the default among those that ask what interactions need.

    In rounds, of which there may be many, one process serves all strata.
    """
    check_interactions(order, game.num_players)
    if isinstance(estimator, Exact) or isinstance(_of_stratum(estimator), OddGP):
        return estimator
    if estimator is not None:
        raise InputError(
            f"interactions= come from pairs of coalitions or from all of them, and {estimator!r} "
            "asks about others: omit estimator=, or pass OddGP(), Scattered(OddGP()) or Exact()."
        )
    budget = read_budget(budget, game.num_players)
    if 2**game.num_players <= budget or game.num_players <= 2:
        return Exact()
    return OddGP() if in_rounds else default_process(game, budget, FITS_OF_SETS)


def sets_of(spent: Run, game: Game, estimator: Estimator, order: int | None) -> Interactions | None:
    """The Shapley interactions that these evaluations tell of, if any were asked for."""
    if order is None:
        return None
    number = game.num_players
    process = _of_stratum(estimator)
    if not isinstance(process, OddGP):
        return exact_interactions(_table(spent, game), "SII", order)
    sampler = OddInteractions(process.fit_each, order=order)
    solver: Estimator = Scattered(sampler) if isinstance(estimator, Scattered) else sampler
    estimate = solve(solver, spent.answers, game)
    base = np.asarray(game.empty)
    num_coalitions = len(spent.answers.plan.coalitions)
    tried = sampler.search(num_coalitions, number, bucket(math.prod(base.shape)))
    return Interactions(estimate.values, estimate.std_error, base, "SII", number, order, tried)


def _of_stratum(estimator: Any) -> Any:
    """What solves each stratum, or the game where it is solved as one."""
    return estimator.estimator if isinstance(estimator, Scattered) else estimator


def _table(spent: Run, game: Game) -> Game:
    """The game as a table of all worths that were asked about."""
    number = game.num_players
    worths: Any = jax.device_get(spent.answers.worths)
    coalitions = np.asarray(jax.device_get(spent.answers.plan.coalitions))[: len(worths)]
    ends = [np.asarray(end)[None] for end in (game.empty, game.full)]
    codes = np.append(coalitions @ 2 ** np.arange(number), [0, 2**number - 1])
    return table(np.concatenate([worths, *ends])[np.argsort(codes)])
