"""Exact values from a plan of any estimator that turned out to hold every coalition."""

import jax
import numpy as np

from jaxshap.engine.defaults import read_key
from jaxshap.engine.plans import make_plan
from jaxshap.engine.runner import Answers, Run, solve
from jaxshap.estimators import Exact
from jaxshap.games import Game


def is_complete(answers: Answers, num_players: int) -> bool:
    """Whether all coalitions were asked about; plans that repeat some do not count."""
    return answers.num_evaluations + 2 == 2**num_players


def enumerated(answers: Answers, game: Game) -> Run:
    """The exact values; each stratum may have had an order of its own."""
    num_players = game.num_players
    worths = np.asarray(jax.device_get(answers.worths))
    coalitions = np.asarray(jax.device_get(answers.plan.coalitions))[: len(worths)]
    if coalitions.ndim == 3:
        coalitions = coalitions[:, : worths.shape[1]]
    order = np.argsort(coalitions @ _powers(num_players), axis=0)
    order = order.reshape(*order.shape, *(1,) * (worths.ndim - order.ndim))
    sorted_worths = np.take_along_axis(worths, order, axis=0)
    if coalitions.ndim == 3:
        sorted_worths = sorted_worths.sum(1, dtype=np.float64).astype(worths.dtype)
    plan, planned = make_plan(read_key(0), num_players, Exact(), 2**num_players)
    ordered = Answers(plan, sorted_worths[planned @ _powers(num_players) - 1])  # ∅ is left out
    return Run(ordered, solve(Exact(), ordered, game))


def _powers(num_players: int) -> np.ndarray:
    return 2 ** np.arange(num_players)
