"""Inpainted: an absent part of an image is filled in from the pixels around it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.games import Game
from jaxshap.images.image_game import as_floating, image_game, read_images
from jaxshap.inputs import Players


@dataclasses.dataclass(frozen=True)
class Inpainted:
    """Absent parts are filled in smoothly from the nearest pixels that are present.

    A value function that needs no background: what fills an absent part depends on who is present.
    Means of ever coarser pixels are pulled up and pushed down again (Gortler et al. 1996), which
    has no steps to converge and costs as much as a few filters. Where nobody is present, the image
    has its mean colour.

    Example:
        >>> import jaxshap, numpy as np
        >>> images, players = np.ones((1, 4, 4)), jaxshap.patches((4, 4), 2)
        >>> def model(x):
        ...     return x.sum((1, 2))
        >>> how = {"groups": players, "value": jaxshap.images.Inpainted()}
        >>> ex = jaxshap.explain(model, images, **how)
        >>> ex.value_function, ex.values.tolist()  # neighbours tell what is taken away
        ('inpainted', [[0.0, 0.0, 0.0, 0.0]])
    """

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
        rows, players = read_images("Inpainted", X, background, weights, players)
        absent = "an absent part of the image is filled in from the pixels around it"
        fill = jax.tree_util.Partial(_fill)
        return image_game(model, rows, players, "inpainted", absent, fill=fill)


def _fill(image: Any, present: Any, draw: Any) -> Any:
    return inpainted(as_floating(image), present)


def inpainted(image: Any, present: Any) -> Any:
    """Every pixel `(images, *axes, …)` from those that are present, `(images, *axes)`."""
    axes = tuple(range(1, present.ndim))
    known = present.reshape(*present.shape, *(1,) * (image.ndim - present.ndim))
    mean = image.mean(axes, keepdims=True)
    return _pulled_and_pushed(image, known.astype(image.dtype), axes, mean)


def _pulled_and_pushed(colours: Any, known: Any, axes: tuple[int, ...], nothing: Any) -> Any:
    """Colours where `known` is 1, those of coarser pixels where it is 0, and shares of both."""
    axes = tuple(axis for axis in axes if known.shape[axis] > 1)
    if not axes:
        return known * colours + (1 - known) * nothing
    weight = _summed(known, axes)
    total = _summed(known * colours, axes)
    xp: Any = np if isinstance(known, np.ndarray) else jnp
    coarse = total / xp.where(weight > 0, weight, 1)
    below = _pulled_and_pushed(coarse, xp.minimum(weight, 1), axes, nothing)
    for axis in axes:
        below = _doubled(below, axis, known.shape[axis])
    return known * colours + (1 - known) * below


def _summed(pixels: Any, axes: tuple[int, ...]) -> Any:
    """Over pairs of neighbours along each axis; a last one that is left over stays alone."""
    xp: Any = np if isinstance(pixels, np.ndarray) else jnp
    for axis in axes:
        odd = pixels.shape[axis] % 2
        pixels = xp.pad(pixels, [(0, odd if axis == one else 0) for one in range(pixels.ndim)])
        shape = (*pixels.shape[:axis], -1, 2, *pixels.shape[axis + 1 :])
        pixels = pixels.reshape(shape).sum(axis + 1)
    return pixels


def _doubled(pixels: Any, axis: int, length: int) -> Any:
    """Twice as many pixels along an axis, up to this length, by linear interpolation."""
    xp: Any = np if isinstance(pixels, np.ndarray) else jnp
    count = pixels.shape[axis]
    earlier = xp.take(pixels, np.maximum(np.arange(count) - 1, 0), axis)
    later = xp.take(pixels, np.minimum(np.arange(count) + 1, count - 1), axis)
    pairs = xp.stack([0.75 * pixels + 0.25 * earlier, 0.75 * pixels + 0.25 * later], axis + 1)
    doubled = pairs.reshape(*pixels.shape[:axis], 2 * count, *pixels.shape[axis + 1 :])
    return xp.take(doubled, np.arange(length), axis)
