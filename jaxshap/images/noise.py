"""Noise: an absent part of an image holds pixels of that image in a random order."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from jaxshap.errors import InputError
from jaxshap.games import Game
from jaxshap.images.channels import channel_axis, owners_of_pixels
from jaxshap.images.image_game import image_game, read_images
from jaxshap.inputs import Players


@dataclasses.dataclass(frozen=True)
class Noise:
    """Absent pixels take the colours of other pixels of the image, drawn at random.

    A value function that needs no background: noise with the colours of the image itself, within
    their range. Worths are means over draws, which are the same for all coalitions and rows; the
    game is that of these draws, and standard errors do not hold what other draws would say.

    Args:
        draws: how many random orders of the pixels there are; each costs a model row.
        key: a whole number, from which they are drawn.

    Raises:
        InputError: there is no draw.

    Example:
        >>> import jaxshap, numpy as np
        >>> images, players = np.ones((1, 4, 4)), jaxshap.patches((4, 4), 2)
        >>> noise = jaxshap.images.Noise(draws=3)
        >>> ex = jaxshap.explain(lambda x: x.sum((1, 2)), images, groups=players, value=noise)
        >>> ex.value_function, ex.values.tolist()  # one colour, which noise has too
        ('noise (3 draws)', [[0.0, 0.0, 0.0, 0.0]])
    """

    draws: int = 8
    key: int = 0

    needs_background = False

    def __post_init__(self):
        if isinstance(self.draws, bool) or not isinstance(self.draws, int) or self.draws < 1:
            raise InputError(f"draws={self.draws!r}: pass a whole number of draws, 1 or more.")

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
        rows, players = read_images("Noise", X, background, weights, players)
        divided = [owner for owner in jax.tree.leaves(players.owner) if np.ndim(owner)]
        sizes = {owners_of_pixels(owner, channel_axis(owner)).size for owner in divided}
        fill = _Shuffled({size: _orders(self.key, self.draws, size) for size in sizes})
        name = f"noise ({self.draws} draw{'s' if self.draws > 1 else ''})"
        absent = "an absent pixel has the colour of another pixel of the image, drawn at random"
        how: Any = {"fill": fill, "num_draws": self.draws}
        return image_game(model, rows, players, name, absent, **how)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Shuffled:
    """Pixels in the order of each input's draw."""

    orders: dict[int, Int[Array | np.ndarray, "draws pixels"]]  # by the number of pixels

    def __call__(self, image: Any, present: Any, draw: Any) -> Any:
        size = int(np.prod(present.shape[1:]))
        pixels = image.reshape(len(image), size, -1)
        xp: Any = np if isinstance(image, np.ndarray) else jnp
        order = xp.take(self.orders[size], draw, axis=0)
        return pixels[np.arange(len(image))[:, None], order].reshape(image.shape)


def _orders(key: int, draws: int, size: int) -> Int[np.ndarray, "draws pixels"]:
    with jax.ensure_compile_time_eval():
        keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(key), jnp.arange(draws))
        return np.asarray(jax.vmap(jax.random.permutation, (0, None))(keys, size), np.int32)
