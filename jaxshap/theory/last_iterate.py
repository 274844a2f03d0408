"""The constant step of projected SGD, and the number of steps, that reach an error."""

from typing import NamedTuple

import numpy as np

from jaxshap.theory.bounds import condition, squared_start
from jaxshap.theory.eigenvalues import strong_convexity
from jaxshap.theory.numbers import within_floats
from jaxshap.theory.sample_sizes import read_chance


class ConstantSteps(NamedTuple):
    """A constant step and a number of them.

    Attributes:
        step: the step size γ, for `jaxshap.estimators.ConstantStep`.
        num_steps: how many steps to make.

    Example:
        >>> import jaxshap
        >>> plan = jaxshap.theory.constant_steps(0.5, 0.1, num_players=5, radius=2.0, bound=1.0)
        >>> estimator = jaxshap.ProjectedSGD(
        ...     jaxshap.estimators.ConstantStep(plan.step), radius=2.0, bound=1.0, average=False
        ... )
    """

    step: float
    num_steps: int


@within_floats
def constant_steps(
    epsilon: float,
    delta: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
    *,
    distance: float | None = None,
) -> ConstantSteps:
    """Which constant step, and how many, make ‖φ_T − φ‖² < ε with probability 1 − δ, by Markov.

    It is about the last iterate, `ProjectedSGD(average=False)`. A larger step forgets the start
    sooner and leaves more noise; of 999 ways to share δε between the two parts of the bound, the
    one with the fewest steps is returned. Their number grows as log(1/ε)/ε.

    Args:
        epsilon: the squared error ε, summed over players.
        delta: the probability δ that the error is larger.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.
        distance: ‖φ_0 − φ‖, from the equal split to the values; at most 2D, the default.

    Returns:
        The `ConstantSteps`, for which `constant_step_bound` with `average=False` is at most δε.

    Example:
        >>> import jaxshap
        >>> limits = {"num_players": 8, "radius": 2.0, "bound": 1.0}
        >>> step, num_steps = jaxshap.theory.constant_steps(0.1, 0.05, **limits)
        >>> reached = jaxshap.theory.constant_step_bound(num_steps, step, **limits, average=False)
        >>> reached <= 0.05 * 0.1
        True
    """
    epsilon, delta = read_chance(epsilon, delta)
    target = delta * epsilon
    start = squared_start(radius, distance)
    noise = np.arange(1, 1000) / 1000  # the share of the target that goes to γB²/μ
    squared_condition = condition(num_players, radius, bound, importance) ** 2
    pace = np.minimum(noise * target / squared_condition, 0.5)  # γμ
    excess = np.log(np.maximum(start / ((1 - noise) * target), 1))
    num_steps = np.maximum(np.ceil(excess / -np.log1p(-pace)), 1)
    best = int(num_steps.argmin())
    return ConstantSteps(float(pace[best]) / strong_convexity(num_players), int(num_steps[best]))
