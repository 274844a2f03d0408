"""Accumulated local effects of one feature or two: the door of `ale`, its checks and its record."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.effects.binning import (
    Cells,
    categorical_cells,
    checked_edges,
    numeric_cells,
    quantile_edges,
)
from jaxshap.effects.grids import (
    Feature,
    Sample,
    Target,
    given_grids,
    read_sample,
    read_targets,
)
from jaxshap.effects.local_effects import accumulated, binned_sums
from jaxshap.effects.records import AccumulatedEffect
from jaxshap.engine import BatchSize, byte_limit, is_traced
from jaxshap.errors import InputError, InputTypeError, ModelOutputError
from jaxshap.games import Host, read_flag, read_whole
from jaxshap.inputs import column_numbers, read_output_names


def ale(
    model: Any,
    X: Any,
    features: Any,
    *,
    bins: int | Any = 20,
    grids: Mapping[Any, Any] | Any = None,
    categorical: Sequence[Feature] | Any = (),
    derivative: bool = False,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Accumulated local effects: differences of predictions within bins, added up over the bins.

    Rows are moved within their own bin only, so that nothing is asked far from the data. A
    feature's curve has mean 0 over the rows; a pair's surface has the effects of each feature taken
    out, so that effects add up to the prediction. Categories are put in an order of likeness.
    Apley & Zhu (2020).

    Args:
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows, (rows, features).
        features: a feature, by name or number; a pair, as a tuple; or a list of these.
        bins: how many bins of about as many rows each, 20 by default.
        grids: the ends of the bins of some features, by name or number, as a dict of lists; rows
            beyond them do not count.
        categorical: features that are categories.
        derivative: whether to take exact derivatives instead of differences. For smooth models
            only: a jump, or for a pair a kink, has none.
        feature_names: the names of the features where X has none.
        output_names: the names of the outputs.
        batch_size: how many inputs one call of the model may have; "auto" goes by memory.

    Returns:
        An `AccumulatedEffect`, or a list of them for a list of features.

    Raises:
        InputError: where features, bins or grids do not fit the table.
        ModelOutputError: where the model returns NaN or infinity at the end of a bin.

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
    edges = _edges(sample, targets, levels, grids, bins)
    kind = "ALE by derivatives" if derivative else "ALE"
    effects: list[Any] = [None] * len(targets)
    for numbers in _of_one_kind(targets, levels, sample.rows):
        chosen = [targets[number] for number in numbers]
        cells = [_cells(sample, target, edges, levels) for target in chosen]
        sums = binned_sums(sample, chosen, cells, derivative, batch_size)
        for number, cell, own in zip(numbers, cells, sums, strict=True):
            target = targets[number]
            effects[number] = _effect(sample, target, cell, own, kind, levels, output_names)
    return effects if isinstance(features, list) else effects[0]


def _check(
    sample: Sample, targets: list[Target], levels: set[int], bins: Any, derivative: bool
) -> None:
    read_whole(bins, "bins")
    read_flag(derivative, "derivative")
    if not (sample.weights == sample.weights[0]).all():
        raise InputError(
            "ale takes every row alike: pass the rows themselves rather than rows with weights."
        )
    mixed = [target for target in targets if len(target) == 2 and levels & set(target)]
    if mixed:
        pairs = [[sample.names[column] for column in target] for target in mixed]
        raise InputError(
            f"the pairs {pairs} have categories: second-order ALE needs two numeric features; "
            "see pdp."
        )
    if derivative and isinstance(sample.predict, Host):
        raise InputTypeError(
            "derivative=True needs a model in JAX, and this one runs on the host: leave it out."
        )
    if derivative and any(target[0] in levels for target in targets):
        raise InputError(
            "there are no derivatives between categories: leave derivative= out for them."
        )


def _edges(
    sample: Sample, targets: list[Target], levels: set[int], grids: Any, bins: int
) -> dict[int, Float[np.ndarray, "_"]]:
    """The ends of the bins of every numeric column."""
    given = given_grids(grids, sample)
    if coded := [sample.names[column] for column in given.keys() & levels]:
        raise InputError(
            f"categories have no bins: leave {coded} out of grids=, or out of categorical=."
        )
    edges = {column: checked_edges(grid, sample, column) for column, grid in given.items()}
    columns = {column for target in targets for column in target}
    for column in sorted(columns - edges.keys() - levels):
        edges[column] = quantile_edges(sample, column, bins)
    return edges


def _of_one_kind(
    targets: list[Target], levels: set[int], rows: Float[np.ndarray, "rows features"]
) -> Iterator[list[int]]:
    """Numbers of targets whose rows are moved in the same way, as many as fit into memory."""
    most = max(1, 4 * byte_limit() // (8 * len(rows) * rows.dtype.itemsize))
    kinds = [(target[0] in levels, len(target)) for target in targets]
    for kind in sorted(set(kinds)):
        numbers = [number for number, own in enumerate(kinds) if own == kind]
        yield from (numbers[start : start + most] for start in range(0, len(numbers), most))


def _cells(
    sample: Sample, target: Target, edges: dict[int, Float[np.ndarray, "_"]], levels: set[int]
) -> Cells:
    if target[0] in levels:
        return categorical_cells(sample, target[0], levels)
    return numeric_cells(sample, target, edges)


def _effect(
    sample: Sample,
    target: Target,
    cells: Cells,
    sums: Any,
    kind: str,
    levels: set[int],
    output_names: Sequence[str] | None,
) -> AccumulatedEffect:
    names = tuple(sample.names[column] for column in target)
    if not is_traced(sums) and not np.isfinite(sums).all():
        raise ModelOutputError(
            f"the model returns NaN or infinity as {' and '.join(names)} move: mend it, or pass "
            "grids=."
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
        output_names=read_output_names(output_names, sample.classes, sums.shape[2:]),
        categorical=tuple(column in levels for column in target),
        kind=kind,
    )
