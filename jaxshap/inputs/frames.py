"""DataFrames with columns of any kind as tables of numbers, and back for the model."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Shaped

from jaxshap.errors import InputError, InputTypeError
from jaxshap.inputs.columns import Column, read_column
from jaxshap.inputs.frame_libraries import Library, library_of


@dataclasses.dataclass(frozen=True, eq=False)
class Frames:
    """How a table of numbers becomes a DataFrame as the user's, column by column.

    Numbers stand for themselves; texts, dates and categories are numbered in their order, and a
    missing entry is NaN. The model never sees these numbers: it gets the entries, in their dtypes.
    """

    library: Library
    columns: tuple[Column, ...]
    labels: tuple[Any, ...]  # of the columns in the DataFrame

    @property
    def coded(self) -> list[str]:
        """The columns whose numbers mean nothing to a function of numbers."""
        return [column.name for column in self.columns if not column.is_number]

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """What numbers 0, 1, … of a column are called, by name, where they stand for words."""
        return {column.name: column.words for column in self.columns if column.words is not None}

    def frame(self, table: Shaped[np.ndarray, "rows columns"]) -> Any:
        """The DataFrame that a table of numbers stands for."""
        each = zip(self.labels, self.columns, np.asarray(table).T, strict=True)
        entries = {label: column.entries(part, self.library) for label, column, part in each}
        return self.library.frame(entries)


class FrameModel(NamedTuple):
    """A function of DataFrames as a function of tables of numbers."""

    method: Callable[[Any], Any]
    frames: Frames

    def __call__(self, table: Any) -> Any:
        frame = self.frames.frame(table)
        try:
            return self.method(frame)
        except Exception as error:
            error.add_note(
                f"The model was given a DataFrame with the columns {list(self.frames.labels)}, as "
                "X is one."
            )
            raise


class FrameTables(NamedTuple):
    """Rows and references as numbers, and how to go back."""

    rows: Shaped[np.ndarray, "rows columns"]
    references: Shaped[np.ndarray, "references columns"]
    frames: Frames


def read_frames(X: Any, background: Any, names: Sequence[str]) -> FrameTables:
    """Two DataFrames of one library with these columns, in this order."""
    library = library_of(X)
    assert library is not None
    if library_of(background) is not library:
        raise InputError(
            f"X is a DataFrame of {library.name} and the background is a "
            f"{type(background).__name__}: pass both as DataFrames of one library."
        )
    read = [
        read_column(name, library.series(X, place), library.series(background, place), library)
        for place, name in enumerate(names)
    ]
    rows, references, columns = zip(*read, strict=True)
    frames = Frames(library, columns, tuple(X.columns))
    return FrameTables(_stacked(rows), _stacked(references), frames)


def numbers_of_frame(frame: Any, what: str, names: Sequence[str]) -> Float[np.ndarray, "rows n"]:
    """A DataFrame as numbers, where all of its columns are numbers or truth values."""
    tables = read_frames(frame, frame, names)
    if coded := tables.frames.coded:
        raise InputTypeError(
            f"{what} has columns that are not numbers: {coded}. Encode them first; explain "
            "takes them as they are where X and the background are both DataFrames."
        )
    return tables.rows


def _stacked(columns: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack(columns, axis=1) if len(columns) else np.empty((0, 0))
