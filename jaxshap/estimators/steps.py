"""Step sizes of stochastic gradient descent, and how its iterates are averaged."""

import abc
import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from jaxshap.games import read_number
from jaxshap.theory import check_step, spectrum, strong_convexity


class StepSchedule(abc.ABC):
    """How large the steps t = 1, 2, … of `ProjectedSGD` are, and how its iterates are averaged.

    Subclasses are frozen dataclasses. Notation: μ is the strong convexity of the objective F, L its
    largest curvature, D the radius of the ball and B the bound on gradients. All are those of F
    itself, as in `jaxshap.theory`. For F/2, which some texts and programs descend, μ, L and B are
    half as large, and the steps that take the same path are twice as large.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> schedule = jaxshap.estimators.RootStep(1.0)
        >>> schedule.step(jnp.array([1, 4]), num_players=3, over_bound=1.0).tolist()
        [1.0, 0.5]
        >>> schedule.average(jnp.array([1, 4])).tolist()
        [1.0, 0.25]
    """

    @abc.abstractmethod
    def step(
        self, count: Int[Array, "*counts"], num_players: int, over_bound: float
    ) -> Float[Array, "*counts"]:
        """The size of a step.

        Args:
            count: the number t = 1, 2, … of the step.
            num_players: the number n of players, which μ and L depend on.
            over_bound: D/B, the radius over the bound on gradients.

        Returns:
            The step size, alike in shape with `count`.

        Raises:
            InputError: such steps would not converge.
        """

    def average(self, count: Int[Array, "*counts"]) -> Float[Array, "*counts"]:
        """The weight of iterate t in the running average; 1/t makes the plain mean.

        The average begins at the equal split, iterate 0, so its weight is what the others leave.

        Args:
            count: the number t = 1, 2, … of the iterate, which is where step t leads.

        Returns:
            The weight, alike in shape with `count`.
        """
        return 1 / count.astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class ConstantStep(StepSchedule):
    """Steps of one size, and the plain mean of the iterates.

    Args:
        size: the step size, below 1/μ; 1/L by default.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> schedule = jaxshap.estimators.ConstantStep(0.25)
        >>> schedule.step(jnp.array([1, 4]), num_players=3, over_bound=1.0).tolist()
        [0.25, 0.25]
    """

    size: float | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            object.__setattr__(self, "size", read_number(self.size, "size", above=0))

    def step(
        self, count: Int[Array, "*counts"], num_players: int, over_bound: float
    ) -> Float[Array, "*counts"]:
        size = 1 / (2 * spectrum(num_players).larger) if self.size is None else self.size
        check_step(size, num_players)
        return jnp.full_like(count, size, jnp.float32)


@dataclasses.dataclass(frozen=True)
class RootStep(StepSchedule):
    """Steps size/√t, and the plain mean of the iterates.

    Args:
        size: the first step, positive; 2D/B by default, as the theory has it.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> schedule = jaxshap.estimators.RootStep(1.0)
        >>> schedule.step(jnp.array([1, 4]), num_players=3, over_bound=1.0).tolist()
        [1.0, 0.5]
    """

    size: float | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            object.__setattr__(self, "size", read_number(self.size, "size", above=0))

    def step(
        self, count: Int[Array, "*counts"], num_players: int, over_bound: float
    ) -> Float[Array, "*counts"]:
        size = 2 * over_bound if self.size is None else self.size
        return size / jnp.sqrt(count.astype(jnp.float32))


@dataclasses.dataclass(frozen=True)
class InverseStep(StepSchedule):
    """Steps 2/(μ(t+1)), and a mean that weighs iterate t = 0, 1, … in proportion to t + 1.

    The mean is kept online: iterate t comes in with the share ρ_t = 2/(t+2).

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> schedule = jaxshap.estimators.InverseStep()
        >>> schedule.step(jnp.array([1, 5]), num_players=3, over_bound=1.0).tolist()
        [0.75, 0.25]
    """

    def step(
        self, count: Int[Array, "*counts"], num_players: int, over_bound: float
    ) -> Float[Array, "*counts"]:
        return 2 / (strong_convexity(num_players) * (count.astype(jnp.float32) + 1))

    def average(self, count: Int[Array, "*counts"]) -> Float[Array, "*counts"]:
        return 2 / (count.astype(jnp.float32) + 2)
