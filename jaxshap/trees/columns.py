"""What a model knows of its columns, and the numbers that its trees see of a DataFrame."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError


class Columns(NamedTuple):
    """Names of columns in the model's order, and labels behind the codes of categorical columns.

    A name that the library gave itself (`Column_0`) is a placeholder: a DataFrame with other names
    is then matched by position. A column of labels becomes numbers by their place in `labels`; any
    number is taken for a code as it is.
    """

    names: tuple[str, ...] = ()  # none where the model was fitted on an array
    are_placeholders: bool = False
    labels: tuple[Sequence[Any], ...] = ()  # of each column that `labelled` lists
    labelled: tuple[int, ...] | None = None  # None: the columns of dtype category, in their order
    refuses_unknown: bool = False  # or takes a label that it has not seen for a missing one

    def arrange(self, frame: Any) -> Any:
        """A DataFrame with its columns in the model's order, otherwise as it came."""
        order = self._order(frame)
        if order is not None:
            columns = list(frame.columns)
            return frame[[columns[place] for place in order]]
        if self.are_placeholders or not self.names:
            return frame
        present = [str(name) for name in frame.columns]
        spelled = [*present, *map(_with_underscores, present)]
        missing = [name for name in self.names if name not in spelled]
        extra = [name for name in present if not {name, _with_underscores(name)} & {*self.names}]
        unknown = f", and has columns that it does not know: {extra}" if extra else ""
        raise InputError(
            f"the table lacks the columns {missing} that the model was fitted with{unknown}."
        )

    def names_for(self, table: Any, given: Sequence[str] | None) -> Sequence[str] | None:
        """Names of the columns of `numbers(table)`, or None where it has them itself.

        Names that were given with an array give way to those that the model was fitted with.
        """
        if is_frame(table):
            return given if self._order(table) is None else None
        return given if given is None or self.are_placeholders else self.names or given

    def numbers(self, table: Any) -> Any:
        """A DataFrame arranged, with codes in place of labels; anything else as it is."""
        if not is_frame(table):
            return table
        frame = self.arrange(table)
        if not self.labels:
            return frame
        frame = frame if hasattr(frame, "iloc") else frame.to_pandas()  # as polars calls it
        coded = frame.copy()
        for name, labels in self._labelled(frame):
            coded[name] = self._codes(frame[name], labels)
        return coded

    def words(self, table: Any) -> dict[str, tuple[str, ...]]:
        """The labels behind the numbers that `numbers` makes, by the name of the column."""
        if not is_frame(table) or not self.labels:
            return {}
        frame = self.arrange(table)
        frame = frame if hasattr(frame, "iloc") else frame.to_pandas()
        return {str(name): tuple(map(str, labels)) for name, labels in self._labelled(frame)}

    def _labelled(self, frame: Any) -> list[tuple[Any, Sequence[Any]]]:
        """The columns of an arranged DataFrame that hold labels, and those that the model knows."""
        of_category = [place for place, dtype in enumerate(frame.dtypes) if _is_category(dtype)]
        if self.labelled is None and of_category and len(of_category) != len(self.labels):
            raise InputError(
                f"the table has {len(of_category)} columns of dtype category, and the model was "
                f"fitted with {len(self.labels)}: give them the dtypes that they had then."
            )
        places = of_category if self.labelled is None else self.labelled
        pairs = zip(places, self.labels, strict=False)  # no place: codes already
        named = [(frame.columns[place], labels) for place, labels in pairs]
        return [(name, labels) for name, labels in named if frame[name].dtype.kind not in "biuf"]

    def _order(self, frame: Any) -> list[int] | None:
        """Where the columns of the model stand in a DataFrame, or None if it has other names."""
        present = [str(name) for name in frame.columns]
        if len(set(present)) < len(present):
            raise InputError("the table has several columns of one name: rename them.")
        for spelled in (str, _with_underscores):  # LightGBM stores spaces as underscores
            spellings = list(map(spelled, present))
            if sorted(spellings) == sorted(self.names):
                return [spellings.index(name) for name in self.names]
        return None

    def _codes(self, series: Any, labels: Sequence[Any]) -> Float[np.ndarray, "rows"]:
        """Places among the labels; NaN for a missing label."""
        category = series if _is_category(series.dtype) else series.astype("category")
        place = {label: code for code, label in enumerate(labels)}
        of_category = [float(place.get(label, np.nan)) for label in category.cat.categories]
        codes = np.array([*of_category, np.nan])[category.cat.codes]  # −1 for a missing label
        unknown = series[np.isnan(codes) & series.notna().to_numpy()]
        if self.refuses_unknown and len(unknown):
            raise InputError(
                f"the column {series.name!r} has labels that the model was not fitted with: "
                f"{sorted(map(str, unknown.unique()))}."
            )
        return codes


def is_frame(table: Any) -> bool:
    """Whether a table has names for its columns."""
    return hasattr(table, "columns") and hasattr(table, "to_numpy")


def _with_underscores(name: str) -> str:
    return name.replace(" ", "_")


def _is_category(dtype: Any) -> bool:
    return type(dtype).__name__ == "CategoricalDtype"
