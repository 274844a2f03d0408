"""Which features, over which rows, and at which points: what is asked for, checked at the door."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_numbers, read_number, read_whole, shown
from jaxshap.inputs import WeightedRows, column_number, own_columns, read_inputs, read_model
from jaxshap.values import checked_table, checked_weights

MAX_RESOLUTION = 2**20  # points of a grid: more is a slip of the pen
Feature = str | int
Target = tuple[int, ...]  # the numbers of one column, or of two


class Sample(NamedTuple):
    """A model, and the rows its effects are averaged over, as wide as the model takes them."""

    predict: Callable
    rows: Float[np.ndarray, "rows features"]
    weights: Float[np.ndarray, "rows"]  # summing to 1
    names: tuple[str, ...]
    classes: tuple[str, ...] | None


def read_sample(model: Any, X: Any, weights: Any, feature_names: Sequence[str] | None) -> Sample:
    """X may be a DataFrame, an array, or rows with weights."""
    if isinstance(X, WeightedRows):
        if weights is not None:
            raise InputError("X comes with weights: leave weights= out.")
        X, weights = X
    if any(isinstance(array, Tracer) for array in (X, weights)):
        raise InputTypeError(
            "X and weights must be known where grids are made: trace the model's parameters alone."
        )
    inputs = read_inputs(X, X, None, own_columns(model, X, feature_names))
    predict, classes, *_ = read_model(model, inputs)
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    shares = np.asarray(checked_weights(weights, len(rows), rows))
    return Sample(predict, rows, shares, inputs.names, classes)


def read_targets(features: Any, names: Sequence[str]) -> list[Target]:
    """One feature, a pair, or a list of these."""
    listed = features if isinstance(features, list) else [features]
    if not listed:
        raise InputError(
            "features is empty: name a feature, a pair of them as a tuple, or a list of these."
        )
    return [_read_target(feature, names) for feature in listed]


def _read_target(feature: Any, names: Sequence[str]) -> Target:
    members = feature if isinstance(feature, tuple) else (feature,)
    known = all(isinstance(member, str | int | np.integer) for member in members)
    if not known or len(members) not in (1, 2):
        raise InputError(
            f"{feature!r} is neither a feature nor a pair: pass a name, a number, or a tuple of "
            "two."
        )
    target = tuple(column_number(member, names, "features=") for member in members)
    if len(set(target)) < len(target):
        raise InputError(
            f"{feature!r} is a pair of one feature with itself: pass the feature alone."
        )
    return target


def given_grids(
    grids: Any, sample: Sample, what: str = "grids"
) -> dict[int, Float[np.ndarray, "_"]]:
    """Points that were passed in, by column and in the dtype of the rows."""
    if not isinstance(grids, Mapping | None):
        raise InputError(
            f"{what}= gives values by feature: pass a dict, such as {{{sample.names[0]!r}: …}}."
        )
    by_column = {}
    for feature, points in (grids or {}).items():
        column = column_number(feature, sample.names, f"{what}=")
        read = np.atleast_1d(np.asarray(as_numbers(points, f"{what}=")))
        grid = read.astype(sample.rows.dtype)
        if grid.ndim != 1 or not grid.size or not np.isfinite(grid.astype(np.float64)).all():
            raise InputError(
                f"{what}= for {sample.names[column]!r} must be a list of finite numbers, not "
                f"{points!r}."
            )
        by_column[column] = grid
    return by_column


def numbers_of(sample: Sample, column: int) -> Float[np.ndarray, "rows"]:
    """A column in double precision, all of it finite."""
    numbers = sample.rows[:, column].astype(np.float64)
    if not np.isfinite(numbers).all():
        name, count = sample.names[column], int((~np.isfinite(numbers)).sum())
        raise InputError(
            f"the feature {name!r} is NaN or infinite in {count} row(s): leave them out, or pass "
            "grids=."
        )
    return numbers


def even_grids(
    sample: Sample,
    columns: Sequence[int],
    resolution: int,
    percentiles: tuple[float, float],
    levels: set[int],
) -> dict[int, Float[np.ndarray, "_"]]:
    """As scikit-learn's: the distinct values of categories or where few, else even steps."""
    if not columns:
        return {}
    ordered = np.sort([numbers_of(sample, column) for column in columns], axis=1)
    num_distinct = 1 + (np.diff(ordered, axis=1) > 0).sum(1)
    low, high = (_percentile(ordered, share) for share in percentiles)
    even = np.linspace(low, high, int(resolution), axis=1).astype(sample.rows.dtype)
    grids = {}
    for number, column in enumerate(columns):
        if column in levels or num_distinct[number] < resolution:
            grids[column] = np.unique(ordered[number]).astype(sample.rows.dtype)
        elif high[number] - low[number] <= 1e-8 * max(1.0, abs(high[number])):
            raise InputError(
                f"the percentiles {percentiles} of {sample.names[column]!r} are both "
                f"{low[number]:.4g}: pass percentiles that are further apart, or its points as "
                "grids=."
            )
        else:
            grids[column] = even[number]
    return grids


def check_resolution(resolution: Any, percentiles: Any) -> None:
    """Refuse what makes no grid."""
    read_whole(resolution, "grid_resolution", 2, MAX_RESOLUTION)
    if not isinstance(percentiles, tuple | list) or len(percentiles) != 2:
        raise InputTypeError(f"percentiles={shown(percentiles)}: pass two shares as a tuple.")
    low, high = (read_number(one, "a percentile", least=0, most=1) for one in percentiles)
    if low >= high:
        raise InputError(f"percentiles={percentiles}: pass the smaller one first.")


def _percentile(
    ordered: Float[np.ndarray, "columns rows"], share: float
) -> Float[np.ndarray, "columns"]:
    """Approximately unbiased for every distribution (Cunnane 1978), as scikit-learn chooses."""
    count = ordered.shape[1]
    place = count * share + 0.4 + 0.2 * share
    left = min(max(int(place), 1), max(1, count - 1))
    fraction = min(max(place - left, 0), 1)
    return (1 - fraction) * ordered[:, left - 1] + fraction * ordered[:, min(left, count - 1)]
