"""What pandas and polars call the same things; neither is imported, frames bring their own."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.errors import InputError


class Library(NamedTuple):
    """What is needed of a library of DataFrames; a series is one column."""

    name: str
    series: Callable[[Any, int], Any]  # of a frame, by place
    plain: Callable[[Any], np.ndarray | None]  # its numpy numbers, or None if it is more than them
    dtype: Callable[[Any], Any]
    joined: Callable[[Any, Any, str], Any]  # two series, one after the other, and their name
    entries: Callable[[Any], list]
    is_missing: Callable[[Any], np.ndarray]
    categories: Callable[[Any], Sequence | None]  # in their order
    take: Callable[[Any, np.ndarray], Any]  # entries by place
    make: Callable[[np.ndarray, Any], Any]  # entries of a plain dtype
    frame: Callable[[dict[Any, Any]], Any]  # from entries by label


def library_of(table: Any) -> Library | None:
    """The library of a DataFrame, None for other tables."""
    kind = type(table)
    home = kind.__module__.split(".")[0]
    is_frame = hasattr(table, "columns") and hasattr(table, "to_numpy")
    return LIBRARIES.get(home) if is_frame else None


def _pandas() -> Any:
    return sys.modules["pandas"]  # imported by whoever made the frame


def _polars() -> Any:
    return sys.modules["polars"]


def _cast(numbers: np.ndarray, dtype: Any) -> np.ndarray:
    """As wide as the column was; fractions that were drawn for whole numbers or truth stay so."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        fits = (numbers == 0) | (numbers == 1)
    else:
        fits = np.isfinite(numbers) & (numbers == np.round(numbers))
    return numbers.astype(dtype) if dtype.kind == "f" or fits.all() else numbers


def _plain_of_pandas(series: Any) -> np.ndarray | None:
    is_plain = isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf"
    return series.to_numpy() if is_plain else None


def _join_pandas(rows: Any, references: Any, name: str) -> Any:
    pandas = _pandas()
    kinds = [hasattr(series, "cat") for series in (rows, references)]
    if all(kinds) and rows.dtype != references.dtype:
        try:
            union = pandas.api.types.union_categoricals([rows, references])
        except TypeError as error:
            raise _unlike(name, rows, references) from error
        return pandas.Series(union)
    texts = [_holds_text(series) for series in (rows, references)]
    if len(set(texts)) > 1 or len(set(kinds)) > 1:
        raise _unlike(name, rows, references)
    return pandas.concat([rows, references], ignore_index=True)


def _holds_text(series: Any) -> bool:
    return any(isinstance(entry, str) for entry in series.dropna().head(1))


def _unlike(name: str, rows: Any, references: Any) -> InputError:
    return InputError(
        f"the column {name!r} holds {rows.dtype} in X and {references.dtype} in the background: "
        "give it the same dtype in both."
    )


def _categories_of_pandas(series: Any) -> list | None:
    return series.cat.categories.tolist() if hasattr(series, "cat") else None


def _frame_of_pandas(entries: dict[Any, Any]) -> Any:
    pandas = _pandas()
    numbered = dict(enumerate(entries.values()))
    return pandas.DataFrame(numbered, copy=False).set_axis(pandas.Index(list(entries)), axis=1)


def _plain_of_polars(series: Any) -> np.ndarray | None:
    is_plain = series.dtype.is_integer() or series.dtype.is_float()
    return series.to_numpy() if is_plain and not series.null_count() else None


def _join_polars(rows: Any, references: Any, name: str) -> Any:
    polars = _polars()
    frames = [series.to_frame("entry") for series in (rows, references)]
    try:
        return polars.concat(frames, how="vertical_relaxed").to_series(0)
    except polars.exceptions.PolarsError as error:
        raise _unlike(name, rows, references) from error


def _categories_of_polars(series: Any) -> list | None:
    return series.dtype.categories.to_list() if hasattr(series.dtype, "categories") else None


def _make_polars(numbers: np.ndarray, dtype: Any) -> Any:
    if isinstance(dtype, np.dtype):
        return _polars().Series(_cast(numbers, dtype))
    is_fraction = dtype.is_integer() and not (numbers == np.round(numbers)).all()
    series = _polars().Series(numbers)
    return series if is_fraction else series.cast(dtype)


LIBRARIES = {
    "pandas": Library(
        name="pandas",
        series=lambda frame, place: frame.iloc[:, place],
        plain=_plain_of_pandas,
        dtype=lambda series: series.dtype,
        joined=_join_pandas,
        entries=lambda series: series.tolist(),
        is_missing=lambda series: series.isna().to_numpy(bool),
        categories=_categories_of_pandas,
        take=lambda series, places: series.take(places).reset_index(drop=True),
        make=_cast,
        frame=_frame_of_pandas,
    ),
    "polars": Library(
        name="polars",
        series=lambda frame, place: frame.to_series(place),
        plain=_plain_of_polars,
        dtype=lambda series: series.dtype,
        joined=_join_polars,
        entries=lambda series: series.to_list(),
        is_missing=lambda series: series.is_null().to_numpy(),
        categories=_categories_of_polars,
        take=lambda series, places: series.gather(places),
        make=_make_polars,
        frame=lambda entries: _polars().DataFrame(entries),
    ),
}
