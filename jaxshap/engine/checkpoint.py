"""Worths kept on disk while they are evaluated, so that not even kill -9 loses a finished batch.

A file is one line of JSON that says what was asked, one with sums of v(∅) and v(N), and then one
record per coalition: who is in, the worth, and a checksum of both. It belongs to one process at a
time.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

import jax
import numpy as np
from jaxtyping import Bool, Float

from jaxshap.errors import CheckpointError
from jaxshap.games import Game, Host

try:
    import fcntl
except ImportError:  # no file locks on this system
    fcntl = None

VERSION = 3
MAX_PROBES = 3  # stored coalitions that are asked about again when a file is resumed
PROBE_TOLERANCE = 1e-3  # of the spread of stored worths: what another batch size may change
ENDS_TOLERANCE = 1e-5  # of the spread of v(∅) and v(N), which one program computes every time
ROUNDING_STEPS = 100  # by which worths may differ, beside a share of their spread
NUM_SUMS = 4  # of v(∅) and v(N) with random signs: an output that changes changes them all


@contextlib.contextmanager
def open_checkpoint(
    path: str | os.PathLike, game: Game, items: Bool[np.ndarray, "m n"], num_strata: int | None
) -> Iterator["Checkpoint"]:
    """The file at this path, locked; begun where there is none, refused where it is another's."""
    header = _header(game, num_strata)
    if os.path.exists(path) and not os.path.isfile(path):  # a device may have no end
        raise CheckpointError(f"checkpoint={str(path)!r} cannot be opened: it is not a file.")
    try:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed below)
    except OSError as error:
        raise CheckpointError(f"checkpoint={str(path)!r} cannot be opened: {error}") from error
    with file:
        _lock(file, path)
        _begin(file, path, header + json.dumps(_sums_of_ends(game)).encode() + b"\n")
        yield Checkpoint(path, file, header, game, items)


def num_stored(path: str | os.PathLike | None, game: Game) -> int:
    """How many worths a file holds, if it is one; `resume` checks whether they belong here."""
    if path is None or not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        start = len(file.readline())
        return max(0, os.fstat(file.fileno()).st_size - start) // _record(game).itemsize


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """An open file of worths."""

    path: str | os.PathLike
    file: IO[bytes]
    header: bytes
    game: Game
    items: Bool[np.ndarray, "m n"]

    def resume(
        self, ask: Callable[[np.ndarray], np.ndarray], num_known: int = 0
    ) -> Float[np.ndarray, "done *out"]:
        """Worths that the file holds for the first items; `ask` gives those of some again, unless
        all of them are known, as in a later round.
        """
        self.file.seek(0)
        content = self.file.read()
        start = self._check_head(content)
        record = _record(self.game)
        whole = (len(content) - start) // record.itemsize
        records = np.frombuffer(content, record, whole, start)
        self._check(records)
        done = min(whole, len(self.items))
        if done > num_known:
            self._probe(records["worth"][:done], ask)
        self.file.truncate(start + whole * record.itemsize)
        return records["worth"][:done]

    def append(self, start: int, worths: Float[np.ndarray, "k *out"]) -> None:
        """Add what was just evaluated, from this item on."""
        records = np.zeros(len(worths), _record(self.game))
        records["coalition"] = np.packbits(self.items[start : start + len(worths)], axis=1)
        records["worth"] = worths
        records["checksum"] = _checksums(records)
        _write(self.file, records.tobytes())

    def _check_head(self, content: bytes) -> int:
        """Where the records begin, in a file of this game."""
        end = content.find(b"\n", len(self.header))
        if not content.startswith(self.header) or end < 0:
            raise CheckpointError(
                f"{self.path} is not a checkpoint of this game; it was made for another model, "
                "table, background, value function or version: pass another path, or delete it."
            )
        ends = np.concatenate([self.game.empty.ravel(), self.game.full.ravel()]).astype(np.float64)
        share = ROUNDING_STEPS * np.finfo(self.game.empty.dtype).eps
        allowed = share * np.linalg.norm(ends) + ENDS_TOLERANCE * np.linalg.norm(ends - ends.mean())
        stored = _read_sums(content[len(self.header) : end])
        if not (np.abs(stored - _sums_of_ends(self.game)) <= allowed).all():
            raise CheckpointError(
                f"{self.path} was made for another model, or the model's answers change: v(∅) or "
                "v(N) differ. Pass another path, or delete it."
            )
        return end + 1

    def _check(self, records: np.ndarray) -> None:
        if damaged := np.flatnonzero(records["checksum"] != _checksums(records)).tolist():
            raise CheckpointError(
                f"{self.path} is damaged: record {damaged[0]} of {len(records)} does not match its "
                "checksum. Delete the file, or pass another path, and evaluate again."
            )
        done = min(len(records), len(self.items))
        asked = np.packbits(self.items[:done], axis=1)
        if not np.array_equal(records["coalition"][:done], asked):
            raise CheckpointError(
                f"{self.path} was made with another key, estimator or budget: pass another path, "
                "or delete it."
            )

    def _probe(self, worths: np.ndarray, ask: Callable[[np.ndarray], np.ndarray]) -> None:
        """Whether the model still answers as it did: a model in a closure has no fingerprint."""
        if not len(worths):
            return
        which = np.unique(np.linspace(0, len(worths) - 1, MAX_PROBES).astype(int))
        again = ask(which)
        spread = worths.max(0) - worths.min(0)
        rounding = ROUNDING_STEPS * np.finfo(worths.dtype).eps * np.abs(worths).max(0)
        if (np.abs(again - worths[which]) > PROBE_TOLERANCE * spread + rounding).any():
            raise CheckpointError(
                f"{self.path} holds worths that the model no longer gives: it was made for another "
                "model, or the model's answers change: pass another path, or delete it."
            )


