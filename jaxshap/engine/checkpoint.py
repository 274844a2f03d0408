"""Worths kept on disk while they are evaluated: each batch is appended, so not even kill -9 loses a
finished one.
"""

import json
import os
import pathlib

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.errors import InputError
from jaxshap.games import Game


def resume(
    path: str | os.PathLike, game: Game, coalitions: Bool[np.ndarray, "m n"]
) -> Float[np.ndarray, "done *out"]:
    """Worths that the file holds for the first of these coalitions; a new file is begun where there
    is none.

    A file of another game or plan is refused; a record that was cut off while it was written is
    dropped.
    """
    path, record = pathlib.Path(path), _record(game)
    ends = _packed(
        np.stack([np.zeros(game.num_players, bool), np.ones(game.num_players, bool)]), record
    )
    ends["worth"] = np.stack([np.asarray(game.empty), np.asarray(game.full)])
    header = (
        json.dumps({"jaxshap": 1, "players": game.num_players, "record": str(record)}).encode()
        + b"\n"
    )
    if not path.exists():
        begun = path.with_name(path.name + ".begun")
        begun.write_bytes(header + ends.tobytes())
        os.replace(begun, path)
    content = path.read_bytes()
    whole = (len(content) - len(header)) // record.itemsize
    if not content.startswith(header) or whole < 2:
        raise InputError(
            f"{path} is not a checkpoint of this game: pass another path, or delete it."
        )
    found = np.frombuffer(content, record, whole, len(header))
    close = np.isclose(
        found["worth"][:2], ends["worth"], rtol=1e-4, atol=1e-6 * np.abs(ends["worth"]).max()
    )
    done = min(whole - 2, len(coalitions))
    asked = _packed(coalitions[:done], record)["coalition"]
    if not close.all() or not np.array_equal(found["coalition"][2 : 2 + done], asked):
        raise InputError(
            f"{path} was made for another model, table, key, estimator or budget: pass another path, or delete it."
        )
    os.truncate(path, len(header) + whole * record.itemsize)
    return found["worth"][2 : 2 + done]


def append(
    path: str | os.PathLike,
    game: Game,
    coalitions: Bool[np.ndarray, "k n"],
    worths: Float[np.ndarray, "k *out"],
) -> None:
    """Add what was just evaluated."""
    records = _packed(coalitions, _record(game))
    records["worth"] = worths
    with open(path, "ab", buffering=0) as file:
        file.write(records.tobytes())


def _record(game: Game) -> np.dtype:
    packed = ("coalition", np.uint8, ((game.num_players + 7) // 8,))
    return np.dtype([packed, ("worth", np.dtype(game.empty.dtype), game.empty.shape)])


def _packed(coalitions: Bool[np.ndarray, "k n"], record: np.dtype) -> np.ndarray:
    records = np.zeros(len(coalitions), record)
    records["coalition"] = np.packbits(coalitions, axis=1)
    return records
