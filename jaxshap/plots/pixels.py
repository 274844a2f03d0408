"""Values of players that own the pixels of an image."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import as_array
from jaxshap.inputs import STAYS


def checked_owner(explanation: Explanation, owner: Any) -> Int[np.ndarray, "height width"]:
    """A map of pixels to the players of this explanation; channels alike are one."""
    owner = explanation.owner if owner is None else owner
    if owner is None:
        raise InputError(
            "this explanation knows no owners of pixels: explain images with "
            "groups=jaxshap.patches(...) or segments(...), or pass the owner of each pixel."
        )
    owner = without_channels(np.asarray(as_array(owner, "owner")), 2)
    number = len(explanation.feature_names)
    if owner.ndim != 2 or not np.issubdtype(owner.dtype, np.integer):
        raise InputError(
            "the owner of each pixel is a whole number in an array (height, width), and this has "
            f"shape {owner.shape} and dtype {owner.dtype}: pass jaxshap.patches(...).owner."
        )
    if owner.min() < STAYS or owner.max() != number - 1:
        raise InputError(
            f"owners go from {owner.min()} to {owner.max()}, and there are {number} players: pass "
            "the owner of the players that were explained."
        )
    return owner


def without_channels(owner: Shaped[np.ndarray, "..."], axes: int) -> Shaped[np.ndarray, "..."]:
    """The owners of one channel, where all channels, in front or behind, have the same."""
    if owner.ndim != axes + 1 or not owner.size:
        return owner
    alike = [axis for axis in (-1, 0) if (owner == owner.take([0], axis)).all()]
    return owner.take(0, min(alike, key=lambda axis: owner.shape[axis])) if alike else owner


def on_pixels(
    values: Float[np.ndarray, "rows players *outputs"], owner: Int[np.ndarray, "height width"]
) -> Float[np.ndarray, "rows height width *outputs"]:
    """The value of each pixel's owner; NaN where nobody owns it."""
    nobody = np.full_like(values[:, :1], np.nan)  # the last place, which −1 stands for
    return np.concatenate([values, nobody], axis=1)[:, owner]


def grey_images(
    explanation: Explanation, owner: Int[np.ndarray, "height width"]
) -> Float[np.ndarray, "rows height width"]:
    """The images that were explained, averaged over colours."""
    data, (height, width) = explanation.data, owner.shape
    if isinstance(data, dict) or data[0].size % owner.size:
        several = isinstance(data, dict)
        shape = {name: array.shape for name, array in data.items()} if several else data.shape
        raise InputError(
            f"the data of shape {shape} are not images of {height} × {width} pixels: pass the "
            "owner of the pixels that were explained."
        )
    data = np.asarray(data, float)
    if data.ndim == 4 and data.shape[2:] == owner.shape and data.shape[1:3] != owner.shape:
        return data.mean(1)  # channels in front
    return data.reshape(len(data), *owner.shape, -1).mean(-1)
