"""What is known in advance: the spectrum of the least-squares problem, and bounds on the error of
estimators.

Throughout F(φ) = Σ_S w_S (v(S) − v(∅) − Σ_{i∈S} φ_i)², whose Hessian is 2 X'WX; C bounds |v(S) −
v(∅)| and D bounds ‖φ‖.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.games import kernel_mass


class Spectrum(NamedTuple):
    """Eigenvalues of X'WX: `smaller` n − 1 times (all directions with Σφ = 0), `larger` once (all
    players alike).

    Example:
        >>> import jaxshap
        >>> smaller, larger = jaxshap.theory.spectrum(4)
        >>> smaller, round(larger, 3)
        (0.75, 3.25)
    """

    smaller: float
    larger: float


def spectrum(num_players: int) -> Spectrum:
    """The eigenvalues of X'WX = (a − c) I + c J in closed form: 1 − 1/n, and (1 − 1/n) + c n.

    Example:
        >>> import jaxshap, numpy as np
        >>> found = jaxshap.theory.spectrum(4)
        >>> eigenvalues = np.linalg.eigvalsh(jaxshap.theory.gram_matrix(4))
        >>> bool(np.isclose(eigenvalues, [found.smaller] * 3 + [found.larger]).all())
        True
    """
    sizes = np.arange(1, num_players)
    mass = kernel_mass(num_players)
    together = float((mass * sizes * (sizes - 1)).sum() / (num_players * (num_players - 1)))
    smaller = 1 - 1 / num_players
    return Spectrum(smaller, smaller + together * num_players)


def gram_matrix(num_players: int) -> Float[np.ndarray, "n n"]:
    """X'WX summed over all coalitions, to check `spectrum` by; for small n.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.gram_matrix(2).tolist()
        [[0.5, 0.0], [0.0, 0.5]]
    """
    coalitions = (np.arange(1, 2**num_players - 1)[:, None] >> np.arange(num_players)) & 1
    sizes = coalitions.sum(1)
    weights = kernel_mass(num_players)[sizes - 1] / np.array(
        [math.comb(num_players, size) for size in sizes]
    )
    return (coalitions * weights[:, None]).T @ coalitions


def strong_convexity(num_players: int) -> float:
    """μ of F on Σφ = const: twice the smaller eigenvalue. A constant step must stay below 1/μ.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.strong_convexity(4)
        1.5
    """
    return 2 * spectrum(num_players).smaller


def gradient_bound(num_players: int, radius: float, bound: float, importance: bool = True) -> float:
    """B with ‖stochastic gradient‖ ≤ B: coalitions drawn in proportion to their own bound, or
    uniformly.

    2 w_S √s (D √s + C) over the chance of S: the sum over all coalitions, or the largest term times
    their number.

    Example:
        >>> import jaxshap
        >>> best, uniform = (jaxshap.theory.gradient_bound(8, 2.0, 1.0, importance) for importance in (True, False))
        >>> round(best, 3), round(uniform, 3)
        (89.853, 1057.005)
    """
    sizes = np.arange(1, num_players)
    of_size = 2 * kernel_mass(num_players) * np.sqrt(sizes) * (radius * np.sqrt(sizes) + bound)
    if importance:
        return float(of_size.sum())
    number = 2.0**num_players - 2
    return float(
        max(
            term * number / math.comb(num_players, size)
            for term, size in zip(of_size, sizes, strict=True)
        )
    )


def condition(num_players: int, radius: float, bound: float, importance: bool = True) -> float:
    """κ = B/μ, which sets the pace of projected SGD.

    Example:
        >>> import jaxshap
        >>> round(jaxshap.theory.condition(8, radius=2.0, bound=1.0), 3)
        51.344
    """
    return gradient_bound(num_players, radius, bound, importance) / strong_convexity(num_players)


def inverse_step_bound(
    num_steps: int, num_players: int, radius: float, bound: float, importance: bool = True
) -> float:
    """E‖φ̄ − φ‖² ≤ 4κ²/(T+1) for steps 2/(μ(t+1)) and averaging weights ∝ t. Lacoste-Julien et al.
    (2012).

    Example:
        >>> import jaxshap
        >>> [round(jaxshap.theory.inverse_step_bound(steps, 8, radius=2.0, bound=1.0), 4) for steps in (1_000, 100_000)]
        [10.5345, 0.1054]
    """
    return 4 * condition(num_players, radius, bound, importance) ** 2 / (num_steps + 1)


def root_step_bound(
    num_steps: int, num_players: int, radius: float, bound: float, importance: bool = True
) -> float:
    """E‖φ̄ − φ‖² ≤ 6Dκ/√T for steps 2D/(B√t) and the plain average.

    The distances telescope to DB√T and the steps sum to 2DB√T, so the mean of F is within 3DB/√T of
    its least value; the 4Dκ/√T that is sometimes quoted leaves out one of the two.

    Example:
        >>> import jaxshap
        >>> [round(jaxshap.theory.root_step_bound(steps, 8, radius=2.0, bound=1.0), 4) for steps in (1_000, 100_000)]
        [19.4838, 1.9484]
    """
    return 6 * radius * condition(num_players, radius, bound, importance) / math.sqrt(num_steps)


def constant_step_bound(
    num_steps: int,
    step: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
) -> float:
    """E‖φ̄ − φ‖² for a constant step γ < 1/μ and the plain average.

    After t steps the iterate is within (1−γμ)^t (2D)² + γB²/μ; the average is within the mean of
    these bounds.

    Example:
        >>> import jaxshap
        >>> [round(jaxshap.theory.constant_step_bound(10**6, step, 8, 2.0, 1.0), 3) for step in (0.01, 0.0001)]
        [46.135, 0.553]
    """
    convexity = strong_convexity(num_players)
    check_step(step, num_players)
    start = (
        (2 * radius) ** 2
        * (1 - (1 - step * convexity) ** num_steps)
        / (step * convexity * num_steps)
    )
    return start + step * gradient_bound(num_players, radius, bound, importance) ** 2 / convexity


def markov(epsilon: float, expected: float) -> float:
    """P(‖φ̄ − φ‖² ≥ ε) from a bound on its expectation.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.markov(epsilon=0.5, expected=0.125)
        0.25
    """
    return min(1.0, expected / epsilon)


def deviation(epsilon: float, expected: float) -> float:
    """P(‖φ̄ − φ‖² ≥ ε) ≤ 2 exp(−((ε/bound − 2)/4)²) for the root schedule, where `expected` is
    `root_step_bound`.

    Example:
        >>> import jaxshap
        >>> round(jaxshap.theory.deviation(epsilon=0.5, expected=0.05), 4)
        0.0366
    """
    excess = (epsilon / expected - 2) / 4
    return min(1.0, 2 * math.exp(-(excess**2))) if excess > 0 else 1.0


def chebyshev(epsilon: float, variance: float, num_draws: int) -> float:
    """P(|φ̂ − φ| ≥ ε) for the mean of draws with at most this variance each, with or without
    replacement.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.chebyshev(epsilon=0.5, variance=1.0, num_draws=16)
        0.25
    """
    return min(1.0, variance / (num_draws * epsilon**2))


def chebyshev_draws(epsilon: float, delta: float, variance: float) -> int:
    """Draws for |φ̂ − φ| < ε with probability 1 − δ.

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
    """Steps 2/(μ(t+1)) for ‖φ̄ − φ‖² < ε with probability 1 − δ, by Markov.

    Example:
        >>> import jaxshap
        >>> steps = jaxshap.theory.inverse_steps(epsilon=0.1, delta=0.05, num_players=8, radius=2.0, bound=1.0)
        >>> jaxshap.theory.inverse_step_bound(steps, 8, 2.0, 1.0) <= 0.05 * 0.1
        True
    """
    return math.ceil(
        inverse_step_bound(0, num_players, radius, bound, importance) / (delta * epsilon)
    )


