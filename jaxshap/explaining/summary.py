"""Means over the rows of an explanation, with standard errors."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_array, read_flag


class Summary(NamedTuple):
    """Means over rows and their standard errors; with groups of rows in front where asked for.

    Attributes:
        values: the means, `(features, *outputs)` or `(groups, features, *outputs)`.
        std_error: their standard errors, of the same shape.
        groups: the names of the groups, or None.
        feature_names: the names of the features.
        output_names: the names of the outputs, or None.
        degrees: degrees of freedom of the standard errors, for Student's t.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, [[0.0, 0.0]])
        >>> summary = explanation.summary()
        >>> summary.feature_names, summary.values.tolist(), summary.std_error.round(3).tolist()
        (('x0', 'x1'), [4.0, 3.0], [2.0, 1.0])
    """

    values: Float[np.ndarray, "..."]
    std_error: Float[np.ndarray, "..."]
    groups: np.ndarray | None
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    degrees: Float[np.ndarray, "..."] | float = np.inf


def summary(
    self: Any, by: Sequence | np.ndarray | None = None, *, absolute: bool = True
) -> Summary:
    """The mean over rows for each feature and output, with standard errors.

    Standard errors say how far off the mean over all rows like these may be: by the rows that
    happened to be there, and by the errors of their values, in full where rows share their
    draws. A mean of |values| is too large by what the errors add to it: mind it where they are
    not small.

    Args:
        by: one label per row; means are then taken within each group of rows.
        absolute: whether to average |values| rather than values.

    Returns:
        A `Summary`.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, [[0.0, 0.0]])
        >>> summary = explanation.summary(by=["child", "adult"])
        >>> summary.groups.tolist(), summary.values.tolist()
        (['adult', 'child'], [[6.0, 4.0], [2.0, 2.0]])
    """
    return summarise(self, by, absolute)


def summarise(explanation, by: Sequence | np.ndarray | None, absolute: bool) -> Summary:
    """Means over all rows, or over the rows of each group."""
    absolute = read_flag(absolute, "absolute")
    labels = np.zeros(len(explanation), int)
    if by is not None:
        labels = read_labels_of_rows(by, len(explanation), "by")
    groups = np.unique(labels)
    means_of_groups = [_mean_over(explanation, labels == group, absolute) for group in groups]
    means, errors, degrees = (np.stack(each) for each in zip(*means_of_groups, strict=True))
    names = explanation.feature_names, explanation.output_names
    if by is None:
        return Summary(means[0], errors[0], None, *names, degrees[0])
    return Summary(means, errors, groups, *names, degrees)


def read_labels_of_rows(labels: Any, num_rows: int, what: str) -> np.ndarray:
    """One label per row, of one kind and none of them missing."""
    read = np.asarray(as_array(labels, what))
    if read.shape != (num_rows,):
        raise InputError(
            f"{what} has shape {read.shape} for {num_rows} rows: pass one label a row."
        )
    if missing := sum(label is None or (label == label) is not True for label in read.tolist()):
        raise InputError(
            f"{what}: {missing} row(s) have no label (None or NaN): give them one, or omit them."
        )
    try:
        np.unique(read)
    except TypeError as error:
        raise InputTypeError(
            f"{what} has labels of several kinds: make all of them text."
        ) from error
    return read


def _mean_over(
    explanation, rows: Bool[np.ndarray, "rows"], absolute: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean, its standard error and the degrees of freedom of that (Welch and Satterthwaite)."""
    values = np.abs(explanation.values[rows]) if absolute else explanation.values[rows]
    count = len(values)
    if count > 1:
        between = values.std(0, ddof=1) / np.sqrt(count)
    else:
        between = np.full(values.shape[1:], np.nan)
    # errors of separate draws are in the spread between rows already
    shared = explanation.std_error[rows].mean(0) if explanation.shared_draws else 0
    error = np.hypot(between, shared)
    degrees = np.broadcast_to(explanation.degrees, explanation.values.shape)[rows].min(0)
    unit = np.where(error > 0, error, 1)
    parts = (between / unit) ** 4 / max(count - 1, 1) + (shared / unit) ** 4 / np.fmax(degrees, 1)
    freedom = np.divide(1, parts, out=np.full(parts.shape, np.inf), where=parts > 0)
    return values.mean(0), error, np.where(np.isnan(error), 0, freedom)
