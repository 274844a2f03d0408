"""The interventional game: absent features are drawn from a background, independently of those present."""

from collections.abc import Callable

from jaxtyping import Array, Float

from jaxshap.game import Game
from jaxshap.masking import masked_game


def marginal(
    model: Callable,
    X: Float[Array, "rows features"],
    background: Float[Array, "background features"],
    weights: Float[Array, "background"] | None = None,
) -> Game:
    """v(S) = mean over background rows r of model(x_S, r elsewhere), for every row x of X; `weights` make it weighted.

    The mean of the `baseline` games of all background rows, and so are its Shapley values. True to the model,
    not to the data: it asks about combinations that may never occur. Janzing et al. (2020).
    """
    return masked_game(model, X, background, weights, "marginal")
