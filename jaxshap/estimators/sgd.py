"""Shapley values by projected stochastic gradient descent on the weighted least-squares problem."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Key

from jaxshap.errors import BudgetError, InputTypeError
from jaxshap.estimators.projections import project
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.estimators.stating import stated
from jaxshap.estimators.steps import ConstantStep, StepSchedule
from jaxshap.games import (
    check_function,
    check_kind,
    draw_independent,
    kernel_mass,
    log_binomial,
    read_flag,
    read_number,
    read_whole,
    shown,
)
from jaxshap.theory import gradient_bound


@dataclasses.dataclass(frozen=True)
class ProjectedSGD(Estimator):
    """Minimise F(φ) = Σ w_S (v(S) − v(∅) − Σ_{i∈S} φ_i)² by projected descent, averaging iterates.

    Iterates stay within Σφ = v(N) − v(∅) and ‖φ‖ ≤ D; values are NaN where D < |v(N) − v(∅)|/√n, so
    that no φ is within both. Coalitions are drawn independently of the iterate, so all worths are
    known before the first step and the loop is arithmetic alone. Biased towards the equal split
    until it has converged, and without standard errors (NaN). Grah & Thouvenot (2020).

    Step sizes are for the gradient of F, which is twice that of F/2. The authors' program descends
    F/2: a step of 0.01 there is a step of 0.005 here, and takes the same path.

    Args:
        schedule: step sizes and the weights of the average; a `ConstantStep` by default.
        radius: D, a bound on ‖φ‖; by default 2√n C, since no |φ_i| exceeds 2C.
        bound: C, a bound on |v(S) − v(∅)|; by default the largest among the worths seen and v(N).
        importance: whether coalitions are drawn by a bound on their gradient, rather than
            uniformly; True by default.
        batch: how many coalitions make one step; 1 by default.
        optimiser: makes an optax optimiser of a learning-rate schedule; `optax.sgd` by default.
        projection: maps (values, total, radius) to the feasible set; closed form by default.
        average: whether the values are the average of the iterates that the schedule makes, the
            default, or the last iterate.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> estimator = jaxshap.ProjectedSGD(jaxshap.estimators.InverseStep())
        >>> estimate = jaxshap.estimate(0, game, estimator, budget=500)
        >>> print(np.asarray(estimate.values).round(1), estimate.std_error)
        [1. 2. 3.] [nan nan nan]
    """

    schedule: StepSchedule = dataclasses.field(default_factory=ConstantStep)
    radius: float | None = None
    bound: float | None = None
    importance: bool = True
    batch: int = 1
    optimiser: Callable[[optax.Schedule], optax.GradientTransformation] = dataclasses.field(
        default=optax.sgd, repr=False
    )
    projection: Callable[[Array, Array, Array], Array] = dataclasses.field(
        default=project, repr=False
    )
    average: bool = True

    def __post_init__(self) -> None:
        check_kind(self.schedule, StepSchedule, "schedule", "ConstantStep(), RootStep() or another")
        for name in ("radius", "bound"):
            if getattr(self, name) is not None:
                number = read_number(getattr(self, name), name, above=0)
                object.__setattr__(self, name, number)
        object.__setattr__(self, "batch", read_whole(self.batch, "batch"))
        remedy = "one of values, total and radius, such as project_dykstra"
        check_function(self.projection, "projection", remedy, 3)
        read_flag(self.importance, "importance")
        read_flag(self.average, "average")

    @property
    def has_units(self) -> bool:
        return self.radius is not None or self.bound is not None

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        steps = (budget - 2) // self.batch
        if steps < 1:
            raise BudgetError(
                f"budget={budget} does not buy one step: pass budget={self.batch + 2} or more.",
                needed=self.batch + 2,
            )
        self.schedule.step(jnp.ones((), jnp.int32), num_players, 1.0)  # refuses a bad step size
        mass, chance = self._sizes(num_players)
        coalitions = draw_independent(key, num_players, steps * self.batch, chance)
        # w_S over the chance of S; finite also for sizes too unlikely ever to be drawn
        weights = np.minimum(mass / np.maximum(chance, 1e-300), np.finfo(np.float32).max)
        weights = jnp.asarray(weights, jnp.float32)[coalitions.sum(1) - 1]
        return Plan(coalitions, steps * self.batch, weights)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        values, _ = self._descend(plan, worths, empty, full, lambda average: ())
        return stated(values, jnp.full_like(values, jnp.nan))

    def iterates(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Float[Array, "steps n *out"]:
        """The running average (or the iterate) after every step, to watch how it converges.

        Args:
            plan: what `plan` returned.
            worths: the worth of each planned coalition.
            empty: v(∅), the worth of no players.
            full: v(N), the worth of all players.

        Returns:
            The averages, or the iterates with `average=False`, one row per step; the last of them
            is the estimate.
        """
        _, averages = self._descend(plan, worths, empty, full, lambda average: average)
        return averages.reshape(-1, plan.coalitions.shape[1], *empty.shape)

    def _descend(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
        keep: Callable[[Array], Any],
    ) -> tuple[Float[Array, "n *out"], Any]:
        """The average at the end, and what `keep` takes from it at every step."""
        num_players = plan.coalitions.shape[1]
        total = (full - empty).reshape(-1)
        gains = (worths - empty).reshape(-1, total.size)
        if self.bound is None:
            seen = jnp.where(plan.live[:, None], jnp.abs(gains), 0).max(0)
            bound = jnp.maximum(seen, jnp.abs(total))
        else:
            bound = jnp.full_like(total, self.bound)
        if self.radius is None:
            radius = 2 * math.sqrt(num_players) * bound
        else:
            radius = jnp.full_like(total, self.radius)
        descend_output = functools.partial(self._descend_output, plan, keep)
        run = jax.vmap(descend_output, in_axes=(1, 0, 0), out_axes=-1)
        average, kept = run(gains, total, radius)
        return average.reshape(num_players, *empty.shape), kept

    def _descend_output(
        self,
        plan: Plan,
        keep: Callable[[Array], Any],
        gains: Float[Array, "m"],
        total: Float[Array, ""],
        radius: Float[Array, ""],
    ) -> tuple[Float[Array, "n"], Any]:
        """`_descend` for a single output."""
        num_players, dtype = plan.coalitions.shape[1], gains.dtype
        members = plan.coalitions.reshape(-1, self.batch, num_players)
        weights = (2 * plan.detail / self.batch).reshape(-1, self.batch).astype(dtype)
        over_bound = self._over_bound(num_players)

        def rate(count):
            return self.schedule.step(count + 1, num_players, over_bound).astype(dtype)

        optimiser = self.optimiser(rate)

        def step(carry, sample):
            values, average, state = carry
            share, member, weight, gain = sample
            member = member.astype(dtype)
            gradient = (weight * (member @ values - gain)) @ member
            update, state = optimiser.update(gradient, state, values)
            values = self.projection(values + update, total, radius)
            average = jnp.where(share == 1, values, average + share * (values - average))
            return (values, average, state), keep(average)

        counts = jnp.arange(1, len(members) + 1)
        is_live = counts * self.batch <= plan.num_live
        shares = self.schedule.average(counts) if self.average else jnp.ones(len(counts))
        shares = jnp.where(is_live, shares, 0).astype(dtype)
        samples = (shares, members, weights, gains.reshape(-1, self.batch))
        start = self.projection(jnp.zeros(num_players, dtype), total, radius)
        if getattr(start, "shape", None) != (num_players,):
            raise InputTypeError(
                f"projection returned {shown(start)}: return {num_players} values alone, as "
                "project_dykstra does, which makes them NaN where Dykstra has not converged."
            )
        carry = (start, start, optimiser.init(start))
        (_, average, _), kept = jax.lax.scan(step, carry, samples, unroll=4)
        return average, kept

    def _sizes(
        self, num_players: int
    ) -> tuple[Float[np.ndarray, "{num_players}-1"], Float[np.ndarray, "{num_players}-1"]]:
        """The kernel's mass on each size 1..n−1, and the chance to draw it."""
        sizes, mass = np.arange(1, num_players), kernel_mass(num_players)
        if self.importance:
            chance = mass * np.sqrt(sizes) * (self._ratio(num_players) * np.sqrt(sizes) + 1)
        else:
            log_number = log_binomial(num_players, sizes)
            chance = np.exp(log_number - log_number.max())
        return mass, chance / chance.sum()

    def _over_bound(self, num_players: int) -> float:
        """D/B, which depends on D and C by their ratio alone."""
        ratio = self._ratio(num_players)
        return ratio / gradient_bound(num_players, ratio, 1.0, self.importance)

    def _ratio(self, num_players: int) -> float:
        """D/C."""
        if self.radius is None or self.bound is None:
            return 2 * math.sqrt(num_players)
        return self.radius / self.bound
