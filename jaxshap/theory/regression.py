"""How many rows of a least-squares problem make its sampled solution nearly as good as the best."""

import math

import numpy as np

from jaxshap.games import read_whole
from jaxshap.theory.numbers import within_floats
from jaxshap.theory.sample_sizes import read_chance

NUM_SPLITS = 99  # ways tried to share out the chance of failing, and to bound the Gram matrix


@within_floats
def leverage_draws(epsilon: float, delta: float, num_columns: int) -> int:
    """How many rows make ‖Aφ̃ − b‖² ≤ (1 + ε) min ‖Aφ − b‖² with probability 1 − δ.

    The rows are drawn independently in proportion to their leverage and weighted by 1/probability,
    and φ̃ solves them. Their number grows as d log(d/δ) + d/(δε), as in Musco & Witter (2025), here
    with its constants: the sampled Gram matrix, relative to the full one, stays above 1 − η by the
    matrix Chernoff bound; the sampled gradient at the best φ has the mean square d/m min ‖Aφ − b‖²,
    which Markov's inequality turns into a bound. The best of a grid of η and of shares of δ counts.

    Two problems of this library have such rows. In the Shapley regression on Σφ = v(N) − v(∅), with
    n − 1 columns, leverage makes sizes 1..n−1 equally likely. In that of a player's gains as the
    gradient of a game, whose minimum is the squared Shapley residual, all n 2^(n−1) edges of the
    hypercube have the same leverage, and there are 2^n − 1 columns. `jaxshap.Leverage` draws pairs
    without replacement, which this bound does not speak of.

    Args:
        epsilon: the relative excess ε of the squared residual.
        delta: the probability δ that the excess is larger.
        num_columns: the rank d of the problem.

    Returns:
        A number of rows that is enough.

    Raises:
        InputError: ε is not positive, δ is not between 0 and 1, or there is no column.

    Example:
        >>> import jaxshap
        >>> few = jaxshap.theory.leverage_draws(epsilon=0.5, delta=0.1, num_columns=9)
        >>> many = jaxshap.theory.leverage_draws(epsilon=0.05, delta=0.1, num_columns=9)
        >>> few < many < 10 * few
        True
    """
    epsilon, delta = read_chance(epsilon, delta)
    num_columns = read_whole(num_columns, "num_columns")
    grid = np.arange(1, NUM_SPLITS + 1) / (NUM_SPLITS + 1)
    loss, share = np.meshgrid(grid, grid)  # η, and the share of δ that the Gram matrix gets
    exponent = (1 - loss) * np.log1p(-loss) + loss
    for_gram = num_columns * np.log(num_columns / (share * delta)) / exponent
    for_gradient = num_columns / ((1 - share) * delta * epsilon * (1 - loss) ** 2)
    return math.ceil(np.maximum(for_gram, for_gradient).min())
