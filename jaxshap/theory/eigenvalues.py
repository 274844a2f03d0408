"""The eigenvalues of the Shapley regression, and the steps of gradient descent that they allow."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.games import kernel_mass, read_number, read_whole

MAX_GRAM_PLAYERS = 20  # gram_matrix enumerates 2**n coalitions of n players


class Spectrum(NamedTuple):
    """The two distinct eigenvalues of X'WX, the matrix of the Shapley regression.

    Attributes:
        smaller: the eigenvalue of all n − 1 directions with Σφ = 0.
        larger: the eigenvalue of the direction in which all players are alike.

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

    Exact for every number of players: by symmetry the matrix has one number a on its diagonal and
    one number c off it.

    Args:
        num_players: the number n of players, 2 or more.

    Returns:
        A `Spectrum` with the `smaller` and the `larger` eigenvalue.

    Example:
        >>> import jaxshap, numpy as np
        >>> closed_form = jaxshap.theory.spectrum(4)
        >>> eigenvalues = np.linalg.eigvalsh(jaxshap.theory.gram_matrix(4))
        >>> bool(np.isclose(eigenvalues, [closed_form.smaller] * 3 + [closed_form.larger]).all())
        True
    """
    num_players = read_players(num_players)
    sizes = np.arange(1, num_players)
    mass = kernel_mass(num_players)
    off_diagonal = float((mass * sizes * (sizes - 1)).sum() / (num_players * (num_players - 1)))
    smaller = 1 - 1 / num_players
    return Spectrum(smaller, smaller + off_diagonal * num_players)


def gram_matrix(num_players: int) -> Float[np.ndarray, "n n"]:
    """X'WX summed over all 2**n − 2 coalitions: the matrix whose eigenvalues `spectrum` gives.

    It is here to check the closed form against, for small numbers of players.

    Args:
        num_players: the number n of players, 2 to 20.

    Returns:
        A symmetric matrix of shape (n, n).

    Raises:
        InputError: for more players than can be enumerated.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.gram_matrix(2).tolist()
        [[0.5, 0.0], [0.0, 0.5]]
    """
    num_players = read_players(num_players)
    if num_players > MAX_GRAM_PLAYERS:
        raise InputError(
            f"gram_matrix sums over all 2**{num_players} coalitions: pass at most "
            f"{MAX_GRAM_PLAYERS} players, or see spectrum."
        )
    coalitions = (np.arange(1, 2**num_players - 1)[:, None] >> np.arange(num_players)) & 1
    sizes = coalitions.sum(1)
    num_coalitions = np.array([math.comb(num_players, size) for size in range(num_players)])
    weights = kernel_mass(num_players)[sizes - 1] / num_coalitions[sizes]
    return (coalitions * weights[:, None]).T @ coalitions


def strong_convexity(num_players: int) -> float:
    """μ of F on Σφ = const: twice the smaller eigenvalue, 2 (1 − 1/n).

    Args:
        num_players: the number n of players, 2 or more.

    Returns:
        The constant μ. A constant step of gradient descent must stay below 1/μ.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.strong_convexity(4)
        1.5
    """
    return 2 * spectrum(num_players).smaller


def check_step(step: float, num_players: int) -> None:
    """Refuse a constant step of projected SGD that need not converge.

    Args:
        step: the constant step γ.
        num_players: the number of players, 2 or more.

    Returns:
        None where 0 < γ < 1/μ.

    Raises:
        InputError: where the step lies outside that range.

    Example:
        >>> import jaxshap
        >>> jaxshap.theory.check_step(0.5, num_players=4)
        >>> try:
        ...     jaxshap.theory.check_step(0.7, num_players=4)
        ... except jaxshap.InputError as error:
        ...     print(str(error)[:56])
        a constant step of 0.7 is outside the theory for 4 playe
    """
    largest = 1 / strong_convexity(num_players)
    if not 0 < read_number(step, "step") < largest:
        raise InputError(
            f"a constant step of {step} is outside the theory for {num_players} players: it must "
            f"lie between 0 and 1/μ = {largest:.4g}."
        )


def read_players(num_players: int) -> int:
    number = read_whole(num_players, "num_players")
    if number < 2:
        raise InputError(f"num_players={number}: the Shapley regression needs two players or more.")
    return number
