"""Where a game lies on a mesh: what is sharded stays so, and coalitions take the free axes."""

import math
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxshap.errors import InputError
from jaxshap.games import Game


class Placement(NamedTuple):
    """A mesh, and the axes of it that coalitions are shared out over."""

    mesh: Mesh
    axes: tuple[str, ...]

    @property
    def num_shares(self) -> int:
        """Into how many shares a batch of coalitions is divided."""
        return math.prod(self.mesh.shape[axis] for axis in self.axes)

    @property
    def replicated(self) -> NamedSharding:
        return NamedSharding(self.mesh, PartitionSpec())

    @property
    def shared_out(self) -> NamedSharding:
        """Of batches `(batches, coalitions, …)`."""
        return NamedSharding(self.mesh, PartitionSpec(None, self.axes))


def place(game: Game, mesh: Mesh) -> tuple[Game, Placement]:
    """The game on the mesh: sharded arrays stay where they are, the others go to every device.

    Where parameters or rows lie on the same devices in another mesh, it takes the place of this.
    """
    spread = [leaf for leaf in jax.tree.leaves(game) if _is_spread(leaf)]
    devices = set(mesh.devices.flat)
    for leaf in spread:
        if leaf.sharding.device_set != devices:
            raise InputError(
                f"an array {leaf.shape} of the model or its inputs is sharded over "
                f"{len(leaf.sharding.device_set)} devices, and mesh= has {len(devices)}, not the "
                "same ones: pass the mesh that it is sharded over, or omit mesh=."
            )
    placement = _placement(mesh, [leaf.sharding for leaf in spread])

    def put(leaf: Any) -> Any:
        return leaf if _is_spread(leaf) else jax.device_put(leaf, placement.replicated)

    return jax.tree.map(put, game), placement


def _is_spread(leaf: Any) -> bool:
    """Whether no device holds all of it."""
    return isinstance(leaf, jax.Array) and not leaf.sharding.is_fully_replicated


def _placement(mesh: Mesh, shardings: list[Any]) -> Placement:
    if not shardings:
        return Placement(mesh, mesh.axis_names)
    meshes = {getattr(sharding, "mesh", None) for sharding in shardings}
    own = meshes.pop()
    if meshes or own is None:
        return Placement(mesh, ())  # axes that cannot be compared: none is known to be free
    taken = {name for sharding in shardings for name in _names(sharding.spec)}
    return Placement(own, tuple(name for name in own.axis_names if name not in taken))


def _names(spec: PartitionSpec) -> list[str]:
    return [name for name in jax.tree.leaves(tuple(spec)) if isinstance(name, str)]
