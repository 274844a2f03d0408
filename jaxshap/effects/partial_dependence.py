"""Predictions as one or two features move, row by row and on average."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.effects.grids import Feature, given_grids
from jaxshap.effects.points import crossed, every_row, over_points, read_query, rows_within, split
from jaxshap.effects.records import IndividualCurves, PartialDependence, weighted_mean
from jaxshap.engine import BatchSize
from jaxshap.errors import InputError
from jaxshap.values import Score


def ice(
    model: Any,
    X: Any,
    features: Any,
    *,
    grids: Mapping[Any, Any] | Any = None,
    grid_resolution: int | Any = 50,
    percentiles: tuple[float, float] | Any = (0.05, 0.95),
    categorical: Sequence[Feature] | Any = (),
    centred: bool | Mapping[Any, float] | Any = False,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Individual conditional expectation: the prediction of each row as one or two features move.

    Exact: every row is predicted at every point. Differentiable in the model's parameters.
    Goldstein et al. (2015).

    Args:
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows, (rows, features); may be `WeightedRows`.
        features: a feature, by name or number; a pair, as a tuple; or a list of these.
        grids: the points of some features, by name or number, as a dict of lists.
        grid_resolution: how many points the grids of other features have, 50 by default; a feature
            with fewer distinct values has these as its grid.
        percentiles: the shares of the rows between which grids are evenly spaced.
        categorical: features whose distinct values are their grid.
        centred: True takes from each curve its value at the first point; a dict names the value of
            a feature to start from instead.
        weights: one weight per row, for `average`; equal by default.
        feature_names: the names of the features where X has none.
        output_names: the names of the outputs.
        batch_size: how many inputs one call of the model may have; "auto" goes by memory.

    Returns:
        An `IndividualCurves`, or a list of them for a list of features.

    Raises:
        InputError: where features, grids or weights do not fit the table.
        ModelOutputError: where the model returns NaN or infinity at a point.

    Example:
        >>> import jaxshap
        >>> rows = [[0.0, 1.0], [1.0, 3.0]]
        >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], rows, 0, centred=True)
        >>> curves.values.tolist()
        [[0.0, 1.0], [0.0, 3.0]]
    """
    query = read_query(
        model, X, features, grids, grid_resolution, percentiles, categorical, weights, feature_names
    )
    points = query.points
    if centred is not False:
        starts = {column: grid[:1] for column, grid in query.grids.items()}
        starts |= given_grids(None if centred is True else centred, query.sample, "centred")
        first = [crossed([starts[column][:1] for column in target]) for target in query.targets]
        points = [np.concatenate(pair) for pair in zip(points, first, strict=True)]
    outputs, *_ = over_points(query, points, every_row, None, batch_size)
    outputs = outputs.swapaxes(0, 1)[: len(query.sample.rows)]  # without the padding
    kind = "ICE" if centred is False else "centred ICE"
    curves = []
    for target, values in zip(query.targets, split(outputs, points, axis=1), strict=True):
        values = values if centred is False else values[:, :-1] - values[:, -1:]
        fields = query.common_fields(target, output_names, values.shape[2:])
        values = values.reshape(len(values), *map(len, fields["grids"]), *values.shape[2:])
        fields |= {"weights": query.sample.weights, "kind": kind}
        curves.append(IndividualCurves(values=values, **fields))
    return curves if isinstance(features, list) else curves[0]


def pdp(
    model: Any,
    X: Any,
    features: Any,
    *,
    grids: Mapping[Any, Any] | Any = None,
    grid_resolution: int | Any = 50,
    percentiles: tuple[float, float] | Any = (0.05, 0.95),
    categorical: Sequence[Feature] | Any = (),
    inside: float | None = None,
    score: Score | None = None,
    neighbours: int = 5,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Partial dependence: the mean prediction as one or two features move.

    Exact for the rows given; it asks the model about points that may be far from the data, unless
    `inside` is given. Differentiable in the model's parameters. Friedman (2001).

    Args:
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows to average over, (rows, features); may be `WeightedRows`.
        features: a feature, by name or number; a pair, as a tuple; or a list of these.
        grids: the points of some features, by name or number, as a dict of lists.
        grid_resolution: how many points the grids of other features have, 50 by default; a feature
            with fewer distinct values has these as its grid.
        percentiles: the shares of the rows between which grids are evenly spaced.
        categorical: features whose distinct values are their grid.
        inside: a share of the rows, such as 0.95: moved rows count only where their score is no
            lower than for this share. By default all rows count.
        score: what looks like data, larger for more likely rows, as in `manifold`; by default minus
            the distance to the nearest rows.
        neighbours: which of the nearest rows that distance is to, 5 by default.
        weights: one weight per row; equal by default.
        feature_names: the names of the features where X has none.
        output_names: the names of the outputs.
        batch_size: how many inputs one call of the model may have; "auto" goes by memory.

    Returns:
        A `PartialDependence`, or a list of them for a list of features.

    Raises:
        InputError: where features, grids or weights do not fit the table.
        ModelOutputError: where the model returns NaN or infinity at a point that counts.

    Example:
        >>> import jaxshap
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> effect.values.tolist(), effect.std_error.tolist()
        ([0.0, 2.0], [0.0, 1.0])
    """
    if inside is None and score is not None:
        raise InputError(
            "score= says what looks like data: pass inside= too, the share of the rows that does."
        )
    query = read_query(
        model, X, features, grids, grid_resolution, percentiles, categorical, weights, feature_names
    )
    within = None if inside is None else rows_within(query, score, inside, neighbours)
    reduced = over_points(query, query.points, weighted_mean, within, batch_size)
    kind = "PDP" if inside is None else "PDP within the support"
    effects = []
    by_target = (split(flat, query.points) for flat in reduced)
    for target, mean, error, support in zip(query.targets, *by_target, strict=True):
        outputs = mean.shape[1:]
        fields = query.common_fields(target, output_names, outputs)
        shape = tuple(map(len, fields["grids"]))
        effect = PartialDependence(
            values=mean.reshape(*shape, *outputs),
            std_error=error.reshape(*shape, *outputs),
            support=support.reshape(shape),
            kind=kind,
            **fields,
        )
        effects.append(effect)
    return effects if isinstance(features, list) else effects[0]
