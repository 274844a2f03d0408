"""Rows in bins of one feature, cells of two, or between categories: where local effects are taken.
In numpy.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxshap.effects.grids import Sample, Target, numbers_of
from jaxshap.errors import InputError

GROUPS = 50  # of rows, left out one after the other for the standard error


class Cells(NamedTuple):
    """The bins of one target, as they are with all rows and, for the jackknife, without each group
    of rows.

    A row sits in a bin and is moved to its corners; a row of a category counts in both steps that
    lead to it.
    """

    grids: tuple[Float[np.ndarray, "points"], ...]  # ends of bins, or categories in order
    corners: Float[np.ndarray, "corners rows columns"]
    members: Int[np.ndarray, "steps rows"]  # bin of each row, −1 where it is in none
    sizes: Float[np.ndarray, "bins"]
    rows: Int[np.ndarray, "bins_or_categories"]
    counts: Int[np.ndarray, "replicates bins"]  # of the local effects in each bin
    centre: Float[
        np.ndarray, "replicates ..."
    ]  # weights of points, or of cells, that make the mean 0
    source: Int[np.ndarray, "replicates bins"]  # itself, or the nearest bin that is not empty


def quantile_edges(sample: Sample, column: int, bins: int) -> Float[np.ndarray, "edges"]:
    """Ends of bins with about as many rows each; none is empty. The smallest value lies in the
    first bin.
    """
    numbers = numbers_of(sample, column)
    inner = np.quantile(numbers, np.arange(1, bins + 1) / bins, method="inverted_cdf")
    edges = np.unique([numbers.min(), *inner]).astype(sample.rows.dtype)
    if len(edges) < 2:
        raise InputError(
            f"the feature {sample.names[column]!r} has one value only: it has no effect to accumulate."
        )
    return edges


def checked_edges(
    edges: Float[np.ndarray, "edges"], sample: Sample, column: int
) -> Float[np.ndarray, "edges"]:
    if len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise InputError(
            f"grids= for {sample.names[column]!r} must be two or more increasing ends of bins."
        )
    numbers = sample.rows[:, column]  # NaN is in no bin
    if not ((edges[0] <= numbers) & (numbers <= edges[-1])).any():
        raise InputError(
            f"no row has {sample.names[column]!r} within its grids=, {edges[0]:.4g} to {edges[-1]:.4g}."
        )
    return edges


def numeric_cells(
    sample: Sample, target: Target, edges: dict[int, Float[np.ndarray, "edges"]]
) -> Cells:
    """Bins (a, b] of a feature, the first with its lower end, or cells of a pair."""
    grids = tuple(edges[column] for column in target)
    columns = [sample.rows[:, column] for column in target]
    places = [
        np.searchsorted(grid, column, side="left") - 1
        for grid, column in zip(grids, columns, strict=True)
    ]
    places = [
        np.where(column == grid[0], 0, p)
        for p, grid, column in zip(places, grids, columns, strict=True)
    ]
    known = np.all(
        [(p >= 0) & (p < len(grid) - 1) for p, grid in zip(places, grids, strict=True)], axis=0
    )
    if not known.any():
        raise InputError(
            f"no row is within the grids= of {[sample.names[column] for column in target]}."
        )
    shape = tuple(len(grid) - 1 for grid in grids)
    places = [np.clip(p, 0, length - 1) for p, length in zip(places, shape, strict=True)]
    members = np.where(known, np.ravel_multi_index(places, shape), -1)[None]
    ends = np.stack(np.meshgrid(*[[0, 1]] * len(target), indexing="ij"), axis=-1).reshape(
        -1, len(target)
    )
    corners = np.stack(
        [grid[p + ends[:, [at]]] for at, (grid, p) in enumerate(zip(grids, places, strict=True))],
        -1,
    )
    widths = np.meshgrid(*(np.diff(grid.astype(np.float64)) for grid in grids), indexing="ij")
    counts = _replicates(members, int(np.prod(shape)))
    middles = [
        (grid[1:] + grid[:-1]).astype(np.float64) / 2 / (grid[-1] - grid[0]) for grid in grids
    ]
    places_of_cells = np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(-1, len(target))
    centre = counts.reshape(-1, *shape).astype(np.float64)
    if len(target) == 1:  # the mean over a bin is that of its two ends
        centre = (np.pad(centre, ((0, 0), (1, 0))) + np.pad(centre, ((0, 0), (0, 1)))) / 2
    centre /= centre.reshape(len(centre), -1).sum(1).reshape(-1, *(1,) * len(target))
    sizes = np.prod(widths, axis=0).ravel()
    return Cells(
        grids, corners, members, sizes, counts[0], counts, centre, _sources(counts, places_of_cells)
    )


def categorical_cells(sample: Sample, column: int, levels: set[int]) -> Cells:
    """Steps from one category to the next, in an order in which neighbours are alike in all other
    features.
    """
    found, code = np.unique(numbers_of(sample, column), return_inverse=True)
    if len(found) < 2:
        raise InputError(
            f"the feature {sample.names[column]!r} has one value only: it has no effect to accumulate."
        )
    order = _by_likeness(sample, column, code, levels)
    place, last = np.argsort(order)[code], len(found) - 1
    grid = found[order].astype(sample.rows.dtype)
    corners = grid[np.stack([np.maximum(place - 1, 0), place, np.minimum(place + 1, last)])][
        ..., None
    ]
    members = np.stack([place - 1, np.where(place < last, place, -1)])
    counts, rows = _replicates(members, last), _replicates(place[None], last + 1)
    centre = rows / rows.sum(1, keepdims=True)
    sources = _sources(counts, np.arange(float(last))[:, None])
    return Cells((grid,), corners, members, np.ones(last), rows[0], counts, centre, sources)


def groups_of(num_rows: int) -> Int[np.ndarray, "rows"]:
    return np.arange(num_rows) % min(GROUPS, num_rows)


def _replicates(
    members: Int[np.ndarray, "steps rows"], bins: int
) -> Int[np.ndarray, "replicates bins"]:
    """Rows in each bin: all of them, then without each group."""
    group = groups_of(members.shape[1])
    number = group.max() + 1
    flat = (members + group * bins)[members >= 0]
    each = np.bincount(flat, minlength=number * bins).reshape(number, bins)
    return np.concatenate([each.sum(0)[None], each.sum(0) - each])


def _sources(
    counts: Int[np.ndarray, "replicates bins"], places: Float[np.ndarray, "bins columns"]
) -> Int[np.ndarray, "replicates bins"]:
    source = np.tile(np.arange(counts.shape[1]), (len(counts), 1))
    if counts.all():
        return source
    from scipy.spatial import KDTree  # a quarter of a second that `import jaxshap` need not take

    for row, count in zip(source, counts, strict=True):
        empty, held = np.flatnonzero(count == 0), np.flatnonzero(count)
        row[empty] = held[KDTree(places[held]).query(places[empty])[1]]
    return source


def _by_likeness(
    sample: Sample, column: int, code: Int[np.ndarray, "rows"], levels: set[int]
) -> np.ndarray:
    """Categories along the line that keeps their distances best: classical scaling, as in ALEPlot
    (Apley 2018).

    A distance is the sum, over other features, of how far apart their distributions are:
    Kolmogorov–Smirnov, or total variation where they are categories.
    """
    belongs = (code == np.arange(code.max() + 1)[:, None]).astype(np.float64)
    belongs /= belongs.sum(1, keepdims=True)
    distance = np.zeros((len(belongs),) * 2)
    for other in set(range(sample.rows.shape[1])) - {column}:
        numbers = sample.rows[:, other].astype(np.float64)
        if other in levels:
            shares = belongs @ (numbers[:, None] == np.unique(numbers))
            distance += np.abs(shares[:, None] - shares).sum(-1) / 2
        else:
            shares = belongs @ (numbers[:, None] <= np.nanquantile(numbers, np.linspace(0, 1, 101)))
            distance += np.abs(shares[:, None] - shares).max(-1)
    squares = distance**2
    inner = squares.mean(0) + squares.mean(1)[:, None] - squares - squares.mean()
    values, vectors = np.linalg.eigh(inner)
    line = vectors[:, -1] * (values[-1] > 1e-12)  # all alike: in the order of their codes
    line = -line if line[0] > line[-1] else line
    return np.argsort(np.round(line, 9), kind="stable")
