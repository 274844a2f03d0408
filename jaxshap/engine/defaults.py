"""What a call means when it does not say: the key, the budget, and the default estimator."""

import math
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from jaxshap.errors import BudgetError, InputError, InputTypeError
from jaxshap.estimators import Estimator, Exact, OddGP, Permutation
from jaxshap.games import Game


def default_budget(num_players: int) -> int:
    """The budget when none is named: what shap's KernelExplainer takes, so that they compare."""
    return 2 * num_players + 2048


def default_estimator(game: Game, budget: int) -> Estimator:
    """Exact where 2**n is affordable, else the most accurate estimator that the budget buys."""
    if 2**game.num_players <= budget:
        return Exact()
    # below 2n + 2, one ordering and its reverse is the most that a budget buys
    return OddGP() if budget >= 2 * game.num_players + 2 else Permutation()


def read_estimator(estimator: Any, game: Game, budget: int) -> Estimator:
    """The estimator that was named, or the default; two players have but four worths in all."""
    if estimator is not None and not isinstance(estimator, Estimator):
        hint = ": call it" if isinstance(estimator, type) else ""
        raise InputTypeError(
            f"estimator={estimator!r} is not an estimator, such as jaxshap.Kernel(){hint}."
        )
    if game.num_players <= 2:
        return Exact()
    return default_estimator(game, budget) if estimator is None else estimator


def read_budget(budget: Any, num_players: int, estimator: Any = None) -> int:
    """A whole number of evaluations; exact values know how many they need."""
    if budget is None:
        return 2**num_players if isinstance(estimator, Exact) else default_budget(num_players)
    whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
    if isinstance(budget, float | np.floating) and math.isfinite(budget):
        whole = float(budget).is_integer()
    if not whole:
        raise InputError(f"budget={budget!r}: pass a whole number of evaluations, such as 2000.")
    if budget < 2:
        raise BudgetError(f"budget={budget}: v(∅) and v(N) alone cost 2 evaluations.", 2)
    return int(budget)


def read_key(key: Any) -> Key[Array, ""]:
    """A JAX key, new or old, or a whole number that becomes one."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -(2**63) <= key < 2**63:
            raise InputError(
                f"key={key} does not fit in 64 bits: pass a number from −2**63 to 2**63 − 1, or a "
                "jax.random.key."
            )
        return jax.random.key(int(key))
    dtype, shape = getattr(key, "dtype", None), np.shape(key)
    if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key) and shape == ():
        return key
    if dtype == np.uint32 and shape == (2,):
        return jax.random.wrap_key_data(key)
    raise InputTypeError(f"key={key!r}: pass a whole number or a single jax.random.key.")
