"""Numeric tables from DataFrames, arrays, sparse matrices and lists of rows."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_array, holds_numbers, is_real, read_whole, shown
from jaxshap.inputs.frame_libraries import library_of
from jaxshap.inputs.frames import numbers_of_frame

MAX_ENTRIES = 2**28  # of players, 2 GB of numbers: more is a slip of the pen
TEXTS = (
    " Texts are explained by jaxshap.texts.explain_texts(model, texts), and sequences of token "
    "numbers with groups=jaxshap.tokens(length)."
)


class Table(NamedTuple):
    """A numeric table and the names of its columns."""

    array: Any
    names: tuple[str, ...]
    named: bool  # whether the names came with the data


def read_table(data, what: str, columns: Sequence[str] | None = None) -> Table:
    """A numeric table from a DataFrame, an array or a list of rows; a DataFrame's columns are
    matched to `columns` by name.
    """
    columns = _read_columns(columns)
    if library_of(data) is not None:
        frame, names = arranged(data, what, columns)
        return Table(numbers_of_frame(frame, what, names), names, True)
    array = as_array(data, what)
    if array.ndim != 2 or 0 in array.shape:
        single = "frame.iloc[[0]]" if hasattr(data, "to_frame") else "X[None]"
        hint = f" A single row is {single}." if array.ndim == 1 and array.size else ""
        hint = TEXTS if array.ndim == 1 and _holds_text(array) else hint
        raise InputError(
            f"{what} must be a non-empty table (rows, features), not of shape {array.shape}.{hint}"
        )
    if columns is not None and array.shape[1] != len(columns):
        raise InputError(
            f"{what} has {array.shape[1]} columns, and {len(columns)} are expected: "
            f"{list(columns)}."
        )
    names = tuple(columns) if columns is not None else tuple(f"x{i}" for i in range(array.shape[1]))
    return Table(_numeric(array, what, names), names, columns is not None)


def arranged(frame: Any, what: str, columns: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    """A DataFrame with these columns in this order, and their names as text."""
    columns = _read_columns(columns)
    present = [str(name) for name in frame.columns]
    if len(set(present)) < len(present):
        raise InputError(
            f"{what} has several columns of one name: {repeated(present)}. Rename them."
        )
    wanted = present if columns is None else list(columns)
    if missing := [name for name in wanted if name not in present]:
        raise InputError(f"{what} lacks the columns {missing}; it has {present}.")
    if extra := [name for name in present if name not in wanted]:
        raise InputError(f"{what} has columns that are not expected: {extra}. Leave them out.")
    if 0 in frame.shape:
        raise InputError(f"{what} has no {'columns' if frame.shape[0] else 'rows'}.")
    if wanted != present:
        labels = list(frame.columns)
        frame = frame[[labels[present.index(name)] for name in wanted]]
    return frame, tuple(wanted)


def _holds_text(array: Any) -> bool:
    return array.dtype.kind in "US" or any(isinstance(entry, str) for entry in array[:1].tolist())


def read_background(background, table: Table):
    """Reference rows with the columns of the table, matched by name where both have names."""
    if not table.named and hasattr(background, "columns"):
        raise InputError(
            "the background has column names and X has none: pass both as DataFrames, or both as "
            "arrays."
        )
    return read_table(background, "the background", table.names).array


def _read_columns(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    columns = read_names(columns, "feature_names")
    if len(set(columns)) < len(columns):
        raise InputError(f"feature_names holds {repeated(columns)} more than once: rename them.")
    return columns


def _numeric(array, what: str, names: Sequence[str]):
    if array.shape[0] == 0:
        raise InputError(f"{what} has no rows.")
    if is_real(array.dtype):
        return array
    bad = [name for name, column in zip(names, array.T, strict=True) if not holds_numbers(column)]
    if bad:
        raise InputTypeError(
            f"{what} is an array with columns that are not numbers: {bad}. Pass a DataFrame as the "
            "model was fitted on, or encode the columns first (complex numbers too); one-hot "
            "columns can be one player (groups=)."
        )
    return array.astype(np.float64)


def read_names(names: Any, what: str) -> tuple[str, ...]:
    """Names as text; numbers may serve as names, and one text is not a list of letters."""
    if isinstance(names, str | bytes) or not is_list(names):
        raise InputTypeError(f"{what}={shown(names)}: pass a list of names.")
    return tuple(map(str, names))


def is_list(things: Any) -> bool:
    """Whether one can go through things one by one; arrays without dimensions say so wrongly."""
    return isinstance(things, Iterable) and getattr(things, "ndim", 1) > 0


def read_lengths(shape: Any, what: str) -> tuple[int, ...]:
    """Positive lengths of the axes of an array."""
    if isinstance(shape, str | bytes) or not is_list(shape) or not len(tuple(shape)):
        raise InputTypeError(f"{what}={shown(shape)}: pass one positive length for each axis.")
    lengths = tuple(read_whole(length, f"a length of {what}") for length in shape)
    if math.prod(lengths) > MAX_ENTRIES:
        raise InputError(f"{what}={shown(shape)} has more than {MAX_ENTRIES} entries.")
    return lengths


def repeated(items: Sequence) -> list:
    return sorted({item for item in items if items.count(item) > 1})
