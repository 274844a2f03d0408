"""Tail probabilities from expected errors or variances, and the steps or draws they ask for."""

import math
from typing import NamedTuple

import numpy as np

from jaxshap.theory.bounds import condition, inverse_step_bound, root_step_bound
from jaxshap.theory.eigenvalues import strong_convexity


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


def markov(epsilon: float, expected: float) -> float:
    """P(‖φ̄ − φ‖² ≥ ε) from a bound on its expectation, by Markov's inequality.

    Args:
        epsilon: the squared error ε.
        expected: the expected squared error, or a bound on it.

    Returns:
        A bound on the probability, at most 1.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.markov(epsilon=0.5, expected=0.125)
        0.25
    """
    return min(1.0, expected / epsilon)


def deviation(epsilon: float, expected: float) -> float:
    """P(‖φ̄ − φ‖² ≥ ε) ≤ 2 exp(−((ε/expected − 2)/4)²) for steps 2D/(B√t).

    It is sharper than `markov` for small probabilities.

    Args:
        epsilon: the squared error ε.
        expected: the `root_step_bound` of the run.

    Returns:
        A bound on the probability, at most 1.

    Example:
        >>> import jaxshap
        >>> round(jaxshap.theory.deviation(epsilon=0.5, expected=0.05), 4)
        0.0366
    """
    excess = (epsilon / expected - 2) / 4
    return min(1.0, 2 * math.exp(-(excess**2))) if excess > 0 else 1.0


def chebyshev(epsilon: float, variance: float, num_draws: int) -> float:
    """P(|φ̂ − φ| ≥ ε) for the mean of draws, with or without replacement, by Chebyshev's inequality.

    Args:
        epsilon: the absolute error ε of one value.
        variance: the variance of a single draw, or a bound on it.
        num_draws: how many draws the mean is over.

    Returns:
        A bound on the probability, at most 1.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.chebyshev(epsilon=0.5, variance=1.0, num_draws=16)
        0.25
    """
    return min(1.0, variance / (num_draws * epsilon**2))


def chebyshev_draws(epsilon: float, delta: float, variance: float) -> int:
    """How many draws make |φ̂ − φ| < ε with probability 1 − δ, by Chebyshev's inequality.

    Args:
        epsilon: the absolute error ε of one value.
        delta: the probability δ that the error is larger.
        variance: the variance of a single draw, or a bound on it.

    Returns:
        The least number of draws for which `chebyshev` is at most δ.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.chebyshev_draws(epsilon=0.5, delta=0.25, variance=1.0)
        16
    """
    return math.ceil(variance / (delta * epsilon**2))


def inverse_steps(
    epsilon: float,
    delta: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
) -> int:
    """How many steps 2/(μ(t+1)) make ‖φ̄ − φ‖² < ε with probability 1 − δ, by Markov's inequality.

    Args:
        epsilon: the squared error ε, summed over players.
        delta: the probability δ that the error is larger.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        A number of steps for which `inverse_step_bound` is at most δε.

    Example:
        >>> import jaxshap
        >>> steps = jaxshap.theory.inverse_steps(0.1, 0.05, num_players=8, radius=2.0, bound=1.0)
        >>> jaxshap.theory.inverse_step_bound(steps, 8, 2.0, 1.0) <= 0.05 * 0.1
        True
    """
    at_start = inverse_step_bound(0, num_players, radius, bound, importance)
    return math.ceil(at_start / (delta * epsilon))


def root_steps(
    epsilon: float,
    delta: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
) -> int:
    """How many steps 2D/(B√t) make ‖φ̄ − φ‖² < ε with probability 1 − δ.

    By `markov` or by `deviation`, whichever asks for fewer steps.

    Args:
        epsilon: the squared error ε, summed over players.
        delta: the probability δ that the error is larger.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        The number of steps; it grows as 1/ε².

    Example:
        >>> import jaxshap
        >>> few = jaxshap.theory.root_steps(0.2, 0.05, num_players=8, radius=2.0, bound=1.0)
        >>> many = jaxshap.theory.root_steps(0.1, 0.05, num_players=8, radius=2.0, bound=1.0)
        >>> round(many / few, 3)
        4.0
    """
    share = max(delta, 1 / (2 + 4 * math.sqrt(math.log(2 / delta))))
    at_start = root_step_bound(1, num_players, radius, bound, importance)
    return math.ceil((at_start / (share * epsilon)) ** 2)


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
    target = delta * epsilon
    start = (2 * radius if distance is None else distance) ** 2
    noise = np.arange(1, 1000) / 1000  # the share of the target that goes to γB²/μ
    squared_condition = condition(num_players, radius, bound, importance) ** 2
    pace = np.minimum(noise * target / squared_condition, 0.5)  # γμ
    excess = np.log(np.maximum(start / ((1 - noise) * target), 1))
    num_steps = np.maximum(np.ceil(excess / -np.log1p(-pace)), 1)
    best = int(num_steps.argmin())
    return ConstantSteps(float(pace[best]) / strong_convexity(num_players), int(num_steps[best]))
