"""Where an explanation came from, so that questions about it can be asked later."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxshap.games import Game


class Source(NamedTuple):
    """The game of an explanation, made when it is needed, and what the explanation shows of it."""

    game: Callable[[], Game]
    rows: np.ndarray
    outputs: tuple[Any, ...] = ()  # what was picked of the last axis, time after time
    groups: list[list[int]] | None = None  # the columns of each player
    asked: tuple[Callable, Any, Any] | None = None  # model, rows and references of a table

    def pick(self, rows: list[int], outputs: list[int] | int | None) -> "Source":
        picks = self.outputs if outputs is None else (*self.outputs, outputs)
        return self._replace(rows=self.rows[rows], outputs=picks)

    def picked(self, worths: np.ndarray) -> np.ndarray:
        """Of worths (m, rows, *outputs), those that are shown."""
        return self.picked_outputs(worths[:, self.rows])

    def picked_outputs(self, worths: np.ndarray) -> np.ndarray:
        """Of an array whose last axes are all outputs, those that are shown."""
        shown = worths
        for outputs in self.outputs:
            shown = shown[..., outputs]
        return shown
