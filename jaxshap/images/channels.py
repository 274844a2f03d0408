"""The axis of colours of an image, where players own whole colours: in front, or behind."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jaxshap.inputs import Players

MAX_CHANNELS_OF_SERIES = 4  # two axes with more may be an image whose parts are stripes
NO_CHANNELS = -1


def channel_axis(owner: Int[np.ndarray, "..."]) -> int:
    """The first or last axis, if it is the shortest and owners are the same all along it."""
    shape = np.shape(owner)
    ends = (0, len(shape) - 1) if len(shape) > 1 else ()
    for axis in ends:
        others = shape[:axis] + shape[axis + 1 :]
        short = shape[axis] < min(others)
        short = short and (len(shape) > 2 or shape[axis] <= MAX_CHANNELS_OF_SERIES)
        if short and (owner == np.take(owner, [0], axis)).all():
            return axis
    return NO_CHANNELS


def channel_axes(players: Players) -> tuple[int, ...]:
    """Of each array that players divide."""
    return tuple(map(channel_axis, jax.tree.leaves(players.owner)))


def owners_of_pixels(owner: Any, axis: int) -> Any:
    """The owners of one channel."""
    return owner if axis == NO_CHANNELS else owner.take(0, axis)


def with_channels_last(axis: int, image: Any, make: Callable[[Any], Any]) -> Any:
    """What `make` makes of the images `(images, *axes, channels)`, in the order of the images."""
    if axis == NO_CHANNELS:
        return make(image)
    xp: Any = np if isinstance(image, np.ndarray) else jnp
    return xp.moveaxis(make(xp.moveaxis(image, axis + 1, -1)), -1, axis + 1)
