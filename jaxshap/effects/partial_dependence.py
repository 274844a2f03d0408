"""Predictions as one or two features move, row by row (Goldstein 2015) and on average (Friedman
2001).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.effects.grids import Feature, Grids, given_grids
from jaxshap.effects.points import crossed, every_row, over_points, read_asked, rows_within, split
from jaxshap.effects.records import IndividualCurves, PartialDependence, weighted_mean
from jaxshap.engine import BatchSize
from jaxshap.errors import InputError
from jaxshap.values import Score


def ice(
    model: Any,
    X: Any,
    features: Any,
    *,
    grids: Grids | None = None,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    categorical: Sequence[Feature] = (),
    centred: bool | Mapping[Any, float] = False,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Individual conditional expectation: an `IndividualCurves` for a feature or a pair, or a list
    for a list of these.

    Grids are as in `pdp`. `centred=True` takes from each curve its value at the first grid point; a
    mapping names another value of a feature to start from. Exact: every row is predicted at every
    point.

    Example:
    >>> import jaxshap
    >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0, centred=True)
    >>> curves.values.tolist()
    [[0.0, 1.0], [0.0, 3.0]]
    """
    asked = read_asked(
        model, X, features, grids, grid_resolution, percentiles, categorical, weights, feature_names
    )
    points = asked.points
    if centred is not False:
        starts = {column: grid[:1] for column, grid in asked.grids.items()}
        starts |= given_grids(None if centred is True else centred, asked.sample, "centred")
        first = [crossed([starts[column][:1] for column in target]) for target in asked.targets]
        points = [np.concatenate(pair) for pair in zip(points, first, strict=True)]
    found, *_ = over_points(asked, points, every_row, None, batch_size)
    found = found.swapaxes(0, 1)[
        : len(asked.sample.rows)
    ]  # rows first, those that fill up the bucket left out
    shared = {"weights": asked.sample.weights, "kind": "ICE" if centred is False else "centred ICE"}
    curves = []
    for target, values in zip(asked.targets, split(found, points, axis=1), strict=True):
        values = values if centred is False else values[:, :-1] - values[:, -1:]
        about = asked.about(target, output_names, values.shape[2:])
        values = values.reshape(len(values), *map(len, about["grids"]), *values.shape[2:])
        curves.append(IndividualCurves(values=values, **about, **shared))
    return curves if isinstance(features, list) else curves[0]


def pdp(
    model: Any,
    X: Any,
    features: Any,
    *,
    grids: Grids | None = None,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    categorical: Sequence[Feature] = (),
    inside: float | None = None,
    score: Score | None = None,
    neighbours: int = 5,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
) -> Any:
    """Partial dependence: a `PartialDependence` for a feature (name or number) or a pair (a tuple),
    a list for a list.

    Grids are `grid_resolution` even steps between `percentiles`, the distinct values of a feature
    that is `categorical` or has fewer, or `grids` by feature. With `inside` only rows count whose
    moved point looks like the data: its `score`, as in `manifold`, is no lower than for that share
    of the rows. Differentiable in the model's parameters.

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
    asked = read_asked(
        model, X, features, grids, grid_resolution, percentiles, categorical, weights, feature_names
    )
    within = None if inside is None else rows_within(asked, score, inside, neighbours)
    found = over_points(asked, asked.points, weighted_mean, within, batch_size)
    kind = "PDP" if inside is None else "PDP within the support"
    effects = []
    parts = (split(part, asked.points) for part in found)
    for target, mean, error, support in zip(asked.targets, *parts, strict=True):
        about = asked.about(target, output_names, mean.shape[1:])
        shape = tuple(map(len, about["grids"]))
        mean, error = (part.reshape(*shape, *part.shape[1:]) for part in (mean, error))
        made = {"values": mean, "std_error": error, "support": support.reshape(shape), "kind": kind}
        effects.append(PartialDependence(**made, **about))
    return effects if isinstance(features, list) else effects[0]
