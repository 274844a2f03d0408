"""Disparity: which features make a model treat groups of rows differently."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation


class Disparity(NamedTuple):
    """Mean attributions of each group less those of the reference group, and how far off they may
    be.

    `total` is their sum over features: the difference in mean output, less base values. Its
    standard error is that of the rows alone, since errors of the values cancel in the sum wherever
    values sum to the output.
    """

    values: Float[np.ndarray, "groups features *outputs"]
    std_error: Float[np.ndarray, "groups features *outputs"]
    total: Float[np.ndarray, "groups *outputs"]
    total_std_error: Float[np.ndarray, "groups *outputs"]
    groups: np.ndarray
    reference: Any
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def disparity(
    explanation: Explanation, groups: Sequence | np.ndarray, *, reference: Any = None
) -> Disparity:
    """How much each feature adds to the difference in mean output between groups of rows; `groups`
    has one label a row.

    Each group is compared with the `reference`, the first label in order where none is given.
    Standard errors answer for the rows that happened to be there and for the errors of their
    values: where rows share their draws, those of two groups are taken to add up, which is the
    worst that they can do.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, X)
        >>> found = jaxshap.causal.disparity(explained, ["a", "a", "b", "b"], reference="b")
        >>> found.values.round(3).tolist(), found.total.round(3).tolist()
        ([[2.0, -1.0]], [1.0])
    """
    labels = np.asarray(groups)
    if labels.shape != (len(explanation),):
        raise InputError(
            f"groups has shape {labels.shape} for {len(explanation)} rows: pass one label a row."
        )
    if missing := sum(label is None or (label == label) is not True for label in labels.tolist()):
        raise InputError(
            f"{missing} row(s) have no group (None or NaN): give them one, or leave them out of both."
        )
    names = np.unique(labels)
    if len(names) < 2:
        raise InputError(
            f"all rows are in the group {names.tolist()}: a disparity needs two groups or more."
        )
    base = names[0] if reference is None else reference
    if base not in names:
        raise InputError(f"reference={reference!r} is not one of the groups {names.tolist()}.")
    first = _Means.over(explanation, labels == base)
    others = [_Means.over(explanation, labels == name) for name in names if name != base]
    found = [
        (
            one.values - first.values,
            np.hypot(np.hypot(one.between, first.between), one.shared + first.shared),
            one.total - first.total,
            np.hypot(one.total_between, first.total_between),
        )
        for one in others
    ]
    values, std_error, total, total_std_error = (
        np.stack(part) for part in zip(*found, strict=True)
    )
    return Disparity(
        values,
        std_error,
        total,
        total_std_error,
        names[names != base],
        base,
        explanation.feature_names,
        explanation.output_names,
    )


class _Means(NamedTuple):
    """Over the rows of a group: means of values and of their sums, and the parts of their standard
    errors.
    """

    values: Float[np.ndarray, "features *outputs"]
    between: Float[np.ndarray, "features *outputs"]  # by the rows that happened to be there
    shared: Float[np.ndarray, "features *outputs"]  # by draws that all rows share
    total: Float[np.ndarray, "*outputs"]
    total_between: Float[np.ndarray, "*outputs"]

    @classmethod
    def over(cls, explanation: Explanation, rows: np.ndarray) -> "_Means":
        values, sums = explanation.values[rows], explanation.values[rows].sum(1)
        errors = explanation.std_error[rows].mean(0)
        shared = (
            errors if explanation.shared_draws else np.zeros_like(errors)
        )  # separate errors spread the rows already
        return cls(
            values.mean(0), _error_of_mean(values), shared, sums.mean(0), _error_of_mean(sums)
        )


def _error_of_mean(values: Float[np.ndarray, "rows ..."]) -> Float[np.ndarray, "..."]:
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return values.std(0, ddof=1) / np.sqrt(len(values))
