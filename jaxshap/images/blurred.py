"""Blurred: an absent part of an image loses its detail."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.games import Game, full_precision
from jaxshap.images.image_game import image_game, of_pixels, read_images
from jaxshap.inputs import Players

DEFAULT_SHARE = 0.1  # of the longest side: the standard deviation of the blur


@dataclasses.dataclass(frozen=True)
class Blurred:
    """Absent parts of an image are blurred, by a Gaussian: their detail is gone, not their colour.

    A value function that needs no background. It says what detail does; what the blur leaves, such
    as a large bright area, is there for every coalition.

    Args:
        width: the standard deviation of the Gaussian in pixels; by default a tenth of the
            longest side.

    Raises:
        InputError: the width is not positive.

    Example:
        >>> import jaxshap, numpy as np
        >>> images, players = np.eye(4)[None], jaxshap.patches((4, 4), 2)
        >>> blurred = jaxshap.images.Blurred(width=2)
        >>> ex = jaxshap.explain(lambda x: x[:, 0, 0], images, groups=players, value=blurred)
        >>> ex.value_function, ex.values.astype(float).round(2).tolist()
        ('blurred (2 pixels)', [[0.72, 0.0, 0.0, 0.0]])
    """

    width: float | None = None

    needs_background = False

    def __post_init__(self):
        if self.width is not None and not 0 < self.width < np.inf:
            raise InputError(f"width={self.width}: pass a positive number of pixels.")

    def __call__(
        self,
        model: Callable,
        X: Any,
        background: Any = None,
        *,
        weights: Any = None,
        players: Players | None = None,
    ) -> Game:
        """See `jaxshap.values.ValueFunction`."""
        rows, players = read_images("Blurred", X, background, weights, players)
        width = self.width or DEFAULT_SHARE * _longest(players)
        made = of_pixels(rows, players, lambda image, owner: blurred(image, owner.ndim, width))
        absent = f"an absent part of the image is blurred, by a Gaussian of {width:.3g} pixels"
        return image_game(model, rows, players, f"blurred ({width:.3g} pixels)", absent, made=made)


@full_precision
def blurred(image: Any, num_axes: int, width: float) -> Any:
    """Along the axes after the first; at the edges only what is inside counts."""
    xp: Any = np if isinstance(image, np.ndarray) else jnp
    for axis in range(1, num_axes + 1):
        weights = _gaussian(image.shape[axis], width).astype(image.dtype)
        image = xp.moveaxis(xp.tensordot(weights, image, (1, axis)), 0, axis)
    return image


def _gaussian(length: int, width: float) -> Float[np.ndarray, "length length"]:
    """Weights that sum to 1 in each row."""
    apart = np.subtract.outer(np.arange(length), np.arange(length)) / width
    weights = np.exp(-(apart**2) / 2)
    return weights / weights.sum(1, keepdims=True)


def _longest(players: Players) -> int:
    return max(max(np.shape(owner), default=1) for owner in jax.tree.leaves(players.owner))
