"""Explanations from explanations: sizes, means over rows, differences, samples, cohorts."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError


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
    count, features = self.values.shape[:2]
    if self.shared_draws:
        error = self.std_error.mean(0, keepdims=True)
    else:
        error = np.sqrt((self.std_error**2).sum(0, keepdims=True)) / count
    lone = np.ndim(self.degrees) == 0
    return dataclasses.replace(
        self,
        values=self.values.mean(0, keepdims=True),
        std_error=error,
        degrees=self.degrees if lone else np.asarray(self.degrees).min(0, keepdims=True),
        base_values=self.base_values.mean(0, keepdims=True),
        data=np.full((1, features), np.nan),
        features_are_columns=False,
        kind=f"mean {self.kind}",
        row_outputs=None,
        source=None,
        interactions=None,
        words={},
        owner=None,
    )


def minus(self: Any, other: Any) -> Any:
    """The values of one explanation less those of another, of the same shape and features.

    Errors are added up, which bounds that of the difference: explanations may share their draws.
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
        kind=f"difference of {self.kind}s",
        source=None,
        interactions=None,
    )


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


def cohorts(self: Any, labels: Sequence | np.ndarray) -> "Cohorts":
    """The rows in groups, by one label per row.

    Args:
        labels: of each row, such as a column of the table.

    Returns:
        `Cohorts`: an explanation of each group by its label, for `jaxshap.plots.bar`.

    Raises:
        InputError: there is not one label per row.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        >>> ex = jaxshap.explain(lambda x: x[:, 0] - x[:, 1], X, [[0.0, 0.0]])
        >>> by_age = ex.cohorts(["young", "old", "old"])
        >>> {name: len(group) for name, group in by_age.items()}
        {'old': 2, 'young': 1}
        >>> by_age.abs.mean(0)["old"].values.tolist()
        [[4.0, 5.0]]
    """
    labels = np.asarray(labels)
    if labels.shape != (len(self),):
        raise InputError(
            f"cohorts() got labels of shape {labels.shape} for {len(self)} rows: pass one per row."
        )
    names = labels.astype(str)
    return Cohorts({str(name): self[names == name] for name in np.unique(names)})


@dataclasses.dataclass(frozen=True)
class Cohorts(Mapping):
    """Explanations of groups of rows by name, as `Explanation.cohorts` makes them.

    Args:
        groups: the explanation of each group, by its name.

    Example:
        >>> import jaxshap
        >>> ex = jaxshap.explain(lambda x: x[:, 0], [[1.0], [2.0], [3.0]], [[0.0]])
        >>> list(ex.cohorts(["a", "b", "a"]))
        ['a', 'b']
    """

    groups: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.groups[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def abs(self) -> "Cohorts":
        """The sizes of the values, as `Explanation.abs`.

        Example:
            >>> import jaxshap
            >>> ex = jaxshap.explain(lambda x: -x[:, 0], [[1.0], [2.0]], [[0.0]])
            >>> ex.cohorts(["a", "b"]).abs["b"].values.tolist()
            [[2.0]]
        """
        return Cohorts({name: group.abs for name, group in self.items()})

    def mean(self, axis: int = 0) -> "Cohorts":
        """The mean over the rows of each group, as `Explanation.mean`.

        Args:
            axis: the axis of rows, 0.

        Returns:
            `Cohorts` of one row each.

        Example:
            >>> import jaxshap
            >>> ex = jaxshap.explain(lambda x: x[:, 0], [[1.0], [3.0]], [[0.0]])
            >>> ex.cohorts(["a", "a"]).mean(0)["a"].values.tolist()
            [[2.0]]
        """
        return Cohorts({name: group.mean(axis) for name, group in self.items()})
