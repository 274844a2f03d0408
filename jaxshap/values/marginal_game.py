"""The interventional game: absent features are drawn from a background, independently of those
present.
"""

from collections.abc import Callable

from jaxtyping import Array, Float, PyTree

from jaxshap.games import Game
from jaxshap.inputs import Players
from jaxshap.values.masked import masked_game


def marginal(
    model: Callable,
    X: PyTree[Float[Array, "rows ..."]],
    background: PyTree[Float[Array, "background ..."]],
    weights: Float[Array, "background"] | None = None,
    players: Players | None = None,
) -> Game:
    """v(S) = mean over background rows r of model(x_S, r elsewhere), for every row x of X;
    `weights` make it weighted.

    The mean of the `baseline` games of all background rows, and so are its Shapley values. True to
    the model, not to the data: it asks about combinations that may never occur. Janzing et al.
    (2020). `players` are for inputs that are not tables; see `jaxshap.patches`.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> background = jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> game = jaxshap.marginal(lambda x: x[:, 0], jnp.array([[2.0, 2.0]]), background)
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [1.0, 0.0]
    """
    return masked_game(model, X, background, weights, "marginal", players)
