"""Disparity: which features make a model treat groups of rows differently."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, read_labels_of_rows
from jaxshap.games import check_kind, shown


class Disparity(NamedTuple):
    """Mean attributions of each group less those of the reference group.

    Attributes:
        values: the differences per feature, of shape (groups, features, *outputs).
        std_error: their standard errors.
        total: the sum of `values` over features: the difference in mean output, less base values;
            of shape (groups, *outputs).
        total_std_error: the standard errors of `total`, from the rows alone: errors of values that
            sum to the output cancel in the sum.
        groups: the labels of the groups that are compared, in order.
        reference: the label of the group that they are compared with.
        feature_names: the names of the features.
        output_names: the names of the outputs, or None.
        degrees: degrees of freedom of the standard errors of each group, of Student's t: one less
            than the rows of the smaller group of two.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, X)
        >>> difference = jaxshap.causal.disparity(explanation, ["a", "a", "b", "b"])
        >>> difference.groups.tolist(), str(difference.reference), difference.feature_names
        (['b'], 'a', ('x0', 'x1'))
    """

    values: Float[np.ndarray, "groups features *outputs"]
    std_error: Float[np.ndarray, "groups features *outputs"]
    total: Float[np.ndarray, "groups *outputs"]
    total_std_error: Float[np.ndarray, "groups *outputs"]
    groups: np.ndarray
    reference: Any
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    degrees: Float[np.ndarray, "groups"]


def disparity(explanation: Explanation, groups: Any, *, reference: Any = None) -> Disparity:
    """How much each feature adds to the difference in mean output between groups of rows.

    Exact for the rows explained. Standard errors answer for which rows happened to be there and for
    the errors of their values. Where rows share their draws, the errors of two groups are taken to
    add up, which is the worst case.

    Args:
        explanation: what `explain` returned.
        groups: one label per row.
        reference: the label of the group that all others are compared with; by default the first in
            order.

    Returns:
        A `Disparity`; `jaxshap.plots.disparity` draws it.

    Raises:
        InputError: where labels are missing, are all the same, or do not include the reference.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, X)
        >>> labels = ["a", "a", "b", "b"]
        >>> difference = jaxshap.causal.disparity(explanation, labels, reference="b")
        >>> difference.values.round(3).tolist(), difference.total.round(3).tolist()
        ([[2.0, -1.0]], [1.0])
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    labels = read_labels_of_rows(groups, len(explanation), "groups")
    names = _group_names(labels)
    base = names[0] if reference is None else reference
    if not isinstance(base, str | int | float | np.generic) or base not in names.tolist():
        raise InputError(f"reference={shown(reference)} is not one of the groups {names.tolist()}.")
    first = _Means.over(explanation, labels == base)
    compared = names[names != base]
    means = [_Means.over(explanation, labels == name) for name in compared]

    def error(mean: _Means) -> np.ndarray:
        return np.hypot(np.hypot(mean.between, first.between), mean.shared + first.shared)

    return Disparity(
        values=np.stack([mean.values - first.values for mean in means]),
        std_error=np.stack([error(mean) for mean in means]),
        total=np.stack([mean.total - first.total for mean in means]),
        total_std_error=np.stack(
            [np.hypot(mean.total_between, first.total_between) for mean in means]
        ),
        groups=compared,
        reference=base,
        feature_names=explanation.feature_names,
        output_names=explanation.output_names,
        degrees=np.array(
            [min((labels == name).sum(), (labels == base).sum()) - 1.0 for name in compared]
        ),
    )


def _group_names(labels: np.ndarray) -> np.ndarray:
    names = np.unique(labels)
    if len(names) < 2:
        raise InputError(
            f"all rows are in the group {names.tolist()}: a disparity needs two groups or more."
        )
    return names


class _Means(NamedTuple):
    """Means over the rows of a group, of values and of their sums, and their errors by cause."""

    values: Float[np.ndarray, "features *outputs"]
    between: Float[np.ndarray, "features *outputs"]  # by the rows that happened to be there
    shared: Float[np.ndarray, "features *outputs"]  # by draws that all rows share
    total: Float[np.ndarray, "*outputs"]
    total_between: Float[np.ndarray, "*outputs"]

    @classmethod
    def over(cls, explanation: Explanation, rows: Bool[np.ndarray, "rows"]) -> "_Means":
        values = explanation.values[rows]
        errors = explanation.std_error[rows].mean(0)
        sums = values.sum(1)
        return cls(
            values=values.mean(0),
            between=_error_of_mean(values),
            # Errors of separate draws already show in how far the rows differ:
            shared=errors if explanation.shared_draws else np.zeros_like(errors),
            total=np.asarray(sums.mean(0)),
            total_between=_error_of_mean(sums),
        )


def _error_of_mean(values: Float[np.ndarray, "rows *shape"]) -> Float[np.ndarray, "*shape"]:
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(0, ddof=1) / np.sqrt(len(values)))