def _header(game: Game, num_strata: int | None) -> bytes:
    about = {
        "jaxshap": VERSION,
        "players": game.num_players,
        "strata": num_strata,
        "record": str(_record(game)),
        "asked": _fingerprint(game),
    }
    return json.dumps(about).encode() + b"\n"


def _sums_of_ends(game: Game) -> list[float]:
    """Sums of v(∅) and v(N) over all outputs, each with a sign of its own."""
    ends = np.stack([np.asarray(game.empty), np.asarray(game.full)]).astype(np.float64)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (NUM_SUMS, ends.size))
    return (signs @ ends.ravel()).tolist()


def _read_sums(line: bytes) -> np.ndarray:
    """NaN where the line is damaged."""
    try:
        sums = np.asarray(json.loads(line), np.float64)
    except (ValueError, TypeError):
        return np.full(NUM_SUMS, np.nan)
    return sums if sums.shape == (NUM_SUMS,) else np.full(NUM_SUMS, np.nan)


def _fingerprint(game: Game) -> str:
    """A digest of the value function and of all arrays that the game is made of, outputs apart."""
    digest = hashlib.sha256(f"{game.name} {game.num_players} {game.empty.shape}".encode())
    value = game.value.function if isinstance(game.value, Host) else game.value
    if isinstance(game.value, Host) and dataclasses.is_dataclass(value):
        tree: Any = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    else:
        tree = value
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        outputs = jax.tree_util.keystr(path[-1:], simple=True) == "ends" if path else False
        if isinstance(leaf, jax.Array | np.ndarray) and not outputs:
            array = np.asarray(jax.device_get(leaf))
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _record(game: Game) -> np.dtype:
    packed = ("coalition", np.uint8, ((game.num_players + 7) // 8,))
    worth = ("worth", np.dtype(game.empty.dtype), game.empty.shape)
    return np.dtype([packed, worth, ("checksum", np.uint32)])


def _checksums(records: np.ndarray) -> np.ndarray:
    length = records.dtype.itemsize - 4
    content = records.tobytes()
    starts = range(0, len(content), records.dtype.itemsize)
    return np.array([zlib.crc32(content[s : s + length]) for s in starts], np.uint32)


def _begin(file: IO[bytes], path: Any, head: bytes) -> None:
    """Write the two lines at the beginning, where they are missing or broken off."""
    file.seek(0)
    content = file.read(len(head))
    if len(content) == len(head) or not head.startswith(content):
        return
    try:
        _write(file, head[len(content) :])
    except OSError as error:
        raise CheckpointError(f"{path} cannot be written: {error}") from error


def _lock(file: IO[bytes], path: Any) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CheckpointError(
            f"{path} is in use by another process: wait for it, or pass another path."
        ) from error


def _write(file: IO[bytes], content: bytes) -> None:
    """All of it: a raw write may stop short."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
