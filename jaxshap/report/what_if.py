"""What if a feature had another value: predictions along ICE curves, computed beforehand."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Shaped

from jaxshap.effects import ice
from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, Source
from jaxshap.values import predictions

MAX_FEATURES = 8  # that can be moved, those with the largest values
MAX_POINTS = 25  # of a curve
MAX_PREDICTIONS = 40_000  # in one page, about 300 KB


class Move(NamedTuple):
    """The predictions of some rows as one feature takes each value of a grid."""

    feature: int
    grid: Shaped[np.ndarray, "points"]
    curves: Float[np.ndarray, "rows points *outputs"]


class WhatIf(NamedTuple):
    """The predictions of the first rows as they are, and as features move one at a time."""

    own: Float[np.ndarray, "rows *outputs"]
    moves: list[Move]


def what_if_of(explanation: Explanation, num_rows: int) -> WhatIf:
    """Ask the model about the first rows as the features with the largest values move.

    A grid has values that occur among the rows and the background, all of them where they are few.
    """
    source, (predict, table, references) = _checked(explanation)
    largest = np.abs(explanation.values).mean(0).reshape(explanation.shape[1], -1).max(1)
    features = np.argsort(-largest, kind="stable")[:MAX_FEATURES].tolist()
    columns = [np.concatenate([table[:, i], references[:, i]]) for i in features]
    grids = {i: _grid(column) for i, column in zip(features, columns, strict=True)}
    features = [i for i in features if len(grids[i]) > 1]
    if not features:
        raise InputError("no feature has two values that could be moved between: omit what_if=.")
    per_row = sum(len(grids[i]) for i in features) * int(np.prod(explanation.shape[2:]))
    num_rows = max(1, min(num_rows, len(explanation), MAX_PREDICTIONS // per_row))
    rows = np.asarray(table)[source.rows[:num_rows]]
    own = source.picked_outputs(predictions(predict, rows))
    curves = ice(predict, rows, features, grids={i: grids[i] for i in features})
    return WhatIf(
        own,
        [
            Move(i, grids[i], source.picked_outputs(np.asarray(curve.values)))
            for i, curve in zip(features, curves, strict=True)
        ],
    )


def _checked(explanation: Explanation) -> tuple[Source, tuple[Callable, Any, Any]]:
    """Where the explanation came from, if it was a model of a table: that, its rows and others."""
    source = explanation.source
    if source is None:
        raise InputError(
            "what_if= asks the model, and this explanation was loaded, or features were picked "
            "from it, or its values have no game (path-dependent trees, gradients): pass what "
            "explain(model, X, background) returned, or omit what_if=."
        )
    if source.asked is None or explanation.data_of_features is None:
        raise InputError(
            "what_if= moves the columns of a table along predictions: omit it where players are "
            "groups of columns or parts of other inputs, where a reward is shared out, and after "
            "outputs=jaxshap.Top(k)."
        )
    return source, source.asked


def _grid(column: Shaped[np.ndarray, "rows"]) -> Shaped[np.ndarray, "points"]:
    """Values that occur, evenly spread among those that differ but for the outermost 1 %."""
    values = np.unique(column[np.isfinite(column.astype(np.float64))])
    if len(values) <= MAX_POINTS:
        return values
    shares = np.linspace(0.01, 0.99, MAX_POINTS)
    return np.unique(np.quantile(values, shares, method="nearest"))
