"""MeanColour: an absent part of an image is of one colour."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxshap.games import Game, full_precision
from jaxshap.images.image_game import image_game, of_pixels, read_images
from jaxshap.inputs import Players


@dataclasses.dataclass(frozen=True)
class MeanColour:
    """Absent parts have the mean colour of the image, or each that of its own pixels.

    A value function that needs no background. A part that is of this colour already has the value
    0: it cannot be taken away.

    Args:
        per_player: whether each part has the mean of its own pixels, as superpixels have in LIME:
            then its colour stays, and only what varies within it is taken away.

    Example:
        >>> import jaxshap, numpy as np
        >>> images, players = np.eye(4)[None], jaxshap.patches((4, 4), 2)
        >>> mean = jaxshap.images.MeanColour()
        >>> ex = jaxshap.explain(lambda x: x[:, 0, 0], images, groups=players, value=mean)
        >>> ex.value_function, ex.values.tolist()
        ('mean colour', [[0.75, 0.0, 0.0, 0.0]])
    """

    per_player: bool = False

    needs_background = False

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
        rows, players = read_images("MeanColour", X, background, weights, players)
        make = mean_of_players if self.per_player else mean_of_image
        made = of_pixels(rows, players, make)
        name, whose = "mean colour", "image"
        if self.per_player:
            name, whose = "mean colour of each player", "part itself"
        absent = f"an absent part has the mean colour of the {whose}"
        return image_game(model, rows, players, name, absent, made=made)


def mean_of_image(image: Any, owner: Any) -> Any:
    """In every pixel the mean over all of them."""
    axes = tuple(range(1, owner.ndim + 1))
    xp: Any = np if isinstance(image, np.ndarray) else jnp
    return xp.broadcast_to(image.mean(axes, keepdims=True), image.shape)


@full_precision
def mean_of_players(image: Any, owner: Any) -> Any:
    """In every pixel the mean over those with the same owner."""
    xp: Any = np if isinstance(image, np.ndarray) else jnp
    own = np.unique(owner, return_inverse=True)[1].ravel()
    shares = (np.arange(own.max() + 1)[:, None] == own) / np.bincount(own)[:, None]
    pixels = image.reshape(len(image), own.size, -1)
    means = xp.einsum("pk,ikc->ipc", shares.astype(image.dtype), pixels)
    return means[:, own].reshape(image.shape)
