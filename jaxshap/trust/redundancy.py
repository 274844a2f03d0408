"""Features that tell the same thing: which they are, and how their attributions are diluted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.games import as_numbers, read_number
from jaxshap.inputs import read_names, read_table, read_weights


class Dilution(NamedTuple):
    """Features that go together, and their rank among all features if they were one player.

    It prints as a sentence that names the grouping to use.

    Attributes:
        features: the names of the features.
        dependence: the least |rank correlation| of any two of them.
        alone: the mean |value| of the strongest of them.
        together: the mean |value| of their sum.
        rank_alone: the rank of the strongest among all features, from 1.
        rank_together: the rank of their sum among all other features, from 1.

    Example:
        >>> import jaxshap, numpy as np
        >>> x = np.random.default_rng(0).normal(size=(50, 2))
        >>> twice = np.column_stack([x, x[:, 0]])
        >>> explained = jaxshap.explain(lambda rows: rows.sum(1), twice, twice)
        >>> [group] = explained.diagnose().diluted
        >>> group.features, round(group.together / group.alone, 3)
        (('x0', 'x2'), 2.0)
    """

    features: tuple[str, ...]
    dependence: float
    alone: float
    together: float
    rank_alone: int
    rank_together: int

    def __str__(self) -> str:
        return (
            f"{' and '.join(self.features)} go together (rank correlation ≥ {self.dependence:.2f})"
            f": alone the strongest has {self.alone:.3g} (rank {self.rank_alone}), as one player "
            f"{self.together:.3g} (rank {self.rank_together}). Explain them as a group: "
            f"groups={{{'+'.join(self.features)!r}: {list(self.features)}}}."
        )


def redundant_features(background: Any, *, least: float = 0.8) -> list[list[int]]:
    """Groups of columns that tell the same thing.

    Any two columns of a group have an absolute rank correlation of at least `least`. Rank
    correlation sees what rises or falls together, not a U-shaped dependence.

    Args:
        background: the rows to correlate: an array, a DataFrame or `WeightedRows`, whose weights
            do not count. Missing values are skipped.
        least: the least absolute rank correlation within a group, 0.8 by default.

    Returns:
        The column numbers of each group, without columns that stand alone.

    Raises:
        InputError: `least` is not in (0, 1].

    Example:
        >>> import numpy as np, jaxshap
        >>> x = np.random.default_rng(0).normal(size=(500, 3))
        >>> jaxshap.trust.redundant_features(np.column_stack([x, x[:, 0] ** 3]))
        [[0, 3]]
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, and not needed before
    from scipy.spatial.distance import squareform

    least = read_number(least, "least", above=0, most=1)
    correlations = np.abs(_rank_correlations(background))
    if len(correlations) < 2:
        return []
    distance = squareform(1 - correlations, checks=False)
    label = fcluster(linkage(distance, "complete"), 1 - least + 1e-9, "distance")
    groups = [np.flatnonzero(label == number).tolist() for number in np.unique(label)]
    return sorted(group for group in groups if len(group) > 1)


def diluted(
    values: Float[np.ndarray, "rows features *outputs"],
    background: Any,
    names: Sequence[str],
    *,
    least: float = 0.8,
    gain: float = 1.2,
) -> list[Dilution]:
    """Redundant features whose credit is spread: as one player they would have `gain` times it.

    Values add up: for the marginal game of a model that is additive in these features, the sum is
    what their group would have.
    """
    values, names = np.asarray(as_numbers(values, "values")), read_names(names, "names")
    gain = read_number(gain, "gain", least=0)
    columns = read_table(read_weights(background)[0], "the background").array.shape[1]
    if values.ndim < 2 or not values.size or values.shape[1] != columns or len(names) != columns:
        raise InputError(
            f"values have shape {values.shape}, for {len(names)} names and {columns} columns of "
            "the background: pass values (rows, features, *outputs) of the same features."
        )
    dilutions = []
    mean = np.abs(values).mean(tuple({0, *range(2, values.ndim)}))
    for group in redundant_features(background, least=least):
        together = float(np.abs(values[:, group].sum(1)).mean())
        alone = float(mean[group].max())
        if together < gain * alone:
            continue
        dependence = np.abs(_rank_correlations(background))[np.ix_(group, group)].min()
        rank_alone = int((mean > alone).sum()) + 1
        rank_together = int((np.delete(mean, group) > together).sum()) + 1
        features = tuple(names[i] for i in group)
        dilutions.append(
            Dilution(features, float(dependence), alone, together, rank_alone, rank_together)
        )
    return dilutions


def _rank_correlations(background: Any) -> Float[np.ndarray, "features features"]:
    """Correlations of ranks; a missing value counts as its column's mean rank."""
    from scipy.stats import rankdata

    rows = np.asarray(read_table(read_weights(background)[0], "the background").array, np.float64)
    present = ~np.isnan(rows)
    ranks = np.where(present, rankdata(rows, axis=0, nan_policy="omit"), 0)
    centre = ranks.sum(0) / np.maximum(1, present.sum(0))
    ranks = np.where(present, ranks - centre, 0)
    scale = np.sqrt((ranks**2).sum(0))
    ranks = ranks / np.where(scale > 0, scale, 1)
    correlations = ranks.T @ ranks
    np.fill_diagonal(correlations, 1)
    return np.clip(correlations, -1, 1)
