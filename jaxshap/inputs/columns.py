"""One column of a DataFrame as numbers, and such numbers as entries of the column again."""

import datetime
import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.inputs.frame_libraries import Library

LARGEST_WHOLE = 2**53  # whole numbers beyond are not all float64 numbers
TRUTH = ("False", "True")
MIDNIGHT = " 00:00:00"


class Column(NamedTuple):
    """What the numbers of a column stand for.

    `levels` are its entries in its own dtype, in the order of `numbers`, which are sorted, with a
    missing entry last where there is one. Without them every number stands for itself, in `dtype`.
    """

    name: str
    dtype: Any
    numbers: Float[np.ndarray, "k"] | None = None
    levels: Any = None
    words: tuple[str, ...] | None = None  # what people call numbers 0, 1, …, where they are codes
    is_number: bool = True  # or a code, which means nothing to a function of numbers

    def entries(self, given: Any, library: Library) -> Any:
        """The entries that these numbers stand for."""
        if self.numbers is None:
            return library.make(given, self.dtype)
        return library.take(self.levels, self._places(np.asarray(given, np.float64)))

    def _places(self, given: Float[np.ndarray, "rows"]) -> Int[np.ndarray, "rows"]:
        known = self.numbers
        assert known is not None
        is_missing = np.isnan(given)
        place = np.searchsorted(known, given).clip(max=max(len(known) - 1, 0))
        strange = ~is_missing if not len(known) else (known[place] != given) & ~is_missing
        if strange.any() or (is_missing.any() and len(self.levels) == len(known)):
            raise InputError(
                f"the column {self.name!r} holds {self.dtype}, and a number was drawn for it that "
                "none of its entries has: use jaxshap.marginal or jaxshap.baseline, which only "
                "ask about entries that occur, or encode the column as floating-point numbers."
            )
        place[is_missing] = len(known)
        return place


def read_column(name: str, rows: Any, references: Any, library: Library) -> tuple[Any, Any, Column]:
    """The numbers of a column in both tables, and what they stand for."""
    first, second = library.plain(rows), library.plain(references)
    if first is not None and second is not None and _is_exact(first) and _is_exact(second):
        alike = first.dtype == second.dtype
        dtype = library.dtype(rows) if alike else np.result_type(first, second)
        if first.dtype.kind == second.dtype.kind == "b":
            numbers = first.astype(np.float64), second.astype(np.float64)
            return *numbers, Column(name, dtype, words=TRUTH)
        return first, second, Column(name, dtype)
    both = library.joined(rows, references, name)
    found, column = _read_levels(name, both, library)
    count = len(rows)
    return found[:count], found[count:], column


def _is_exact(array: np.ndarray) -> bool:
    if array.dtype.kind == "f" or not len(array):
        return True
    return bool(array.min() >= -LARGEST_WHOLE and array.max() <= LARGEST_WHOLE)


def _read_levels(name: str, both: Any, library: Library) -> tuple[np.ndarray, Column]:
    """Distinct entries in their order, and the number of each entry."""
    entries, is_missing = library.entries(both), library.is_missing(both)
    _check_missing(name, entries, is_missing)
    keys = [
        None if missing else (type(entry), entry)
        for entry, missing in zip(entries, is_missing, strict=True)
    ]
    first: dict[Any, int] = {}
    place = 0
    try:
        for place, key in enumerate(keys):
            first.setdefault(key, place)
    except TypeError as error:
        raise InputTypeError(
            f"the column {name!r} holds a {type(entries[place]).__name__} in row {place}, and a "
            "feature is one number, text, date or category: divide it into columns."
        ) from error
    missing_at = [first.pop(None)] if None in first else []
    distinct = [entry for _, entry in first]
    order = _order(distinct, library.categories(both))
    distinct = [distinct[place] for place in order]
    places = np.array(list(first.values()), int)[order]
    known, words, is_number = _numbers_of(distinct)
    number = dict(zip([list(first)[place] for place in order], known.tolist(), strict=True))
    found = np.array([number.get(key, np.nan) for key in keys], np.float64)
    levels = library.take(both, np.append(places, missing_at).astype(int))
    return found, Column(name, library.dtype(both), known, levels, words, is_number)


def _check_missing(name: str, entries: Sequence, is_missing: Any) -> None:
    kinds = {type(entries[place]).__name__ for place in np.flatnonzero(is_missing).tolist()}
    if len(kinds) > 1:
        raise InputError(
            f"the column {name!r} has missing entries of several kinds, {sorted(kinds)}, which "
            "models may tell apart: use one of them."
        )


def _order(entries: Sequence, categories: Sequence | None) -> list[int]:
    """In the order of the categories, or sorted, or as they came where they cannot be compared."""
    places = list(range(len(entries)))
    if categories is not None and not all(map(_is_number, entries)):
        rank = {category: number for number, category in enumerate(categories)}
        return sorted(places, key=lambda place: rank.get(entries[place], len(rank)))
    try:
        return sorted(places, key=lambda place: entries[place])
    except TypeError:
        return places


def _numbers_of(entries: Sequence) -> tuple[np.ndarray, tuple[str, ...] | None, bool]:
    """Numbers stand for themselves, truth for 0 and 1, everything else for its place."""
    if entries and all(map(_is_number, entries)):
        values = np.array([float(entry) for entry in entries])
        if len(set(values.tolist())) == len(entries) and _are_equal(values, entries):
            return values, None, True
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return np.array([float(entry) for entry in entries]), TRUTH, True
    return np.arange(len(entries), dtype=np.float64), tuple(map(_word, entries)), False


def _is_number(entry: Any) -> bool:
    real = isinstance(entry, numbers.Real | Decimal) and not isinstance(entry, bool | np.bool_)
    return real and not isinstance(entry, np.timedelta64)


def _are_equal(values: np.ndarray, entries: Sequence) -> bool:
    """Whether no entry is so large that it loses digits; decimal fractions always lose some."""
    whole = [(v, e) for v, e in zip(values.tolist(), entries, strict=True) if e == int(e)]
    return all(int(value) == int(entry) for value, entry in whole)


def _word(entry: Any) -> str:
    return str(entry).removesuffix(MIDNIGHT) if isinstance(entry, datetime.date) else str(entry)
