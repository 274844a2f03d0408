"""Games of one text on the host: which of its players are present decides what the model reads."""

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxshap.games import Game, Host, as_worths
from jaxshap.inputs import check_finite, check_outputs


def presence_game(
    worths: Callable[[Any], Any], num_players: int, absent: str, bytes_per_item: int
) -> Game:
    """The game whose worths of coalitions `(m, n)` are `(m, *outputs)`, with one row in front.

    On the host, so that texts with other numbers of players share the programs of a JAX model, and
    so that no input is asked about twice.
    """
    nobody, everyone = np.zeros((1, num_players), bool), np.ones((1, num_players), bool)
    ends = worths(np.concatenate([nobody, everyone]))
    check_outputs(ends.shape, ends.dtype, 2)
    check_finite(ends[1:], 1, "text")
    check_finite(ends[:1], 1, "text without its players")
    empty, full = as_worths(ends)[:, None]

    def value(coalitions: np.ndarray) -> np.ndarray:
        return worths(coalitions.astype(bool))[:, None]  # as a model of rows it gets numbers

    return Game(Host(value, bytes_per_item), empty, full, num_players, "text", absent)
