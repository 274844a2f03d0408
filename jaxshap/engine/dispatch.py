"""Batches on their way: off the CPU some are dispatched before the host has seen those before."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.engine.batches import (
    BatchSize,
    choose_batch_size,
    power_above,
    start_on_device,
    worths_on_host,
)
from jaxshap.engine.sharding import Placement
from jaxshap.games import Game, runs_on_cpu

MAX_BATCHES = 16  # in one call of the compiled loop
MAX_AHEAD_BYTES = 2**26  # of worths that wait on the device to be copied at once
MAX_CALLS_AHEAD = 256  # of the compiled loop, between two copies


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """A game and the coalitions that it is asked about, and how many batches are on their way."""

    game: Game
    items: Bool[np.ndarray, "m n"]
    num_strata: int | None
    placement: Placement | None
    most: int  # batches in one call
    size: int  # coalitions in a batch

    @property
    def ahead(self) -> int:
        """How many looks are dispatched at a time: on a CPU two would share its cores."""
        return 1 if self.game.on_host or runs_on_cpu() else 2

    @property
    def most_at_once(self) -> int:
        """Batches that are copied to the host at once."""
        if self.ahead == 1:
            return self.most
        worth = max(1, int(np.prod(self.game.empty.shape))) * self.game.empty.dtype.itemsize
        calls = MAX_AHEAD_BYTES // (self.most * self.size * worth)
        return self.most * min(MAX_CALLS_AHEAD, max(1, calls))

    def start(self, some: Int[np.ndarray, "k"]) -> list[Any]:
        """Ask about some items, by number; on a device, without waiting for the answers."""
        strata = None
        if self.num_strata is not None:
            strata = (some % self.num_strata).astype(np.int32)
        if self.game.on_host:
            return [worths_on_host(self.game, self.items[some], strata)]
        step = self.most * self.size
        shape = self.most, self.size
        return [
            start_on_device(
                self.game,
                self.items[some[start : start + step]],
                None if strata is None else strata[start : start + step],
                shape,
                self.placement,
            )
            for start in range(0, len(some), step)
        ]

    def finish(self, some: Int[np.ndarray, "k"], running: list[Any]) -> Float[np.ndarray, "k *out"]:
        """Their worths, copied to the host once, all together."""
        arrays = [np.asarray(array) for array in jax.device_get(running)]
        rows = [array.reshape(-1, *self.game.empty.shape) for array in arrays]
        whole = rows[0] if len(rows) == 1 else np.concatenate(rows)
        return whole[: len(some)]


def make_work(
    game: Game,
    items: Bool[np.ndarray, "m n"],
    num_strata: int | None,
    left: int,
    batch_size: BatchSize,
    placement: Placement | None,
) -> Work:
    """How to ask about `items`, of which `left` are still to be asked about."""
    size = choose_batch_size(batch_size, game, left, num_strata is not None)
    if placement is not None:
        size *= placement.num_shares if batch_size == "auto" else 1
        size += -size % placement.num_shares  # as many for every device
    most = 1 if game.on_host else min(MAX_BATCHES, power_above(left / size))
    if not game.on_host:
        game = jax.tree.map(_on_device, game)
    return Work(game, items, num_strata, placement, most, size)


def _on_device(leaf: Any) -> Any:
    """A model's numpy arrays are copied there once, and not with every batch."""
    return jax.device_put(leaf) if isinstance(leaf, np.ndarray) else leaf
