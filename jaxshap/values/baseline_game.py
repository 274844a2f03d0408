"""The contrastive game: an absent feature takes the value it has in one reference row."""

from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Array, Float, PyTree

from jaxshap.errors import InputError
from jaxshap.games import Game
from jaxshap.inputs import Players
from jaxshap.values.masked import masked_game


def baseline(
    model: Callable,
    X: PyTree[Float[Array, "rows ..."]],
    reference: PyTree[Float[Array, "..."]],
    players: Players | None = None,
) -> Game:
    """v(S) = model(x_S, reference elsewhere) for every row x of X: what sets x apart from the
    reference.

    `players` are for inputs that are not tables; see `jaxshap.patches`.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.baseline(lambda x: x[:, 0] * x[:, 1], jnp.array([[2.0, 3.0]]), jnp.array([1.0, 1.0]))
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [2.0, 3.0]
    """
    if players is not None:
        one = jax.tree.map(
            lambda part: np.asarray(part)[None] if np.isscalar(part) else part[None], reference
        )
        return masked_game(model, X, one, None, "baseline", players)
    if np.ndim(reference) != 1:
        raise InputError(
            f"a reference is one row (features,), not an array of shape {np.shape(reference)}: "
            "use jaxshap.marginal for a background of several rows."
        )
    return masked_game(model, X, reference[None], None, "baseline")
