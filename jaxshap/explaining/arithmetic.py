"""Explanations from explanations: sizes, means, sums and maxima, differences, samples."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining.wording import plural


def absolute(self: Any) -> Any:
    """The sizes of the values, `|value|`, with the same errors; they add up to nothing.

    Returns:
        An `Explanation` whose base values are unknown (NaN).

    Example:
        >>> import jaxshap
        >>> ex = jaxshap.explain(lambda x: x[:, 0] - x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
        >>> ex.abs.values.tolist(), ex.abs.kind
        ([[1.0, 2.0]], '|Shapley value|')
    """
    return dataclasses.replace(
        self,
        values=np.abs(self.values),
        base_values=np.full_like(self.base_values, np.nan),
        kind=f"|{self.kind}|",
        source=None,
        interactions=None,
    )


def mean(self: Any, axis: int = 0) -> Any:
    """The mean over these rows as an explanation of one row.

    Errors are those of the estimation for these very rows: where rows share their draws, the mean
    of their errors, which is a bound. `summary` says what other rows like these could change.

    Args:
        axis: the axis of rows, 0.

    Returns:
        An `Explanation` of one row, without data.

    Raises:
        InputError: the axis is not that of rows, or there are no rows.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> ex = jaxshap.explain(lambda x: x[:, 0] - x[:, 1], X, [[0.0, 0.0]])
        >>> ex.abs.mean(0).values.tolist()
        [[2.0, 3.0]]
    """
    if axis != 0 or not len(self):
        raise InputError(f"mean(axis={axis}) of {len(self)} rows: means go over rows, axis 0.")
    if self.shared_draws:
        error = self.std_error.mean(0, keepdims=True)
    else:
        error = np.sqrt((self.std_error**2).sum(0, keepdims=True)) / len(self)
    values, base = (array.mean(0, keepdims=True) for array in (self.values, self.base_values))
    return _along(self, 0, values, error, base, f"mean {self.kind}")


def total(self: Any, axis: int = 0) -> Any:
    """The sum over these rows, or over all features: an explanation of one row or one feature.

    Errors are added up, which is a bound. `jaxshap.plots.heatmap(ex, instance_order=ex.sum(1))`
    puts rows in the order of their predictions.

    Args:
        axis: 0 for a sum over rows, 1 for one over features.

    Returns:
        An `Explanation` of one row or one feature, without data.

    Raises:
        InputError: the axis is neither.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> ex = jaxshap.explain(lambda x: x[:, 0] - x[:, 1], X, [[0.0, 0.0]])
        >>> ex.sum(0).values.tolist(), ex.sum(1).values.tolist()
        ([[4.0, -6.0]], [[-1.0], [-1.0]])
    """
    if axis not in (0, 1):
        raise InputError(f"sum(axis={axis}): pass 0 for a sum over rows, 1 for one over features.")
    values, error = (array.sum(axis, keepdims=True) for array in (self.values, self.std_error))
    base = self.base_values if axis else self.base_values.sum(0, keepdims=True)
    return _along(self, axis, values, error, base, f"sum of {plural(self.kind)}")


def maximum(self: Any, axis: int = 0) -> Any:
    """The largest value of each feature over these rows, as in `ex.abs.max(0)`.

    The error is the largest of these rows'; the largest of noisy values is too large by up to
    about that.

    Args:
        axis: the axis of rows, 0.

    Returns:
        An `Explanation` of one row, without data, whose base values are unknown (NaN).

    Raises:
        InputError: the axis is not that of rows, or there are no rows.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> ex = jaxshap.explain(lambda x: x[:, 0] - x[:, 1], X, [[0.0, 0.0]])
        >>> ex.abs.max(0).values.tolist()
        [[3.0, 4.0]]
    """
    if axis != 0 or not len(self):
        raise InputError(f"max(axis={axis}) of {len(self)} rows: maxima go over rows, axis 0.")
    values, error = (array.max(0, keepdims=True) for array in (self.values, self.std_error))
    return _along(self, 0, values, error, np.nan * self.base_values[:1], f"max {self.kind}")


def _along(
    self: Any, axis: int, values: np.ndarray, error: np.ndarray, base: np.ndarray, kind: str
) -> Any:
    """These values of one row or one feature, which know no data and no model any more."""
    lone = np.ndim(self.degrees) == 0 or not self.values.size
    return dataclasses.replace(
        self,
        values=values,
        std_error=error,
        degrees=self.degrees if lone else np.asarray(self.degrees).min(axis, keepdims=True),
        base_values=base,
        data=np.full(values.shape[:2], np.nan),
        feature_names=("all features",) if axis else self.feature_names,
        features_are_columns=False,
        kind=kind,
        row_outputs=self.row_outputs if axis else None,
        source=None,
        interactions=None,
        words={},
        owner=None,
    )


def minus(self: Any, other: Any) -> Any:
    """The values of one explanation less those of another, of the same shape and features.

    Errors are added up, which bounds that of the difference: explanations may share their draws.
    Outputs of other names are called after both.
    """
    if not hasattr(other, "feature_names"):
        return NotImplemented
    if self.shape != other.shape or self.feature_names != other.feature_names:
        raise InputError(
            f"explanations of shape {self.shape} and {other.shape} are subtracted: both must have "
            "the same rows, features and outputs, in the same order."
        )
    degrees: Any = np.minimum(self.degrees, other.degrees)
    return dataclasses.replace(
        self,
        values=self.values - other.values,
        std_error=self.std_error + other.std_error,
        exact=self.exact and other.exact,
        degrees=float(degrees) if np.ndim(degrees) == 0 else degrees,
        base_values=self.base_values - other.base_values,
        output_names=_names_of_differences(self.output_names, other.output_names),
        row_outputs=_row_outputs_of_differences(self.row_outputs, other.row_outputs),
        kind=f"difference of {plural(self.kind)}",
        source=None,
        interactions=None,
    )


def _names_of_differences(
    first: Sequence[str] | None, second: Sequence[str] | None
) -> tuple[str, ...] | None:
    if first is None or second is None:
        return None
    pairs = zip(first, second, strict=True)
    return tuple(own if own == other else f"{own} − {other}" for own, other in pairs)


def _row_outputs_of_differences(
    first: np.ndarray | None, second: np.ndarray | None
) -> np.ndarray | None:
    if first is None or second is None:
        return None
    names = _names_of_differences(first.ravel().tolist(), second.ravel().tolist())
    return np.array(names).reshape(first.shape)


def sample(self: Any, max_samples: int, *, key: int = 0) -> Any:
    """A random part of the rows, in their order; all of them where there are no more.

    Args:
        max_samples: the most rows.
        key: of the draw, a whole number; the same rows for the same key.

    Returns:
        An `Explanation` of these rows.

    Raises:
        InputError: the number is not positive.

    Example:
        >>> import jaxshap
        >>> ex = jaxshap.explain(lambda x: x[:, 0], [[1.0], [2.0], [3.0]], [[0.0]])
        >>> len(ex.sample(2))
        2
    """
    if max_samples < 1:
        raise InputError(f"sample({max_samples}): pass how many rows to keep, 1 or more.")
    if max_samples >= len(self):
        return self
    chosen = np.random.default_rng(key).choice(len(self), max_samples, replace=False)
    return self[np.sort(chosen)]
