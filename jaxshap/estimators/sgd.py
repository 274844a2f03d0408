"""Shapley values by projected stochastic gradient descent on the weighted least-squares problem."""

import dataclasses
import functools
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators.projections import project
from jaxshap.estimators.protocol import Estimate, Estimator, Plan
from jaxshap.games import draw_independent, kernel_mass, log_binomial
from jaxshap.theory import check_step, gradient_bound, spectrum, strong_convexity


@dataclasses.dataclass(frozen=True)
class ConstantStep:
    """Steps of one size, below 1/μ, and the plain average of the iterates; by default 1/L, L the
    largest curvature.

    Example, the sizes of steps 1 and 4:
        >>> import jax.numpy as jnp, jaxshap
        >>> jaxshap.estimators.ConstantStep(0.25).step(jnp.array([1, 4]), num_players=3, over_bound=1.0).tolist()
        [0.25, 0.25]
    """

    size: float | None = None

    def step(self, count: Int[Array, ""], num_players: int, over_bound: float) -> Float[Array, ""]:
        size = 1 / (2 * spectrum(num_players).larger) if self.size is None else self.size
        check_step(size, num_players)
        return jnp.full_like(count, size, jnp.float32)

    def average(self, count: Int[Array, ""]) -> Float[Array, ""]:
        """The weight of iterate `count` = 1, 2, … in the running average."""
        return 1 / count.astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class RootStep:
    """Steps size/√t, by default the 2D/(B√t) of the theory, and the plain average of the iterates.

    Example, the sizes of steps 1 and 4:
        >>> import jax.numpy as jnp, jaxshap
        >>> jaxshap.estimators.RootStep(1.0).step(jnp.array([1, 4]), num_players=3, over_bound=1.0).tolist()
        [1.0, 0.5]
    """

    size: float | None = None

    def step(self, count: Int[Array, ""], num_players: int, over_bound: float) -> Float[Array, ""]:
        if self.size is not None and self.size <= 0:
            raise InputError(f"a root step of {self.size} does not descend: pass a positive size.")
        return (2 * over_bound if self.size is None else self.size) / jnp.sqrt(
            count.astype(jnp.float32)
        )

    def average(self, count: Int[Array, ""]) -> Float[Array, ""]:
        """The weight of iterate `count` = 1, 2, … in the running average."""
        return 1 / count.astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class InverseStep:
    """Steps 2/(μ(t+1)) and averaging weights in proportion to t.

    Example, the sizes of steps 1 and 5:
        >>> import jax.numpy as jnp, jaxshap
        >>> jaxshap.estimators.InverseStep().step(jnp.array([1, 5]), num_players=3, over_bound=1.0).tolist()
        [0.75, 0.25]
    """

    def step(self, count: Int[Array, ""], num_players: int, over_bound: float) -> Float[Array, ""]:
        return 2 / (strong_convexity(num_players) * (count.astype(jnp.float32) + 1))

    def average(self, count: Int[Array, ""]) -> Float[Array, ""]:
        """The weight of iterate `count` = 1, 2, … in the running average."""
        return 2 / (count.astype(jnp.float32) + 1)


