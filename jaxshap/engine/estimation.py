"""estimate: Shapley values and standard errors of any game."""

from typing import Any

from jax.sharding import Mesh

from jaxshap.engine.batches import BatchSize, is_traced
from jaxshap.engine.defaults import read_budget, read_estimator, read_key
from jaxshap.engine.options import read_options
from jaxshap.engine.runner import run
from jaxshap.engine.units import on_device
from jaxshap.estimators import Estimate, Estimator
from jaxshap.games import Game, check_game


def estimate(
    key: Any,
    game: Game,
    estimator: Estimator | None = None,
    budget: Any = None,
    *,
    batch_size: BatchSize = "auto",
    progress: bool | None = False,
    mesh: Mesh | None = None,
) -> Estimate:
    """Shapley values and standard errors of a game for at most `budget` evaluations.

    Pure: jit, vmap and grad go through it, in the key and in the game.

    Args:
        key: a JAX key, or a whole number.
        game: the game, as from `jaxshap.marginal` or `jaxshap.make_game`.
        estimator: how to estimate; by default exact when 2**n fits the budget, otherwise the most
            accurate estimator of the library.
        budget: evaluations, ∅ and N counted; by default 20n, but not below 512 nor above 2n + 2048.
        batch_size: coalitions per batch; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.
        mesh: devices that the evaluation is shared out over.

    Returns:
        An `Estimate`: values and standard errors, both `(n, *out)`.

    Raises:
        BudgetError: the budget is too small for the estimator.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> estimate = jaxshap.estimate(0, game)
        >>> print(np.asarray(estimate.values).round(3), estimate.std_error)
        [2. 3. 3.] [0. 0. 0.]
    """
    check_game(game)
    options = read_options(batch_size, progress, None, mesh)
    named: Any = read_estimator(estimator, game, 2) if estimator is not None else None
    spent = read_budget(budget, game.num_players, named)
    estimator = read_estimator(estimator, game, spent)
    result = run(read_key(key), game, estimator, spent, options).estimate
    return result if is_traced(result) else on_device(result)
