"""Direct effects of features on a model, with all other features as they are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.causal.graphs import between_others
from jaxshap.causal.moving import listed_columns, mean_changes, outputs_with, read_settings
from jaxshap.errors import InputError
from jaxshap.inputs import own_columns, read_inputs, read_model
from jaxshap.values import checked_table, predictions


class DirectEffect(NamedTuple):
    """The mean change of a model's output as some features move from where they are, or were set.

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
    reference: Any = None,
    graph: Any = None,
    feature_names: Sequence[str] | None = None,
) -> DirectEffect:
    """The average natural direct effect: what the model gains, on average, as features move.

    Without `reference` it is averaged over references: each row starts from its own values, and the
    effect is the mean of f(at, rest) − f(row), which is the partial dependence less the mean
    prediction. A fixed reference gives the difference of two such effects, the mean of
    f(at, rest) − f(reference, rest). Both are exact for the rows given. They are causal only where
    no feature has both causes and effects among the other inputs (see `identifies_direct_effect`).
    What `X` holds is then the other inputs as they come about by themselves; had the reference been
    forced upon all rows, the effects of features would have other values too.

    Args:
        model: what `explain` takes: a function f of a batch of rows, or a fitted model.
        X: the rows to average over, (rows, features).
        features: the features that move, by name or number.
        at: the values that the features take, features in the last axis; or a number for a single
            feature.
        reference: the values that they start from, one per feature; by default each row's own.
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
        >>> float(jaxshap.causal.direct_effect(model, X, 0, at=1.0).values.round(3))
        1.333
    """
    inputs = read_inputs(X, X, None, own_columns(model, X, feature_names))
    columns = listed_columns(features, inputs.names, "features=")
    names = tuple(inputs.names[column] for column in columns)
    if graph is not None:
        _check_identified(graph, names, inputs.names)
    predict = read_model(model, inputs).predict
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    points = read_settings(at, len(columns), "at")
    before = _before(predict, rows, columns, reference, names)
    return DirectEffect(*mean_changes(predict, rows, columns, points, before), names)


def _before(
    predict: Callable,
    rows: Float[np.ndarray, "rows features"],
    columns: list[int],
    reference: Any,
    names: tuple[str, ...],
) -> Float[np.ndarray, "rows *out"]:
    """The model for the rows as they are, or with the features at their reference."""
    if reference is None:
        return predictions(predict, rows).astype(np.float64)
    start = read_settings(reference, len(columns), "reference")
    if start.ndim > 1:
        raise InputError(
            f"reference has shape {start.shape}: pass one value for each of the features "
            f"{list(names)}."
        )
    return outputs_with(predict, rows, columns, start[None].astype(rows.dtype))[0]


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
