"""The contrastive game: an absent feature takes the value it has in one reference row."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Array, Float

from jaxshap.game import Game
from jaxshap.masking import masked_game


def baseline(model: Callable, X: Float[Array, "rows features"], reference: Float[Array, "features"]) -> Game:
    """v(S) = model(x_S, reference elsewhere) for every row x of X: what sets x apart from the reference."""
    if np.ndim(reference) != 1:
        raise ValueError(
            f"a reference is one row (features,), not an array of shape {np.shape(reference)}: "
            "use jaxshap.marginal for a background of several rows."
        )
    return masked_game(model, X, reference[None], None, "baseline")