def root_steps(
    epsilon: float,
    delta: float,
    num_players: int,
    radius: float,
    bound: float,
    importance: bool = True,
) -> int:
    """Steps 2D/(B√t) for ‖φ̄ − φ‖² < ε with probability 1 − δ, by Markov or by deviation, whichever
    asks for fewer.

    Example:
        >>> import jaxshap
        >>> few, many = (jaxshap.theory.root_steps(epsilon, 0.05, 8, radius=2.0, bound=1.0) for epsilon in (0.2, 0.1))
        >>> round(many / few, 3)
        4.0
    """
    share = max(delta, 1 / (2 + 4 * math.sqrt(math.log(2 / delta))))
    return math.ceil(
        (root_step_bound(1, num_players, radius, bound, importance) / (share * epsilon)) ** 2
    )


def check_step(step: float, num_players: int) -> None:
    """Refuse a constant step that need not converge.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.check_step(0.5, num_players=4)
        >>> jaxshap.theory.check_step(0.7, num_players=4)
        Traceback (most recent call last):
            ...
        ValueError: a constant step of 0.7 is outside the theory for 4 players: it must lie between
        0 and 1/μ = 0.6667.
    """
    largest = 1 / strong_convexity(num_players)
    if not 0 < step < largest:
        raise InputError(
            f"a constant step of {step} is outside the theory for {num_players} players: it must lie between 0 and "
            f"1/μ = {largest:.4g}."
        )
