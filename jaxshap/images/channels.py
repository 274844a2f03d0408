"""The axis of colours of an image, where players own whole colours: in front, or behind."""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jaxshap.errors import LayoutWarning
from jaxshap.inputs import Players

MAX_CHANNELS_OF_SERIES = 4  # two axes with more may be an image whose parts are stripes
NO_CHANNELS = -1


def channel_axis(owner: Int[np.ndarray, "..."]) -> int:
    """The first or last axis, if it is the shortest and owners are the same all along it."""
    axis = _axis_without_players(owner)
    few = axis != NO_CHANNELS and np.shape(owner)[axis] <= MAX_CHANNELS_OF_SERIES
    return axis if few or np.ndim(owner) > 2 else NO_CHANNELS


def warn_of_stripes(players: Players) -> None:
    """Where stripes of an image might as well be a series of many channels."""
    for owner in jax.tree.leaves(players.owner):
        axis = _axis_without_players(owner)
        if axis != NO_CHANNELS and channel_axis(owner) == NO_CHANNELS:
            count = np.shape(owner)[axis]
            warnings.warn(
                f"players that own all of axis {axis} of inputs of shape {np.shape(owner)} are "
                f"taken as stripes of an image, whose pixels go into one another. For a series of "
                f"{count} channels put these last and divide the times alone, as in "
                f"patches(({max(np.shape(owner))},), 50).",
                LayoutWarning,
                stacklevel=2,
            )


def _axis_without_players(owner: Int[np.ndarray, "..."]) -> int:
    shape = np.shape(owner)
    ends = (0, len(shape) - 1) if len(shape) > 1 else ()
    for axis in ends:
        others = shape[:axis] + shape[axis + 1 :]
        if shape[axis] < min(others) and (owner == np.take(owner, [0], axis)).all():
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