@dataclasses.dataclass(frozen=True)
class ProjectedSGD(Estimator):
    """Descend F(φ) = Σ w_S (v(S) − v(∅) − Σ_{i∈S} φ_i)² within Σφ = v(N) − v(∅) and ‖φ‖ ≤ D,
    averaging the iterates.

    Coalitions are drawn independently of the iterate, by a bound on their gradient (`importance`)
    or uniformly, so all worths are known before the first step and the loop is arithmetic alone.
    Biased towards the equal split until it has converged, and gives no standard errors (NaN).
    `bound` is C ≥ |v(S) − v(∅)| and `radius` D; where not given, C is the largest among the worths
    seen, v(N) included, and D is 2√n C, since no |φ_i| exceeds 2C. `batch` coalitions make one
    step, and `optimiser` is any of optax that takes a learning rate. Grah & Thouvenot (2020).

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> found = jaxshap.estimate(0, game, jaxshap.ProjectedSGD(jaxshap.estimators.InverseStep()), budget=500)
        >>> print(np.asarray(found.values).round(1), found.std_error)
        [1. 2. 3.] [nan nan nan]
    """

    schedule: ConstantStep | RootStep | InverseStep = dataclasses.field(
        default_factory=ConstantStep
    )
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

    def __post_init__(self) -> None:
        for name in ("radius", "bound", "batch"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise InputError(f"{name}={value}: it must be positive.")

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        steps = (budget - 2) // self.batch
        if steps < 1:
            raise BudgetError(
                f"budget={budget} does not buy one step: pass budget={self.batch + 2} or more."
            )
        self.schedule.step(
            jnp.ones((), jnp.int32), num_players, 1.0
        )  # refuses what is outside the theory
        mass, chance = self._sizes(num_players)
        coalitions = draw_independent(key, num_players, steps * self.batch, chance)
        weights = jnp.asarray(mass / chance, jnp.float32)[
            coalitions.sum(1) - 1
        ]  # w_S over the chance of S
        return Plan(coalitions, steps * self.batch, weights)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        values, _ = self._descend(plan, worths, empty, full, lambda mean: ())
        return Estimate(values, jnp.full_like(values, jnp.nan))

    def iterates(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Float[Array, "steps n *out"]:
        """The running average after every step."""
        _, means = self._descend(plan, worths, empty, full, lambda mean: mean)
        return means.reshape(-1, plan.coalitions.shape[1], *empty.shape)

    def _descend(self, plan: Plan, worths, empty, full, keep: Callable):
        """The average at the end, and what `keep` takes from it at every step."""
        num_players = plan.coalitions.shape[1]
        total = (full - empty).reshape(-1)
        gains = (worths - empty).reshape(-1, total.size)
        seen = jnp.where(plan.live[:, None], jnp.abs(gains), 0).max(0)
        bound = (
            jnp.maximum(seen, jnp.abs(total))
            if self.bound is None
            else jnp.full_like(total, self.bound)
        )
        radius = (
            2 * math.sqrt(num_players) * bound
            if self.radius is None
            else jnp.full_like(total, self.radius)
        )
        run = jax.vmap(
            functools.partial(self._descend_one, plan, keep), in_axes=(1, 0, 0), out_axes=-1
        )
        mean, means = run(gains, total, radius)
        return mean.reshape(num_players, *empty.shape), means

    def _descend_one(self, plan: Plan, keep: Callable, gains: Float[Array, "m"], total, radius):
        """For a single output."""
        num_players, dtype = plan.coalitions.shape[1], gains.dtype
        members = plan.coalitions.reshape(-1, self.batch, num_players)
        weights = (2 * plan.detail / self.batch).reshape(-1, self.batch).astype(dtype)
        over_bound = self._over_bound(num_players)
        rate: Callable = lambda count: self.schedule.step(
            count + 1, num_players, over_bound
        ).astype(dtype)
        optimiser = self.optimiser(rate)
        start = self.projection(jnp.zeros(num_players, dtype), total, radius)

        def step(carry, sample):
            values, mean, state = carry
            share, member, weight, gain = sample
            member = member.astype(dtype)
            gradient = (weight * (member @ values - gain)) @ member
            update, state = optimiser.update(gradient, state, values)
            values = self.projection(values + update, total, radius)
            mean = mean + share * (values - mean)
            return (values, mean, state), keep(mean)

        counts = jnp.arange(1, len(members) + 1)
        carry = (start, start, optimiser.init(start))
        shares = jnp.where(
            counts * self.batch <= plan.num_live, self.schedule.average(counts), 0
        ).astype(dtype)
        samples = (shares, members, weights, gains.reshape(-1, self.batch))
        (_, mean, _), means = jax.lax.scan(step, carry, samples, unroll=4)
        return mean, means

    def _sizes(self, num_players: int) -> tuple[Float[np.ndarray, "n-1"], Float[np.ndarray, "n-1"]]:
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
