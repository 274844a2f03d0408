"""Plans: made on the host, padded up to a bucket and kept; and what a budget buys."""

import functools
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, Bool, Key

from jaxshap.engine.compilation import compiled
from jaxshap.engine.memory import bucket
from jaxshap.errors import BudgetError
from jaxshap.estimators import Estimator, Plan

MAX_KEPT_PLANS = 32
MAX_KEPT_BYTES = 2**24  # of one plan; larger ones are made anew


@runtime_checkable
class Planner(Protocol):
    """Anything that plans which coalitions to ask about; estimators do."""

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan: ...


class Asked(NamedTuple):
    """All that a plan in a bucket depends on: the key is its implementation and its data."""

    planner: Planner
    num_players: int
    budget: int
    num_strata: int | None
    key: tuple[str, bytes]
    settings: tuple[bool, ...]  # of JAX, which numbers and draws depend on


def make_plan(
    key: Key[Array, ""],
    num_players: int,
    planner: Planner,
    budget: int,
    num_strata: int | None = None,
) -> tuple[Plan, Bool[np.ndarray, "..."]]:
    """The plan for this budget, padded up to a bucket, and its coalitions without padding.

    A plan is a prefix of the plan for any larger budget, so nearby budgets share one program. It is
    made on the host, whatever the device: it goes through it to be evaluated in batches.
    """
    size = plan_size(planner, num_players, budget)
    room = None if num_strata is None else bucket(num_strata)
    plan = _kept_plan(planner, num_players, bucket(budget), room, key)
    constants = ()
    if isinstance(planner, Estimator):
        constants = planner.constants(num_players, size, len(plan.coalitions))
    coalitions: Any = plan.coalitions[:size]
    plan = plan._replace(num_live=size, constants=constants)
    return plan, coalitions if num_strata is None else coalitions[:, :num_strata]


@functools.lru_cache(maxsize=1024)
def plan_size(planner: Planner, num_players: int, budget: int) -> int:
    """How many coalitions the budget buys, ∅ and N not counted."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    plan = jax.eval_shape(lambda key: planner.plan(key, num_players, budget), key)
    return len(plan.coalitions)


def is_enough(estimator: Estimator, num_players: int, budget: int) -> bool:
    """Whether the estimator can do anything with this budget."""
    try:
        plan_size(estimator, num_players, budget)
    except BudgetError:
        return False
    return True


def least_budget(estimator: Estimator, num_players: int) -> int:
    """The smallest budget that the estimator can use."""
    budget = 4
    while not is_enough(estimator, num_players, budget):
        budget = _needed(estimator, num_players, budget) or 2 * budget
    return budget


def planned(planner: Any, num_players: int, budget: int, num_strata: int | None, key) -> Plan:
    """The plan, without padding."""
    if num_strata is None:
        return planner.plan(key, num_players, budget)
    return planner.plan(key, num_players, budget, num_strata)


def _needed(estimator: Estimator, num_players: int, budget: int) -> int | None:
    try:
        plan_size(estimator, num_players, budget)
    except BudgetError as error:
        return error.needed
    return budget


_plan = compiled(planned, static_argnums=(0, 1, 2, 3))
_kept: dict[Asked, Plan] = {}  # in the order of their last use


def _kept_plan(
    planner: Planner, num_players: int, budget: int, num_strata: int | None, key: Any
) -> Plan:
    """Made once for each key: an explanation in rounds, or of table after table, asks again."""
    data = np.asarray(jax.device_get(jax.random.key_data(key))).tobytes()
    config: Any = jax.config
    settings = config.jax_enable_x64, config.jax_threefry_partitionable
    which = str(jax.random.key_impl(key)), data
    asked = Asked(planner, num_players, budget, num_strata, which, settings)
    plan = _kept.pop(asked, None)
    if plan is None:
        plan = _made_on_host(planner, num_players, budget, num_strata, key)
    if sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(plan)) <= MAX_KEPT_BYTES:
        _kept[asked] = plan
        while len(_kept) > MAX_KEPT_PLANS:
            _kept.pop(next(iter(_kept)), None)
    return plan


def _made_on_host(
    planner: Planner, num_players: int, budget: int, num_strata: int | None, key: Any
) -> Plan:
    """With numpy arrays."""
    if jax.default_backend() == "cpu":
        return jax.device_get(_plan(planner, num_players, budget, num_strata, key))
    host = jax.local_devices(backend="cpu")[0]
    with jax.default_device(host):
        key = jax.device_put(key, host)
        return jax.device_get(_plan(planner, num_players, budget, num_strata, key))
