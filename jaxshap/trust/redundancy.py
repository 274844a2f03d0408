"""Features that tell the same thing: which they are, and how their attributions are diluted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.inputs import read_table, read_weights


class Dilution(NamedTuple):
    """Features that go together, and where they would stand among all if they were one player.

    `alone` is the mean |value| of the strongest of them and `together` that of their sum; ranks
    count from 1.
    """

    features: tuple[str, ...]
    dependence: float  # the least |rank correlation| of two of them
    alone: float
    together: float
    rank_alone: int
    rank_together: int

    def __str__(self) -> str:
        return (
            f"{' and '.join(self.features)} go together (rank correlation ≥ {self.dependence:.2f}): alone the "
            f"strongest has {self.alone:.3g} (rank {self.rank_alone}), as one player {self.together:.3g} (rank "
            f"{self.rank_together}). Explain them as a group: groups={{{'+'.join(self.features)!r}: "
            f"{list(self.features)}}}."
        )


def redundant_features(background, *, least: float = 0.8) -> list[list[int]]:
    """Groups of columns of which any two have an absolute rank correlation of at least `least`;
    none for the others.

    Rank correlation sees what rises or falls together, not a U-shaped dependence.

    Example:

    >>> import numpy as np, jaxshap
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> jaxshap.trust.redundant_features(np.column_stack([x, x[:, 0] ** 3]))
    [[0, 3]]
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, and not needed before
    from scipy.spatial.distance import squareform

    if not 0 < least <= 1:
        raise InputError(f"least={least}: pass an absolute rank correlation in (0, 1].")
    correlations = np.abs(_rank_correlations(background))
    if len(correlations) < 2:
        return []
    distance = squareform(1 - correlations, checks=False)
    label = fcluster(linkage(distance, "complete"), 1 - least + 1e-9, "distance")
    groups = [np.flatnonzero(label == number).tolist() for number in np.unique(label)]
    return sorted(group for group in groups if len(group) > 1)


def diluted(
    values: Float[np.ndarray, "rows features *outputs"],
    background,
    names: Sequence[str],
    *,
    least: float = 0.8,
    gain: float = 1.2,
) -> list[Dilution]:
    """Redundant features whose attribution is spread over them: as one player they would have
    `gain` times the |value|.

    Values add up: with the marginal game, and a model that is additive in them, the sum is what the
    group would have.
    """
    found = []
    mean = np.abs(values).mean(tuple({0, *range(2, values.ndim)}))
    for group in redundant_features(background, least=least):
        together = float(np.abs(values[:, group].sum(1)).mean())
        alone = float(mean[group].max())
        if together < gain * alone:
            continue
        others = np.delete(mean, group)
        dependence = np.abs(_rank_correlations(background))[np.ix_(group, group)].min()
        ranks = (int((part > size).sum()) + 1 for part, size in ((mean, alone), (others, together)))
        found.append(
            Dilution(tuple(names[i] for i in group), float(dependence), alone, together, *ranks)
        )
    return found


def _rank_correlations(background) -> Float[np.ndarray, "features features"]:
    from scipy.stats import rankdata

    rows = np.asarray(read_table(read_weights(background)[0], "the background").array, np.float64)
    present = ~np.isnan(rows)
    ranks = np.where(present, rankdata(rows, axis=0, nan_policy="omit"), 0)
    ranks = np.where(
        present, ranks - ranks.sum(0) / np.maximum(1, present.sum(0)), 0
    )  # a missing one tells nothing
    scale = np.sqrt((ranks**2).sum(0))
    ranks = ranks / np.where(scale > 0, scale, 1)
    found = ranks.T @ ranks
    np.fill_diagonal(found, 1)
    return np.clip(found, -1, 1)
