"""Bounds on the squared error of projected SGD, known before a single worth is."""

import math

import numpy as np

from jaxshap.games import kernel_mass, read_flag, read_number, read_whole
from jaxshap.theory.eigenvalues import check_step, read_players, strong_convexity
from jaxshap.theory.numbers import within_floats


@within_floats
def gradient_bound(num_players: int, radius: float, bound: float, importance: bool = True) -> float:
    """B with ‖stochastic gradient‖ ≤ B for every coalition that may be drawn and every ‖φ‖ ≤ D.

    A coalition of size s has a gradient of at most 2 w_S √s (D √s + C), divided by its chance.
    Drawn in proportion to that, B is the sum over all coalitions; drawn uniformly, it is the
    largest term times their number.

    Args:
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        The bound B, in units of the worths.

    Example:
        >>> import jaxshap
        >>> by_importance = jaxshap.theory.gradient_bound(8, radius=2.0, bound=1.0)
        >>> uniform = jaxshap.theory.gradient_bound(8, radius=2.0, bound=1.0, importance=False)
        >>> round(by_importance, 3), round(uniform, 3)
        (89.853, 1057.005)
    """
    radius = read_number(radius, "radius", least=0)
    bound = read_number(bound, "bound", least=0)
    read_flag(importance, "importance")
    num_players = read_players(num_players)
    sizes = np.arange(1, num_players)
    by_size = 2 * kernel_mass(num_players) * np.sqrt(sizes) * (radius * np.sqrt(sizes) + bound)
    if importance:
        return float(by_size.sum())
    num_coalitions = 2.0**num_players - 2
    return max(
        float(total) * num_coalitions / math.comb(num_players, size)
        for size, total in enumerate(by_size, start=1)
    )


def condition(num_players: int, radius: float, bound: float, importance: bool = True) -> float:
    """κ = B/μ, the ratio of `gradient_bound` and `strong_convexity` that sets the pace of SGD.

    Args:
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        The ratio κ, in units of the worths.

    Example:
        >>> import jaxshap
        >>> round(jaxshap.theory.condition(8, radius=2.0, bound=1.0), 3)
        51.344
    """
    return gradient_bound(num_players, radius, bound, importance) / strong_convexity(num_players)


@within_floats
def inverse_step_bound(
    num_steps: int, num_players: int, radius: float, bound: float, importance: bool = True
) -> float:
    """E‖φ̄ − φ‖² ≤ 4κ²/(T+1) for steps 2/(μ(t+1)) and averaging weights ∝ t + 1 from iterate 0 on.

    It holds for every game within the bounds. Lacoste-Julien et al. (2012).

    Args:
        num_steps: the number T of steps.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        The bound on the expected squared error, summed over players.

    Example:
        >>> import jaxshap
        >>> few = jaxshap.theory.inverse_step_bound(1_000, 8, radius=2.0, bound=1.0)
        >>> many = jaxshap.theory.inverse_step_bound(100_000, 8, radius=2.0, bound=1.0)
        >>> round(few, 4), round(many, 4)
        (10.5345, 0.1054)
    """
    num_steps = read_whole(num_steps, "num_steps", 0)
    return 4 * condition(num_players, radius, bound, importance) ** 2 / (num_steps + 1)


@within_floats
def root_step_bound(
    num_steps: int, num_players: int, radius: float, bound: float, importance: bool = True
) -> float:
    """E‖φ̄ − φ‖² ≤ 6Dκ/√T for steps 2D/(B√t) and the plain average.

    The distances telescope to DB√T and the steps sum to 2DB√T, so the mean of F is within 3DB/√T of
    its least value; the 4Dκ/√T that is sometimes quoted omits one of the two sums.

    Args:
        num_steps: the number T of steps.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.

    Returns:
        The bound on the expected squared error, summed over players.

    Example:
        >>> import jaxshap
        >>> few = jaxshap.theory.root_step_bound(1_000, 8, radius=2.0, bound=1.0)
        >>> many = jaxshap.theory.root_step_bound(100_000, 8, radius=2.0, bound=1.0)
        >>> round(few, 4), round(many, 4)
        (19.4838, 1.9484)
    """
    num_steps = read_whole(num_steps, "num_steps")
    radius = read_number(radius, "radius", least=0)
    return 6 * condition(num_players, radius, bound, importance) * radius / math.sqrt(num_steps)


@within_floats
def constant_step_bound(
    num_steps: int,
    step: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
    *,
    average: bool = True,
    distance: float | None = None,
) -> float:
    """A bound on E‖φ_T − φ‖² or E‖φ̄ − φ‖² for a constant step γ < 1/μ.

    After t steps iterate φ_t is within (1−γμ)^t ‖φ_0 − φ‖² + γB²/μ; the plain average is within the
    mean of these bounds. The second term does not vanish: a constant step does not converge.

    Args:
        num_steps: the number T of steps.
        step: the constant step γ.
        num_players: the number n of players, 2 or more.
        radius: the bound D on ‖φ‖.
        bound: the bound C on |v(S) − v(∅)|.
        importance: whether coalitions are drawn in proportion to their own bound (the default)
            rather than uniformly.
        average: whether the bound is for the plain average of the iterates (the default) or, as the
            theorem is stated, for the last of them, `ProjectedSGD(average=False)`.
        distance: ‖φ_0 − φ‖, from the equal split to the values; at most 2D, the default.

    Returns:
        The bound on the expected squared error, summed over players.

    Raises:
        InputError: where the step is not between 0 and 1/μ.

    Example:
        >>> import jaxshap
        >>> large = jaxshap.theory.constant_step_bound(10**6, 0.01, 8, radius=2.0, bound=1.0)
        >>> small = jaxshap.theory.constant_step_bound(10**6, 0.0001, 8, radius=2.0, bound=1.0)
        >>> round(large, 3), round(small, 3)
        (46.135, 0.553)
    """
    check_step(step, num_players)
    step = read_number(step, "step")
    num_steps = read_whole(num_steps, "num_steps")
    convexity = strong_convexity(num_players)
    shrinkage = step * convexity
    left = (1 - shrinkage) ** num_steps  # what the steps leave of the squared distance
    if average:
        left = (1 - left) / (shrinkage * num_steps)
    start = squared_start(radius, distance)
    noise = step * gradient_bound(num_players, radius, bound, importance) ** 2 / convexity
    return left * start + noise


def squared_start(radius: float, distance: float | None) -> float:
    """The squared distance from the equal split to the values, at most (2D)²."""
    radius = read_number(radius, "radius", least=0)
    start = 2 * radius if distance is None else read_number(distance, "distance", least=0)
    return start**2
