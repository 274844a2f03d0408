"""Accumulated local effects, of one feature or two: what changes as a feature moves a little. Apley
& Zhu (2020).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from jaxshap.effects.binning import (
    Cells,
    categorical_cells,
    checked_edges,
    groups_of,
    numeric_cells,
    quantile_edges,
)
from jaxshap.effects.grids import (
    Feature,
    Grids,
    Sample,
    Target,
    given_grids,
    read_sample,
    read_targets,
)
from jaxshap.effects.local_effects import accumulated, per_bin
from jaxshap.effects.moving import (
    Moves,
    outputs_at,
    over_batches,
    points_at_once,
    slopes_at,
    twists_at,
)
from jaxshap.effects.records import AccumulatedEffect
from jaxshap.engine import BatchSize, bucket, byte_limit, is_traced
from jaxshap.errors import InputError, InputTypeError, ModelOutputError
from jaxshap.games import Host
from jaxshap.inputs import column_numbers, read_output_names

STEPS = {
    2: ((-1, 1),),  # ends of a bin: lower, upper
    3: ((-1, 1, 0), (0, -1, 1)),  # categories: the one before, its own, the next
    4: ((1, -1, -1, 1),),  # corners of a cell
    1: ((1,),),  # a derivative
}


def ale(
    model: Any,
    X: Any,
    features: Any,
    *,
    bins: int = 20,
    grids: Grids | None = None,
    categorical: Sequence[Feature] = (),
    derivative: bool = False,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Accumulated local effects: an `AccumulatedEffect` of a feature (name or number) or a pair, a
    list for a list.

    Rows are moved within their own bin only, so nothing is asked far from the data. A feature's
    curve has mean 0 over the rows; a pair's surface has the effects of each feature taken out, so
    that effects add up to the prediction. `bins` of about as many rows, or `grids` with their ends,
    beyond which rows do not count. Categories are put in an order of likeness. `derivative=True`
    takes exact derivatives instead of differences: for smooth models only, since a jump or, for a
    pair, a kink has none.

    Example:
    >>> import jaxshap
    >>> rows = [[0.0, 5.0], [1.0, 7.0], [2.0, 9.0], [3.0, 8.0]]
    >>> effect = jaxshap.effects.ale(lambda x: 2 * x[:, 0] + x[:, 1], rows, 0, bins=3)
    >>> effect.grids[0].tolist(), effect.values.tolist()
    ([0.0, 1.0, 2.0, 3.0], [-2.5, -0.5, 1.5, 3.5])
    """
    sample = read_sample(model, X, None, feature_names)
    targets = read_targets(features, sample.names)
    levels = set(column_numbers(categorical, sample.names, "categorical="))
    _check(sample, targets, levels, bins, derivative)
    given = given_grids(grids, sample)
    if without := [sample.names[column] for column in given.keys() & levels]:
        raise InputError(
            f"categories have no bins: leave {without} out of grids=, or out of categorical=."
        )
    edges = {column: checked_edges(grid, sample, column) for column, grid in given.items()}
    for column in sorted(
        {column for target in targets for column in target} - edges.keys() - levels
    ):
        edges[column] = quantile_edges(sample, column, bins)
    kind = "ALE by derivatives" if derivative else "ALE"
    effects: list[Any] = [None] * len(targets)
    for together in _alike(targets, levels, sample.rows):
        cells = [_cells(sample, targets[number], edges, levels) for number in together]
        sums = _sums(
            sample, [targets[number] for number in together], cells, derivative, batch_size
        )
        for number, one, part in zip(together, cells, sums, strict=True):
            effects[number] = _effect(
                sample, targets[number], one, part, kind, levels, output_names
            )
    return effects if isinstance(features, list) else effects[0]


