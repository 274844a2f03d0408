"""The arrays of a saved explanation: names, sizes, dtypes and shapes are checked before anything is
decompressed.
"""

import os
import struct
import tokenize
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import num_sets

DATA = "data "  # begins the names of several arrays that were explained together
SUFFIX = ".npy"
NAMES = ("feature_names", "output_names", "row_outputs", "words")
SETS = ("interactions", "interactions_error")
SEARCHED = "interactions_searched"  # by the number of players in the sets tried, 2 to 4
ARRAYS = ("values", "std_error", "base_values", "degrees", *SETS)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, struct.error, NotImplementedError)
UNREADABLE = (*BROKEN, RuntimeError, tokenize.TokenError, SyntaxError, OSError, OverflowError)


class Header(NamedTuple):
    """What an .npy member says about itself."""

    shape: tuple[int, ...]
    dtype: np.dtype


def read_members(path: str | os.PathLike, known: set[str], needed: set[str]) -> dict[str, Any]:
    """The arrays by name; `known` are the fields of an explanation, and `needed` those of all."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                headers = {_name(m): _header(archive, m) for m in archive.infolist()}
                _check_names(path, [_name(m) for m in archive.infolist()], known, needed)
                _check_shapes(path, headers)
                return {_name(m): _array(archive, m) for m in archive.infolist()}
        except InputError:
            raise
        except UNREADABLE as error:
            raise InputError(
                f"{path} is not a saved Explanation, or it is damaged: {error}"
            ) from error


def order_of(num_players: int, count: int) -> int:
    """The order of so many sets of players; 0 where there is none."""
    orders = range(2, num_players + 1)
    return next((k for k in orders if num_sets(num_players, k) - 1 >= count), 0) * (
        count in (num_sets(num_players, k) - 1 for k in orders)
    )


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(SUFFIX)


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    """Read from the first bytes alone."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        size = file.tell() + dtype.itemsize * int(np.prod(shape, dtype=object))
    if size != member.file_size or dtype.hasobject:
        raise InputError(f"{member.filename} does not hold what its header says.")
    return Header(shape, dtype)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_names(path: Any, present: list[str], known: set[str], needed: set[str]) -> None:
    if any(name.startswith(DATA) for name in present):
        needed = needed - {"data"}
    if missing := needed - set(present):
        raise InputError(f"{path} is not a saved Explanation: it lacks {sorted(missing)}.")
    foreign = [name for name in present if name not in known and not name.startswith(DATA)]
    if foreign or len(set(present)) < len(present):
        raise InputError(
            f"{path} is not as it was saved: it holds {foreign or 'an array more than once'}."
        )


def _check_shapes(path: Any, headers: dict[str, Header]) -> None:
    shape = headers["values"].shape
    if len(shape) < 2:
        raise InputError(f"{path} is not a saved Explanation: its values have shape {shape}.")
    rows, features, *outputs = shape
    degrees = headers["degrees"].shape if "degrees" in headers else ()
    expected: dict[str, Any] = {
        "values": shape,
        "std_error": shape,
        "base_values": (rows, *outputs),
        "feature_names": (features,),
        "output_names": tuple(outputs) or (1,),
        "words": (*headers["words"].shape[:1], 2) if "words" in headers else (),
        "exact": (),
        "degrees": shape if degrees else (),
        "row_outputs": (rows, *outputs),
    }
    sets = [headers[name].shape[:1] for name in SETS if name in headers]
    if sets and (len(sets) == 1 or not sets[0] or order_of(features, sets[0][0]) == 0):
        raise InputError(f"{path} is not as it was saved: its interactions are not complete.")
    expected |= dict.fromkeys(SETS, (*sets[0], rows, *outputs)) if sets else {}
    expected[SEARCHED] = (3,)
    for name, header in headers.items():
        kinds = "f" if name in ARRAYS else "U" if name in NAMES else "biufU"
        kinds = "i" if name == SEARCHED else kinds
        is_data = name == "data" or name.startswith(DATA)
        fits = header.shape[:1] == (rows,) if is_data else True
        if name in expected:
            fits = header.shape == expected[name]
        if not fits or header.dtype.kind not in kinds:
            raise InputError(
                f"{path} is not as it was saved: {name} is {header.dtype} of shape {header.shape}, "
                f"and the values have shape {shape}."
            )
