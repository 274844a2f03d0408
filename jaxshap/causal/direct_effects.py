"""Direct effects of features on a model, with all other features as they are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.causal.graphs import between_others
from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.games import as_numbers
from jaxshap.inputs import column_numbers, own_columns, read_inputs, read_model
from jaxshap.values import checked_table, predictions


class DirectEffect(NamedTuple):
    """The mean change of a model's output as some features move from a reference.

    Attributes:
        values: the mean changes, of shape (*points, *outputs).
        std_error: their standard errors, over rows like those given and for the model as it is.
        features: the names of the features that move.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])
        >>> model = lambda x: x[:, 0] * x[:, 1]
        >>> effect = jaxshap.causal.direct_effect(model, X, 0, at=1.0, reference=0.0)
        >>> effect.features, float(effect.std_error.round(3))
        (('x0',), 0.577)
    """

    values: Float[np.ndarray, "..."]
    std_error: Float[np.ndarray, "..."]
    features: tuple[str, ...]


def direct_effect(
    model: Any,
    X: Any,
    features: str | int | Sequence[str | int],
    *,
    at: Any,
    reference: Any,
    graph: Any = None,
    feature_names: Sequence[str] | None = None,
) -> DirectEffect:
    """The average natural direct effect: the mean over rows of f(at, rest) − f(reference, rest).

    It is a difference of partial dependence, exact for the rows given. It is causal only where no
    feature has both causes and effects among the other inputs: see `identifies_direct_effect`.

    Args:
        model: what `explain` takes: a function f of a batch of rows, or a fitted model.
        X: the rows to average over, (rows, features).
        features: the features that move, by name or number.
        at: the values that the features take, features in the last axis; or a number for a single
            feature.
        reference: the values that they start from, one per feature.
        graph: a causal graph of the inputs; where given, an effect that it does not identify is
            refused.
        feature_names: the names of the features where X has none.

    Returns:
        A `DirectEffect` for every point of `at` and every output.

    Raises:
        InputError: where the values do not fit the features, or the graph does not identify the
            effect.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])
        >>> model = lambda x: x[:, 0] * x[:, 1]
        >>> jaxshap.causal.direct_effect(model, X, 0, at=1.0, reference=0.0).values
        array(2.)
    """
    inputs = read_inputs(X, X, None, own_columns(model, X, feature_names))
    columns = listed_columns(features, inputs.names, "features=")
    names = tuple(inputs.names[column] for column in columns)
    if graph is not None:
        _check_identified(graph, names, inputs.names)
    predict = read_model(model, inputs).predict
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    points = _settings(at, len(columns), "at")
    start = _settings(reference, len(columns), "reference")
    if start.ndim > 1:
        raise InputError(
            f"reference has shape {start.shape}: pass one value for each of the features "
            f"{list(names)}."
        )
    settings = points.reshape(-1, len(columns)).astype(rows.dtype)
    before = predictions(predict, _with(rows, columns, start[None].astype(rows.dtype)))
    before = before.astype(np.float64)
    size = max(1, byte_limit() // rows.nbytes)  # as many settings at once as memory holds
    blocks = [settings[first : first + size] for first in range(0, len(settings), size)]
    changes = [_change(predict, rows, columns, block, before) for block in blocks]
    shape = points.shape[:-1] + before.shape[1:]
    means, errors = (np.concatenate(parts).reshape(shape) for parts in zip(*changes, strict=True))
    return DirectEffect(means, errors, names)


def listed_columns(features: Any, names: Sequence[str], what: str) -> list[int]:
    """The numbers of the columns listed, at least one."""
    columns = column_numbers(features, names, what)
    if not columns:
        raise InputError(f"{what} names no column: pass one or more.")
    return columns


def _settings(values: Any, count: int, what: str) -> Float[np.ndarray, "*points features"]:
    settings = np.asarray(as_numbers(values, what), np.float64)
    settings = settings[None] if settings.ndim == 0 and count == 1 else settings
    if not settings.size or settings.ndim == 0 or settings.shape[-1] != count:
        hint = " A grid of one feature is grid[:, None]." if count == 1 else ""
        raise InputError(
            f"{what} has shape {settings.shape}, and the last axis must hold {count} "
            f"features.{hint}"
        )
    return settings


def _with(
    rows: Float[np.ndarray, "rows features"],
    columns: list[int],
    settings: Float[np.ndarray, "points columns"],
) -> Float[np.ndarray, "points*rows features"]:
    """All rows with the columns set to each of the settings in turn."""
    changed = np.repeat(rows[None], len(settings), axis=0)
    changed[:, :, columns] = settings[:, None]
    return changed.reshape(-1, rows.shape[1])


def _change(
    predict: Callable,
    rows: Float[np.ndarray, "rows features"],
    columns: list[int],
    settings: Float[np.ndarray, "points columns"],
    before: Float[np.ndarray, "rows *out"],
) -> tuple[Float[np.ndarray, "points *out"], Float[np.ndarray, "points *out"]]:
    """The mean over rows of what each setting changes, and its standard error."""
    outputs = predictions(predict, _with(rows, columns, settings)).astype(np.float64)
    change = outputs.reshape(len(settings), *before.shape) - before
    mean = change.mean(1)
    if len(rows) < 2:
        return mean, np.full_like(mean, np.nan)
    return mean, change.std(1, ddof=1) / np.sqrt(len(rows))


def _check_identified(graph: Any, features: Sequence[str], inputs: Sequence[str]) -> None:
    others = [name for name in inputs if name not in features]
    if between := between_others(graph, list(features), others):
        reasons = ", ".join(
            f"{node!r} has causes {sorted(map(str, causes))} and effects "
            f"{sorted(map(str, effects))}"
            for node, (causes, effects) in between.items()
        )
        raise InputError(
            f"the direct effect of {list(features)} is not identified: among the other inputs, "
            f"{reasons}. Take the causes or the effects into features= as well."
        )