def _alike(
    targets: list[Target], levels: set[int], rows: Float[np.ndarray, "rows features"]
) -> Iterator[list[int]]:
    """Numbers of targets whose rows are moved in the same way, as many as fit into memory together."""
    most = max(1, 4 * byte_limit() // (8 * len(rows) * rows.dtype.itemsize))
    kinds = [(target[0] in levels, len(target)) for target in targets]
    for kind in sorted(set(kinds)):
        numbers = [number for number, own in enumerate(kinds) if own == kind]
        yield from (numbers[start : start + most] for start in range(0, len(numbers), most))


def _cells(sample: Sample, target: Target, edges: dict[int, Any], levels: set[int]) -> Cells:
    return (
        categorical_cells(sample, target[0], levels)
        if target[0] in levels
        else numeric_cells(sample, target, edges)
    )


def _check(
    sample: Sample, targets: list[Target], levels: set[int], bins: int, derivative: bool
) -> None:
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise InputError(f"bins={bins}: pass a whole number, 1 or more.")
    if not (sample.weights == sample.weights[0]).all():
        raise InputError(
            "ale takes every row alike: pass the rows themselves rather than rows with weights."
        )
    pairs = [[sample.names[column] for column in target] for target in targets if len(target) == 2]
    mixed = [pair for pair in pairs if {sample.names[column] for column in levels} & set(pair)]
    if mixed:
        raise InputError(
            f"the pairs {mixed} have categories: second-order ALE needs two numeric features; see pdp."
        )
    if derivative and isinstance(sample.predict, Host):
        raise InputTypeError(
            "derivative=True needs a model in JAX, and this one runs on the host: leave it away."
        )
    if derivative and any(target[0] in levels for target in targets):
        raise InputError(
            "there are no derivatives between categories: leave derivative= away for them."
        )


def _sums(
    sample: Sample,
    targets: list[Target],
    cells: list[Cells],
    derivative: bool,
    batch_size: BatchSize,
) -> list[Float[Array, "groups bins *out"]]:
    """Local effects added up within each bin and group of rows; targets alike in how rows are
    moved.
    """
    rows, count = sample.rows, len(sample.rows)
    most, group = max(len(one.sizes) for one in cells), groups_of(count)
    room = np.zeros((group.max() + 1) * most, bool)
    missing = 0 if isinstance(sample.predict, Host) else bucket(count) - count
    rows = np.concatenate([rows, rows[:1].repeat(missing, axis=0)])
    members = np.stack(
        [np.where(one.members < 0, len(room), one.members + group * most) for one in cells]
    )
    members = np.pad(members, ((0, 0), (0, 0), (0, missing)), constant_values=len(room))  # dropped
    columns = np.array(targets)[:, None]
    corners = np.stack(
        [np.pad(one.corners, ((0, 0), (0, missing), (0, 0)), mode="edge") for one in cells]
    )
    ask, sizes, points = outputs_at, None, points_at_once(sample.predict, rows, batch_size)
    if derivative:
        ask, points = (
            (slopes_at, points // 2) if columns.shape[-1] == 1 else (twists_at, points // 4)
        )
        sizes = np.stack([np.pad(one.sizes[one.members[0]], (0, missing)) for one in cells]).astype(
            rows.dtype
        )
        corners = corners[:, :1, :1]  # not moved
    columns = np.repeat(columns, corners.shape[1], axis=1)
    steps = np.array(STEPS[corners.shape[1]])
    detail, shared = (members, sizes), (steps, room)
    found = over_batches(
        sample.predict,
        rows,
        Moves(columns, corners),
        per_bin,
        detail,
        shared,
        ask=ask,
        points=points,
    )
    found = found if is_traced(found) else np.asarray(found)
    found = found.reshape(len(cells), -1, most, *found.shape[2:])
    return [part[:, : len(one.sizes)] for part, one in zip(found, cells, strict=True)]


def _effect(
    sample, target, cells: Cells, sums, kind: str, levels, output_names
) -> AccumulatedEffect:
    names = tuple(sample.names[column] for column in target)
    outputs = sums.shape[2:]
    if not is_traced(sums) and not np.isfinite(sums).all():
        raise ModelOutputError(
            f"the model returns NaN or infinity as {' and '.join(names)} move: mend it, or pass grids=."
        )
    values, error = accumulated(sums, cells)
    shape = tuple(len(grid) - 1 for grid in cells.grids)
    return AccumulatedEffect(
        values=values,
        std_error=error,
        counts=cells.rows if target[0] in levels else cells.rows.reshape(shape),
        filled=(cells.counts[0] == 0).reshape(shape),
        grids=cells.grids,
        data=sample.rows[:, list(target)],
        feature_names=names,
        output_names=read_output_names(output_names, sample.classes, outputs),
        categorical=tuple(column in levels for column in target),
        kind=kind,
    )
