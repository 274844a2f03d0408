"""From predictions at the corners of bins to effects that add up, with a jackknife over rows."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.effects.binning import Cells, groups_of
from jaxshap.effects.grids import Sample, Target
from jaxshap.effects.moving import (
    Moves,
    outputs_at,
    over_batches,
    points_at_once,
    slopes_at,
    twists_at,
)
from jaxshap.effects.records import safe_sqrt
from jaxshap.engine import BatchSize, bucket, is_traced, unit_over_first
from jaxshap.games import Host

SIGNS = {  # of the outputs at the corners that make up a local effect, by the number of corners
    1: ((1,),),  # a derivative
    2: ((-1, 1),),  # ends of a bin: lower, upper
    3: ((-1, 1, 0), (0, -1, 1)),  # categories: the one before, the row's own, the next
    4: ((1, -1, -1, 1),),  # corners of a cell
}


def binned_sums(
    sample: Sample,
    targets: list[Target],
    cells: list[Cells],
    derivative: bool,
    batch_size: BatchSize,
) -> list[Float[Array | np.ndarray, "groups _ *out"]]:
    """Local effects summed within each bin and group of rows, for targets of one kind."""
    rows, count = sample.rows, len(sample.rows)
    num_bins, group = max(len(cell.sizes) for cell in cells), groups_of(count)
    slots = np.zeros((group.max() + 1) * num_bins, bool)
    missing = 0 if isinstance(sample.predict, Host) else bucket(count) - count
    rows = np.concatenate([rows, rows[:1].repeat(missing, axis=0)])
    members = np.stack(
        [np.where(cell.members < 0, len(slots), cell.members + group * num_bins) for cell in cells]
    )
    members = np.pad(members, ((0, 0), (0, 0), (0, missing)), constant_values=len(slots))  # dropped
    corners = np.stack([cell.corners for cell in cells])
    corners = np.pad(corners, ((0, 0), (0, 0), (0, missing), (0, 0)), mode="edge")
    evaluate, sizes, points = outputs_at, None, points_at_once(sample.predict, rows, batch_size)
    if derivative:
        evaluate = slopes_at if len(targets[0]) == 1 else twists_at
        points //= 2 if len(targets[0]) == 1 else 4
        sizes = np.stack([np.pad(cell.sizes[cell.members[0]], (0, missing)) for cell in cells])
        sizes = sizes.astype(rows.dtype)
        corners = corners[:, :1, :1]  # not moved
    columns = np.repeat(np.array(targets)[:, None], corners.shape[1], axis=1)
    signs = np.array(SIGNS[corners.shape[1]])
    sums = over_batches(
        sample.predict,
        rows,
        Moves(columns, corners),
        _per_bin,
        (members, sizes),
        (signs, slots),
        evaluate=evaluate,
        points=points,
    )
    sums = sums if is_traced(sums) else np.asarray(sums)
    sums = sums.reshape(len(cells), -1, num_bins, *sums.shape[2:])
    return [own[:, : len(cell.sizes)] for own, cell in zip(sums, cells, strict=True)]


def _per_bin(
    outputs: Float[Array, "corners rows *out"], detail, shared
) -> Float[Array, "slots *out"]:
    """Local effects from the outputs at corners, summed within bins and groups of rows."""
    (members, sizes), (signs, slots) = detail, shared
    signs = signs.astype(outputs.dtype).reshape(*signs.shape, *(1,) * (outputs.ndim - 1))
    effects = (signs * outputs).sum(1)  # (steps, rows, *out)
    if sizes is not None:
        effects *= sizes.astype(outputs.dtype).reshape(-1, *(1,) * (outputs.ndim - 2))
    empty = jnp.zeros((len(slots), *outputs.shape[2:]), outputs.dtype)
    return empty.at[members].add(effects, mode="drop")


def accumulated(sums: Any, cells: Cells) -> tuple[Any, Any]:
    """Centred effects at all points of the grid, and their standard errors."""
    ratio = cells.sizes / cells.sizes[cells.source]
    weights = (np.maximum(cells.counts, 1), ratio, cells.centre)
    values, error = _accumulated(
        sums,
        cells.source,
        *(array.astype(sums.dtype) for array in weights),
        shape=tuple(len(grid) - 1 for grid in cells.grids),
    )
    return (values, error) if is_traced(values) else (np.asarray(values), np.asarray(error))


@functools.partial(jax.jit, static_argnames="shape")
def _accumulated(
    sums: Float[Array, "groups bins *out"],
    source: Int[Array, "replicates bins"],
    counts: Float[Array, "replicates bins"],
    ratio: Float[Array, "replicates bins"],
    centre: Float[Array, "replicates ..."],
    *,
    shape: tuple[int, ...],
) -> tuple[Float[Array, "points ..."], Float[Array, "points ..."]]:
    total, groups = sums.sum(0), len(sums)
    means = jnp.concatenate([total[None], total - sums]) / _append_axes(counts, sums.ndim)
    means = jax.vmap(lambda mean, bins: mean[bins])(means, source)
    means = (means * _append_axes(ratio, sums.ndim)).reshape(groups + 1, *shape, *sums.shape[2:])
    curves = jax.vmap(_first_order if len(shape) == 1 else _second_order)(means, centre)
    apart = curves[1:] - curves[1:].mean(0)
    unit = unit_over_first(apart)  # squares neither overflow nor vanish
    square = (groups - 1) / groups * ((apart / unit) ** 2).sum(0)
    return curves[0], safe_sqrt(square) * unit


def _first_order(
    steps: Float[Array, "bins *out"], centre: Float[Array, "points"]
) -> Float[Array, "points *out"]:
    curve = _running_sum(steps, 0)
    return curve - (_append_axes(centre, curve.ndim) * curve).sum(0)


def _second_order(
    steps: Float[Array, "a b *out"], share: Float[Array, "a b"]
) -> Float[Array, "c d *out"]:
    """Sums over cells, less the effect that each feature alone has in them, less the mean."""
    surface = _running_sum(_running_sum(steps, 0), 1)
    weight = _append_axes(share, surface.ndim)
    for axis in (0, 1):
        along = _midpoints(jnp.diff(surface, axis=axis), 1 - axis)
        rows = weight.sum(1 - axis)
        mean = (weight * along).sum(1 - axis) / jnp.where(rows > 0, rows, 1)
        own = jnp.where(rows > 0, mean, along.mean(1 - axis))
        surface = surface - jnp.expand_dims(_running_sum(own, 0), 1 - axis)
    return surface - (weight * _midpoints(_midpoints(surface, 0), 1)).sum((0, 1))


def _running_sum(steps: Array, axis: int) -> Array:
    """From 0 at the first point on."""
    widths = [(int(at == axis), 0) for at in range(steps.ndim)]
    return jnp.pad(jnp.cumsum(steps, axis), widths)


def _midpoints(points: Array, axis: int) -> Array:
    """The mean of every two neighbours."""
    last = points.shape[axis] - 1
    lower = jax.lax.slice_in_dim(points, 0, last, axis=axis)
    upper = jax.lax.slice_in_dim(points, 1, last + 1, axis=axis)
    return (lower + upper) / 2


def _append_axes(array: Array, ndim: int) -> Array:
    """With axes of length 1 appended, so that it has `ndim` axes."""
    return array.reshape(*array.shape, *(1,) * (ndim - array.ndim))
