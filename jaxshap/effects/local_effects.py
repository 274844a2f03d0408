"""From predictions at the corners of bins to effects that add up, with a jackknife over groups of
rows.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.effects.binning import Cells
from jaxshap.engine import is_traced


def per_bin(
    outputs: Float[Array, "corners rows *out"], detail, shared
) -> Float[Array, "room *out"]:
    """Local effects added up within bins and groups of rows: `steps` says how outputs at corners
    make up effects.
    """
    (members, sizes), (steps, room) = detail, shared
    steps = steps.astype(outputs.dtype).reshape(*steps.shape, *(1,) * (outputs.ndim - 1))
    effects = (steps * outputs).sum(1)  # steps, rows, *out
    if sizes is not None:
        effects *= sizes.astype(outputs.dtype).reshape(-1, *(1,) * (outputs.ndim - 2))
    empty = jnp.zeros((len(room), *outputs.shape[2:]), outputs.dtype)
    return empty.at[members].add(effects, mode="drop")


def accumulated(sums: Any, cells: Cells) -> tuple[Any, Any]:
    """Centred effects at all points of the grid, and their standard errors, from sums within each
    group and bin.
    """
    ratio = cells.sizes / cells.sizes[cells.source]
    numbers = (
        part.astype(sums.dtype) for part in (np.maximum(cells.counts, 1), ratio, cells.centre)
    )
    found = _accumulated(
        sums, cells.source, *numbers, shape=tuple(len(grid) - 1 for grid in cells.grids)
    )
    return found if is_traced(found) else tuple(map(np.asarray, found))


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
    each = _like(counts, sums)
    means = jnp.concatenate([total[None], total - sums]) / each
    means = jax.vmap(lambda mean, bins: mean[bins])(means, source) * _like(ratio, sums)
    means = means.reshape(groups + 1, *shape, *sums.shape[2:])
    curves = jax.vmap(_first_order if len(shape) == 1 else _second_order)(means, centre)
    square = (groups - 1) / groups * ((curves[1:] - curves[1:].mean(0)) ** 2).sum(0)
    error = jnp.where(
        square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), square
    )  # a gradient at 0 stays finite
    return curves[0], error


def _first_order(
    steps: Float[Array, "bins *out"], centre: Float[Array, "points"]
) -> Float[Array, "points *out"]:
    curve = _added(steps, 0)
    return curve - (_like(centre, curve) * curve).sum(0)


def _second_order(
    steps: Float[Array, "a b *out"], share: Float[Array, "a b"]
) -> Float[Array, "c d *out"]:
    """Sums over cells, less what each feature alone has in them, less the mean."""
    surface = _added(_added(steps, 0), 1)
    weight = _like(share, surface)
    for axis in (0, 1):
        along = _between(jnp.diff(surface, axis=axis), 1 - axis)
        rows = weight.sum(1 - axis)
        own = jnp.where(
            rows > 0,
            (weight * along).sum(1 - axis) / jnp.where(rows > 0, rows, 1),
            along.mean(1 - axis),
        )
        surface = surface - jnp.expand_dims(_added(own, 0), 1 - axis)
    return surface - (weight * _between(_between(surface, 0), 1)).sum((0, 1))


def _added(steps: Array, axis: int) -> Array:
    """From 0 at the first point on."""
    widths = [(int(at == axis), 0) for at in range(steps.ndim)]
    return jnp.pad(jnp.cumsum(steps, axis), widths)


def _between(points: Array, axis: int) -> Array:
    """The mean of every two neighbours."""
    first, last = (
        jax.lax.slice_in_dim(points, at, points.shape[axis] - 1 + at, axis=axis) for at in (0, 1)
    )
    return (first + last) / 2


def _like(part: Array, whole: Array) -> Array:
    """With as many axes as the whole, new ones behind."""
    return part.reshape(*part.shape, *(1,) * (whole.ndim - part.ndim))
