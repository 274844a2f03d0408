"""Straight paths from references to rows, and what each player gains at places along them."""

import dataclasses
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from jaxshap.games import at_least_float32

MAX_PASSES = 16  # derivatives of one batch of points that are held in memory at once


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Paths:
    """The points reference + t (row − reference), where t is a place between 0 and 1.

    Parts of an input that belong to nobody have the row's value all along, as in the game.
    """

    model: Callable
    rows: PyTree[Array]
    references: PyTree[Array]
    owner: PyTree[Int[Array | np.ndarray, "..."]]
    num_players: int = dataclasses.field(metadata={"static": True})

    def gains(
        self,
        rows: PyTree[Array],
        reference: Int[Array | np.ndarray, "places"],
        place: Float[Array | np.ndarray, "places"],
    ) -> Float[Array, "places rows players *out"]:
        """(row − reference) times the slope of every output, summed over what each player owns."""
        leaves, structure = jax.tree.flatten(rows)
        owners = jax.tree.leaves(self.owner)
        sources = [leaf[reference] for leaf in jax.tree.leaves(self.references)]
        parts = [_Part(*part, place) for part in zip(leaves, sources, owners, strict=True)]
        moving = [part for part in parts if part.moves]

        def outputs_at(points: list[Array]) -> Float[Array, "points *out"]:
            rest = iter(points)
            inputs = [next(rest) if part.moves else part.still() for part in parts]
            outputs = self.model(jax.tree.unflatten(structure, inputs))
            return outputs.astype(at_least_float32(outputs.dtype))

        points = [part.points() for part in moving]
        gains = _gains(outputs_at, points, moving, self.num_players)
        return gains.reshape(len(place), len(leaves[0]), *gains.shape[1:])


class _Part:
    """One array of the inputs: rows, references at the places, and who owns its entries."""

    def __init__(
        self, row: Array, reference: Array, owner, place: Float[Array | np.ndarray, "places"]
    ):
        self.row, self.reference, self.place = row, reference, place
        self.owner = jnp.asarray(owner)
        self.moves = jnp.issubdtype(row.dtype, jnp.floating)

    def still(self) -> Array:
        shape = len(self.place), *self.row.shape
        return jnp.broadcast_to(self.row, shape).reshape(-1, *self.row.shape[1:])

    def steps(self) -> Array:
        """How far each entry goes, `(places × rows, …)`; entries that stay go nowhere."""
        owned = self._of_entries(self.owner >= 0)
        steps = jnp.where(owned, self.row - self.reference[:, None], 0)
        return steps.reshape(-1, *self.row.shape[1:])

    def points(self) -> Array:
        left = jnp.repeat(1 - self.place, len(self.row)).astype(self.row.dtype)
        steps = self.steps()
        return self.still() - left.reshape(-1, *(1,) * (steps.ndim - 1)) * steps

    def tangents(self, player: Int[Array, ""]) -> Array:
        return jnp.where(self._of_entries(self.owner == player), self.steps(), 0)

    def by_player(self, entries: Array, num_players: int) -> Float[Array, "points players"]:
        """Entries of an array `(points, …)` summed over what each player owns."""
        axes = tuple(range(1 + self.owner.ndim, entries.ndim))
        owned = entries.sum(axes).reshape(len(entries), -1)
        owner = jnp.where(self.owner < 0, num_players, self.owner).reshape(-1)
        sums = jnp.zeros((len(entries), num_players + 1), entries.dtype).at[:, owner].add(owned)
        return sums[:, :num_players]

    def _of_entries(self, flags: Array) -> Array:
        return flags.reshape(*flags.shape, *(1,) * (self.row.ndim - 1 - flags.ndim))


def _gains(
    outputs_at: Callable, points: list[Array], parts: list[_Part], num_players: int
) -> Float[Array, "points players *out"]:
    """Backwards from each output, or forwards from each player where these are fewer."""
    outputs = jax.eval_shape(outputs_at, points)
    shape = outputs.shape[1:]
    count = math.prod(shape)

    def of_player(player):
        return push([part.tangents(player) for part in parts])

    def of_output(number):
        chosen = (jnp.arange(count) == number).reshape(shape).astype(outputs.dtype)
        (slopes,) = pull(jnp.broadcast_to(chosen, outputs.shape))
        gains = [
            part.by_player((slope * part.steps()).astype(outputs.dtype), num_players)
            for part, slope in zip(parts, slopes, strict=True)
        ]
        return jnp.stack(gains).sum(0)

    if num_players < count:
        _, push = jax.linearize(outputs_at, points)
        gains = jax.lax.map(of_player, jnp.arange(num_players), batch_size=MAX_PASSES)
        return jnp.moveaxis(gains, 0, 1)
    _, pull = jax.vjp(outputs_at, points)
    gains = jax.lax.map(of_output, jnp.arange(count), batch_size=MAX_PASSES)
    return jnp.moveaxis(gains, 0, -1).reshape(-1, num_players, *shape)
