"""What `evaluate` is asked, checked: coalitions, and worths that are known already."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxshap.errors import InputError
from jaxshap.games import Game, as_array, as_numbers


def read_coalitions(game: Game, coalitions: Any) -> Any:
    """Coalitions as an array, checked: of truth values in numpy, or traced."""
    array = as_array(coalitions, "coalitions")
    shape = array.shape
    if len(shape) not in (2, 3) or shape[-1] != game.num_players:
        raise InputError(
            f"coalitions have shape {shape} for {game.num_players} players: pass a boolean array "
            "(coalitions, players); a single coalition is coalition[None]."
        )
    if len(shape) == 3 and shape[1] > game.num_strata:
        raise InputError(f"there are {shape[1]} strata in coalitions, and {game.num_strata} here.")
    if isinstance(array, Tracer):
        return array
    members = np.asarray(as_numbers(jax.device_get(array), "coalitions"))
    if members.dtype != bool and not np.isin(members, (0, 1)).all():
        raise InputError(
            "coalitions hold other numbers than 0 and 1: pass whether each player is in, (m, n), "
            "rather than the numbers of those who are."
        )
    return members.astype(bool)


def read_known(game: Game, known: Any, asked: np.ndarray) -> Any:
    """Worths of the first coalitions as an array, checked; None where there are none."""
    if known is None:
        return None
    worths, most = as_numbers(known, "known="), int(np.prod(asked.shape[:-1]))
    shape, entries = worths.shape, max(1, int(np.prod(game.empty.shape)))
    if worths.size % entries or worths.size // entries > most:
        raise InputError(
            f"known= has shape {shape}: pass worths {game.empty.shape} of the first coalitions, "
            f"of at most {most}."
        )
    return worths
