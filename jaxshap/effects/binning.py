"""Rows in bins of a feature, in cells of a pair, or between categories; in numpy."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jaxshap.effects.grids import Sample, Target, numbers_of
from jaxshap.errors import InputError

NUM_GROUPS = 50  # of rows, each of which the jackknife omits once


class Cells(NamedTuple):
    """The bins of one target, with all rows and, for the jackknife, without each group of rows.

    A row sits in a bin and is moved to its corners; a row of a category counts in both steps that
    lead to it.
    """

    grids: tuple[Float[np.ndarray, "_"], ...]  # ends of bins, or categories in order
    corners: Float[np.ndarray, "corners rows columns"]
    members: Int[np.ndarray, "steps rows"]  # bin of each row, −1 where it is in none
    sizes: Float[np.ndarray, "bins"]
    rows: Int[np.ndarray, "bins_or_categories"]
    counts: Int[np.ndarray, "replicates bins"]  # of the local effects in each bin
    centre: Float[np.ndarray, "replicates ..."]  # weights of points or cells for the mean
    source: Int[np.ndarray, "replicates bins"]  # itself, or the nearest bin that is not empty


def quantile_edges(sample: Sample, column: int, bins: int) -> Float[np.ndarray, "edges"]:
    """Ends of bins that hold about as many rows each, and at least one."""
    numbers = numbers_of(sample, column)
    inner = np.quantile(numbers, np.arange(1, bins + 1) / bins, method="inverted_cdf")
    edges = np.unique([numbers.min(), *inner]).astype(sample.rows.dtype)
    if len(edges) < 2:
        raise _one_value(sample, column)
    return edges


def checked_edges(
    edges: Float[np.ndarray, "edges"], sample: Sample, column: int
) -> Float[np.ndarray, "edges"]:
    """Refuse ends of bins that do not increase, or that no row lies between."""
    if len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise InputError(
            f"grids= for {sample.names[column]!r} must be two or more increasing ends of bins."
        )
    numbers = sample.rows[:, column]  # NaN is in no bin
    if not ((edges[0] <= numbers) & (numbers <= edges[-1])).any():
        raise InputError(
            f"no row has {sample.names[column]!r} within its grids=, {edges[0]:.4g} to "
            f"{edges[-1]:.4g}."
        )
    return edges


def numeric_cells(
    sample: Sample, target: Target, edges: dict[int, Float[np.ndarray, "_"]]
) -> Cells:
    """Bins (a, b] of a feature, the first with its lower end, or cells of a pair."""
    grids = tuple(edges[column] for column in target)
    shape = tuple(len(grid) - 1 for grid in grids)
    bins = np.stack([_bins(sample, column, edges[column]) for column in target])
    inside = np.all([(own >= 0) & (own < n) for own, n in zip(bins, shape, strict=True)], axis=0)
    if not inside.any():
        raise InputError(
            f"no row is within the grids= of {[sample.names[column] for column in target]}."
        )
    bins = np.clip(bins, 0, np.array(shape)[:, None] - 1)
    members = np.where(inside, np.ravel_multi_index(tuple(bins), shape), -1)[None]
    counts = _replicates(members, int(np.prod(shape)))
    widths = np.meshgrid(*(np.diff(grid.astype(np.float64)) for grid in grids), indexing="ij")
    middles = [
        (grid[1:] + grid[:-1]).astype(np.float64) / 2 / (grid[-1] - grid[0]) for grid in grids
    ]
    places = np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(-1, len(target))
    return Cells(
        grids=grids,
        corners=_corners(grids, bins),
        members=members,
        sizes=np.prod(widths, axis=0).ravel(),
        rows=counts[0],
        counts=counts,
        centre=_centre(counts.reshape(-1, *shape)),
        source=_sources(counts, places),
    )


def _bins(sample: Sample, column: int, grid: Float[np.ndarray, "_"]) -> Int[np.ndarray, "rows"]:
    numbers = sample.rows[:, column]
    return np.where(numbers == grid[0], 0, np.searchsorted(grid, numbers, side="left") - 1)


def _corners(
    grids: tuple[Float[np.ndarray, "_"], ...], bins: Int[np.ndarray, "columns rows"]
) -> Float[np.ndarray, "corners rows columns"]:
    """Both ends of each row's bin, or the four corners of its cell: low-low, low-high, …"""
    axes = [[0, 1]] * len(grids)
    ends = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(grids))
    values = [grids[at][bins[at] + ends[:, [at]]] for at in range(len(grids))]
    return np.stack(values, -1)


def _centre(counts: Int[np.ndarray, "replicates *bins"]) -> Float[np.ndarray, "replicates ..."]:
    """Shares of the rows in cells; for one feature, spread over the two ends of each bin."""
    shares = counts.astype(np.float64)
    if shares.ndim == 2:  # the mean over a bin is that of its two ends
        shares = (np.pad(shares, ((0, 0), (1, 0))) + np.pad(shares, ((0, 0), (0, 1)))) / 2
    return shares / shares.reshape(len(shares), -1).sum(1).reshape(-1, *(1,) * (shares.ndim - 1))


def categorical_cells(sample: Sample, column: int, levels: set[int]) -> Cells:
    """Steps between categories, ordered so that neighbours are alike in all other features."""
    categories, code = np.unique(numbers_of(sample, column), return_inverse=True)
    if len(categories) < 2:
        raise _one_value(sample, column)
    order = _by_likeness(sample, column, code, levels)
    place, last = np.argsort(order)[code], len(categories) - 1
    grid = categories[order].astype(sample.rows.dtype)
    around = np.stack([np.maximum(place - 1, 0), place, np.minimum(place + 1, last)])
    members = np.stack([place - 1, np.where(place < last, place, -1)])
    counts, rows = _replicates(members, last), _replicates(place[None], last + 1)
    return Cells(
        grids=(grid,),
        corners=grid[around][..., None],
        members=members,
        sizes=np.ones(last),
        rows=rows[0],
        counts=counts,
        centre=rows / rows.sum(1, keepdims=True),
        source=_sources(counts, np.arange(float(last))[:, None]),
    )


def groups_of(num_rows: int) -> Int[np.ndarray, "rows"]:
    """The group of the jackknife that each row is in."""
    return np.arange(num_rows) % min(NUM_GROUPS, num_rows)


def _one_value(sample: Sample, column: int) -> InputError:
    name = sample.names[column]
    return InputError(f"the feature {name!r} has one value only: it has no effect to accumulate.")


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
) -> Int[np.ndarray, "categories"]:
    """Categories along the line that keeps their distances best, by classical scaling.

    A distance is the sum, over other features, of how far apart their distributions are:
    Kolmogorov–Smirnov, or total variation where they are categories. As in ALEPlot (Apley 2018).
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
