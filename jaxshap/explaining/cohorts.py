"""Groups of the rows of an explanation: by labels, or by the splits of a small regression tree."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.games import read_whole


def cohorts(self: Any, labels: Sequence | np.ndarray | int) -> "Cohorts":
    """The rows in groups, by one label per row, or by what their features were.

    Args:
        labels: of each row, such as a column of the table; or how many groups a regression tree
            makes at most, whose splits leave values as alike as they can within groups.

    Returns:
        `Cohorts`: an explanation of each group by its label, for `jaxshap.plots.bar`.

    Raises:
        InputError: there is not one label per row, or groups were asked for and features are not
            columns of a table.

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
    if isinstance(labels, int | np.integer):
        return Cohorts({name: self[rows] for name, rows in _leaves(self, labels).items()})
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


MIN_GAIN = 1e-9  # of the squared values, below which rows are alike


class _Split(NamedTuple):
    """The rows of a leaf on either side of a threshold, and how much alike this makes them."""

    gain: float
    feature: int
    left: Int[np.ndarray, "_"]
    right: Int[np.ndarray, "_"]
    threshold: float


def _leaves(explanation: Any, most: int) -> dict[str, list[int]]:
    """The rows of each leaf by its name; the split that gains most comes first."""
    data = explanation.data_of_features
    if data is None:
        raise InputError(
            f"cohorts({most}) splits rows by what their features were, and here features are not "
            "columns of a table: pass one label per row."
        )
    values = explanation.values.reshape(len(data), -1).astype(np.float64)
    leaves = [((), np.arange(len(data)))]
    while len(leaves) < read_whole(most, "labels"):
        splits = [_best_split(data, values, rows) for _, rows in leaves]
        place = int(np.argmax([split.gain for split in splits]))
        if splits[place].gain <= MIN_GAIN * np.square(values).sum():
            break
        said, _ = leaves.pop(place)
        left, right = _sides(explanation, data, splits[place])
        leaves += [((*said, left), splits[place].left), ((*said, right), splits[place].right)]
    return {", ".join(said) or "all rows": rows.tolist() for said, rows in leaves}


def _best_split(
    data: Float[np.ndarray, "rows n"], values: Float[np.ndarray, "rows k"], rows: np.ndarray
) -> _Split:
    """The split of these rows that takes most from the squared differences within groups."""
    inside = values[rows] - values[rows].mean(0)
    splits = [_split_by(data[rows, feature], inside, feature) for feature in range(data.shape[1])]
    best = max(splits, key=lambda split: split.gain)
    return best._replace(left=rows[best.left], right=rows[best.right])


def _split_by(
    column: Float[np.ndarray, "rows"], values: Float[np.ndarray, "rows k"], feature: int
) -> _Split:
    """The best threshold of one feature; rows without an entry are on the right."""
    order = np.argsort(column, kind="stable")
    entries, counts = column[order], np.arange(1, len(column))
    sums = (np.cumsum(values[order], axis=0)[:-1] ** 2).sum(1)
    gains = np.where(entries[:-1] < np.nan_to_num(entries[1:], nan=np.inf), sums, 0)
    gains = gains * (1 / counts + 1 / counts[::-1])
    if not gains.any():
        return _Split(0.0, feature, order, order[:0], np.nan)
    place = int(gains.argmax())
    threshold = float(np.nanmean(entries[place : place + 2]))
    left, right = np.sort(order[: place + 1]), np.sort(order[place + 1 :])
    return _Split(float(gains[place]), feature, left, right, threshold)


def _sides(explanation: Any, data: np.ndarray, split: _Split) -> list[str]:
    """What is said of the rows on either side: numbers by the threshold, words by themselves."""
    name = explanation.feature_names[split.feature]
    words = explanation.words.get(name)
    if words is None:
        return [f"{name} {sign} {split.threshold:.4g}" for sign in "≤>"]
    codes = (np.unique(data[rows, split.feature]) for rows in (split.left, split.right))
    known = (sorted({int(code) for code in side if 0 <= code < len(words)}) for side in codes)
    return [f"{name} = " + (" or ".join(words[code] for code in one) or "missing") for one in known]
