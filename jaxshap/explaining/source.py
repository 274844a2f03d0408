"""Where an explanation came from, so that questions about it can be asked later."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.games import Game


class Source(NamedTuple):
    """The game of an explanation, made when it is needed, and what of its outputs the explanation
    shows.

    `background` is the table that a marginal game takes absent features from, with weights or
    without; `groups` are the columns of each player.
    """

    game: Callable[[], Game]
    rows: np.ndarray
    outputs: tuple[Any, ...] = ()  # what was picked of the last axis, time after time
    background: Any = None
    groups: list[list[int]] | None = None

    @property
    def num_references(self) -> int:
        return len(getattr(self.background, "rows", self.background))

    def pick(self, rows: list[int], outputs: list[int] | int | None) -> "Source":
        picks = self.outputs if outputs is None else (*self.outputs, outputs)
        return self._replace(rows=self.rows[rows], outputs=picks)

    def picked(self, worths: np.ndarray) -> np.ndarray:
        """Of worths (m, rows, *outputs), those that are shown."""
        found = worths[:, self.rows]
        for outputs in self.outputs:
            found = found[..., outputs]
        return found
