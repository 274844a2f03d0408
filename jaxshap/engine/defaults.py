"""What a call means when it does not say: the key, the budget, and the default estimator."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxshap.errors import BudgetError, InputError, InputTypeError
from jaxshap.estimators import (
    MAX_FIT_FLOPS,
    BalancedFirst,
    Estimator,
    Exact,
    OddGP,
    Permutation,
    Scattered,
    fit_flops,
)
from jaxshap.games import Game, shown

MAX_BUDGET = 2**31 - 1  # coalitions are counted in int32
MIN_BUDGET = 512  # evaluations that nobody minds: all coalitions of nine players
EVALUATIONS_PER_PLAYER = 20  # for an error below 1 % of the spread of worths
FITS_OF_FIRST_STAGE = 4  # to a single output that a fit from scratch, or to all, costs more
STRATA_OF_PROCESSES = 5  # per evaluation per player: from there on linear read-outs are as good
STRATA_OF_ONE_PROCESS = 3  # per √ of the same, where there is time for one process for all only
MANY_PLAYERS = 200  # from whom on, where all matter alike, a linear read-out is nearly as good as
WELL_DETERMINED = 4  # a process, given so many evaluations per player
FEW_EVALUATIONS = 8192  # up to which that was measured


def default_budget(num_players: int) -> int:
    """The budget when none is named: 20n, but not below 512 nor above 2n + 2048.

    A row's largest error, as a share of the spread of its worths, hardly depends on n at a given
    number c of evaluations per player. On networks, c = 20 keeps its median below 1 %, and c = 5
    does not, as `benchmarks/default_budget.py` measures. 512 is all coalitions of nine players.
    Above 113 players 2n + 2048, what shap's KernelExplainer takes, is less than 20n, and the error
    is still below 1 % with 500 players.
    """
    return min(max(MIN_BUDGET, EVALUATIONS_PER_PLAYER * num_players), 2 * num_players + 2048)


def default_estimator(game: Game, budget: int, most: int | None = None) -> Estimator:
    """Exact where 2**n is affordable, else the most accurate estimator that the budget buys.

    Strata get coalitions of their own, and their errors average out. A Gaussian process makes more
    of each coalition, but the bias of many does not average out, so each stratum has one if there
    are few of them, unless that would take long at the largest budget, `most`. How many are few
    grows with the budget, as the bias shrinks.
    """
    if 2**game.num_players <= budget:
        return Exact()
    if budget < 2 * game.num_players + 2:  # one ordering and its reverse is all that it buys
        return Scattered() if game.num_strata > 1 else Permutation()
    largest = max(budget, most or 0)
    if game.num_strata == 1:
        many = _is_read_out(game.num_players, budget, largest)
        return BalancedFirst() if many else OddGP()
    process = default_process(game, largest)
    if isinstance(process, Scattered):
        few = STRATA_OF_PROCESSES * largest / game.num_players
    else:
        few = STRATA_OF_ONE_PROCESS * math.sqrt(budget / game.num_players)
    return process if game.num_strata < few else Scattered()


def default_process(game: Game, budget: int, fits: int = 1) -> Estimator:
    """A Gaussian process for each stratum where these are fitted in a second or two, or for all.

    `fits` is how many of them each stratum and output takes.
    """
    fits *= game.num_strata * (math.prod(game.empty.shape) + FITS_OF_FIRST_STAGE)
    quick = fits * fit_flops(budget // 2) <= MAX_FIT_FLOPS
    return Scattered(OddGP()) if game.num_strata > 1 and quick else OddGP()


def _is_read_out(num_players: int, budget: int, most: int) -> bool:
    """Whether the error of a linear read-out is within a tenth of that of a process, at a hundredth
    of its time, where players matter alike.
    """
    enough = budget >= WELL_DETERMINED * num_players
    return num_players >= MANY_PLAYERS and enough and most <= FEW_EVALUATIONS


def read_estimator(estimator: Any, game: Game, budget: int, most: int | None = None) -> Estimator:
    """The estimator that was named, or the default; two players have but four worths in all."""
    if estimator is not None and not isinstance(estimator, Estimator):
        hint = ": call it" if isinstance(estimator, type) else ""
        raise InputTypeError(
            f"estimator={estimator!r} is not an estimator, such as jaxshap.Kernel(){hint}."
        )
    if game.num_players <= 2:
        return Exact()
    if estimator is None:
        return default_estimator(game, budget, most)
    return estimator.affordable(game.num_players, budget)


def read_budget(budget: Any, num_players: int, estimator: Any = None) -> int:
    """A whole number of evaluations; exact values, and errors, know how many they need."""
    if budget is None:
        if not isinstance(estimator, Exact):
            named = isinstance(estimator, Estimator)
            least = estimator.budget_for_errors(num_players) if named else 0
            return max(default_budget(num_players), least)
        if 2**num_players > MAX_BUDGET:
            raise BudgetError(
                f"exact values of {num_players} players need 2**{num_players} coalitions: omit "
                "estimator=Exact(), or pass one that samples.",
                2**num_players,
            )
        return 2**num_players
    whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
    if isinstance(budget, float | np.floating) and math.isfinite(budget):
        whole = float(budget).is_integer()
    if not whole:
        raise InputError(f"budget={budget!r}: pass a whole number of evaluations, such as 2000.")
    if budget < 2:
        raise BudgetError(f"budget={budget}: v(∅) and v(N) alone cost 2 evaluations.", 2)
    if budget > MAX_BUDGET:
        raise InputError(f"budget={budget}: pass at most {MAX_BUDGET}, the largest int32.")
    return int(budget)


def read_key(key: Any) -> Key[Array, ""]:
    """A JAX key, new or old, or a whole number that becomes one."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -(2**63) <= key < 2**63:
            raise InputError(
                f"key={key} does not fit in 64 bits: pass a number from −2**63 to 2**63 − 1, or a "
                "jax.random.key."
            )
        with jax.transfer_guard("allow"):  # of the one number that was given
            return jax.random.key(int(key))
    given: Any = key
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key) and shape == ():
        return given
    if dtype == np.uint32 and shape == (2,):
        return jax.random.wrap_key_data(given)
    raise InputTypeError(f"key={shown(key)}: pass a whole number or a single jax.random.key.")
