"""Games of images whose absent parts are made of the image itself; of series and volumes too."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from jaxshap.errors import InputError
from jaxshap.games import Game, Host, as_numbers, as_pytree, widened
from jaxshap.images.channels import (
    channel_axes,
    channel_axis,
    owners_of_pixels,
    warn_of_stripes,
    with_channels_last,
)
from jaxshap.inputs import STAYS, Players
from jaxshap.values import masked_game, masks

# (images, which pixels are present, numbers of the draws) -> images
# of what is absent, all with an axis of inputs in front and colours, which players own all of,
# behind those of the pixels; a pytree, in numpy or in JAX
Fill = Callable[[Any, Any, Any], Any]
Make = Callable[[Any, Any], Any]  # (images, owner of their pixels) -> images
GIVEN, MADE, SOURCE = "given", "made", "source"  # of each input: the last is 0 where present


def of_pixels(rows: PyTree, players: Players, make: Make) -> PyTree:
    """What `make` makes of each array that players divide, in floating-point numbers of its width;
    as whole numbers where the array holds those. Other arrays stay as they are.
    """

    def made(owner, leaf):
        if np.ndim(owner) == 0:
            return leaf
        axis = channel_axis(owner)
        pixels = owners_of_pixels(owner, axis)
        filled = with_channels_last(axis, as_floating(leaf), lambda image: make(image, pixels))
        return like(leaf, filled)

    return jax.tree.map(made, players.owner, rows)


def image_game(
    model: Callable,
    rows: PyTree,
    players: Players,
    name: str,
    absent: str,
    *,
    made: PyTree = None,
    fill: Fill | None = None,
    num_draws: int = 1,
) -> Game:
    """v(S) = the mean over draws of the model on each image, its absent pixels filled in.

    What is mixed is where each player comes from: the image, 0, or draw k of what is absent, k + 1.
    """
    warn_of_stripes(players)
    kind = _FilledModel(_inner(model), fill, players.owner, channel_axes(players))
    filled: Any = Host(kind, model.bytes_per_item) if isinstance(model, Host) else kind
    count = len(jax.tree.leaves(rows)[0])
    draws = np.arange(1, num_draws + 1, dtype=np.int32)[:, None]
    inputs = {
        GIVEN: rows,
        MADE: made,
        SOURCE: np.zeros((count, len(players)), np.int32),
    }
    first: Any = jax.tree.map(lambda leaf: leaf[:1].repeat(num_draws, 0), {GIVEN: rows, MADE: made})
    references = first | {SOURCE: np.repeat(draws, len(players), axis=1)}
    stays = jax.tree.map(lambda leaf: np.asarray(STAYS), {GIVEN: rows, MADE: made})
    own = Players(stays | {SOURCE: np.arange(len(players))}, players.names)
    return masked_game(filled, inputs, references, None, name, absent, own)


def read_images(
    kind: str, X: Any, background: Any, weights: Any, players: Players | None
) -> tuple[PyTree, Players]:
    """The images, and the players that divide them."""
    if background is not None or weights is not None:
        raise InputError(
            f"{kind} makes absent parts of the image itself: omit the background and its weights."
        )
    if players is None:
        raise InputError(
            f"{kind} is for images whose parts play: pass groups=jaxshap.patches(...) or "
            "jaxshap.segments(...), or players= to the value function itself."
        )
    rows = jax.tree.map(lambda leaf: as_numbers(leaf, "X"), X)
    players.check(rows, "X")
    whole = [np.ndim(owner) == 0 and owner != STAYS for owner in jax.tree.leaves(players.owner)]
    if any(whole):
        raise InputError(
            f"{kind} fills in parts of arrays, and some players own whole ones: divide them, as by "
            "jaxshap.patches, or use jaxshap.marginal with a background."
        )
    return rows, players


def as_floating(array: Any) -> Any:
    """Whole numbers as floating-point ones; half precision widened."""
    if jnp.issubdtype(array.dtype, jnp.floating):
        return widened(array)
    return array.astype(np.float64 if isinstance(array, np.ndarray) else jnp.result_type(float))


def like(image: Any, pixels: Any) -> Any:
    """Pixels of the image's own dtype, rounded where that is whole numbers."""
    whole = not jnp.issubdtype(image.dtype, jnp.floating)
    return (pixels.round() if whole else pixels).astype(image.dtype)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _FilledModel:
    """A model of images as one of images, what was made of them, and sources of players."""

    model: Callable
    fill: Any  # a Fill; None where the images were made before
    owner: PyTree
    channels: tuple[int, ...] = dataclasses.field(metadata={"static": True})

    def __call__(self, inputs: dict[str, Any]) -> Any:
        source, given, made = (inputs[name] for name in (SOURCE, GIVEN, MADE))
        present = masks(source == 0, self.owner, given)
        draw = source.max(1, initial=1) - 1  # of the absent players, who all have the same
        xp: Any = np if isinstance(source, np.ndarray) else jnp

        fill = self.fill

        def mixed(owner, axis, leaf, mask, before):
            if np.ndim(owner) == 0:
                return leaf
            if fill is None:
                return xp.where(mask, leaf, like(leaf, before))
            pixels = mask.reshape(mask.shape[: 1 + np.ndim(owner)])
            pixels = owners_of_pixels(pixels, axis + 1 if axis >= 0 else axis)

            def filled(image):
                return fill(image, pixels, draw)

            return xp.where(mask, leaf, like(leaf, with_channels_last(axis, leaf, filled)))

        before = jax.tree.map(lambda leaf: None, given) if made is None else made
        axes = jax.tree.unflatten(jax.tree.structure(self.owner), self.channels)
        return self.model(jax.tree.map(mixed, self.owner, axes, given, present, before))


def _inner(model: Callable) -> Any:
    return model if isinstance(model, Host) else as_pytree(model)
