"""Tail probabilities from expected errors or variances, and the steps or draws they ask for."""

import math

from jaxshap.games import read_number, read_whole
from jaxshap.theory.bounds import inverse_step_bound, root_step_bound
from jaxshap.theory.numbers import within_floats


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
    expected = read_number(expected, "expected", least=0)
    return min(1.0, expected / read_number(epsilon, "epsilon", above=0))


@within_floats
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
    epsilon = read_number(epsilon, "epsilon", above=0)
    expected = read_number(expected, "expected", above=0)
    excess = (epsilon / expected - 2) / 4
    return min(1.0, 2 * math.exp(-(excess**2))) if excess > 0 else 1.0


@within_floats
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
    epsilon = read_number(epsilon, "epsilon", above=0)
    variance = read_number(variance, "variance", least=0)
    num_draws = read_whole(num_draws, "num_draws")
    return min(1.0, variance / (num_draws * epsilon**2))


@within_floats
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
    epsilon, delta = read_chance(epsilon, delta)
    variance = read_number(variance, "variance", least=0)
    return math.ceil(variance / (delta * epsilon**2))


@within_floats
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
    epsilon, delta = read_chance(epsilon, delta)
    at_start = inverse_step_bound(0, num_players, radius, bound, importance)
    return math.ceil(at_start / (delta * epsilon))


@within_floats
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
    epsilon, delta = read_chance(epsilon, delta)
    share = max(delta, 1 / (2 + 4 * math.sqrt(math.log(2 / delta))))
    at_start = root_step_bound(1, num_players, radius, bound, importance)
    return math.ceil((at_start / (share * epsilon)) ** 2)


def read_chance(epsilon: float, delta: float) -> tuple[float, float]:
    """An error, and the chance of a larger one."""
    epsilon = read_number(epsilon, "epsilon", above=0)
    return epsilon, read_number(delta, "delta", above=0, below=1)
