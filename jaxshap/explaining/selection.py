"""Positions along the axes of an explanation: by name, number, slice, list or mask."""

import numpy as np

Index = int | str | slice | list | np.ndarray | np.integer


def positions(index: Index, names: tuple[str, ...] | None, length: int, what: str) -> list[int]:
    """Positions along an axis, by name, number, slice, list or mask."""
    if isinstance(index, slice):
        return list(range(length))[index]
    if not isinstance(index, str) and np.asarray(index).dtype == bool:
        index = np.asarray(index)
        if index.shape != (length,):
            raise IndexError(f"a mask of {what}s has shape {index.shape}: it must be ({length},).")
        return np.flatnonzero(index).tolist()
    many = [index] if isinstance(index, int | str | np.integer) else list(index)
    for entry in many:
        if isinstance(entry, str) and (names is None or entry not in names):
            raise KeyError(
                f"there is no {what} {entry!r}"
                + ("." if names is None else f": there are {list(names)}.")
            )
        if not isinstance(entry, str) and not -length <= entry < length:
            raise IndexError(f"{what} {entry} is out of range: there are {length}.")
    return [
        names.index(entry) if isinstance(entry, str) and names else int(entry) % length
        for entry in many
    ]
