"""The mean outcome under an intervention, by adjustment for what confounds it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from jaxshap.causal.graphs import Node, parent_adjustment, satisfies_backdoor
from jaxshap.causal.moving import listed_columns, mean_changes
from jaxshap.errors import InputError
from jaxshap.games import as_numbers
from jaxshap.inputs import own_columns, read_inputs, read_model
from jaxshap.values import checked_table


class AdjustedMean(NamedTuple):
    """The mean outcome where a treatment is set, as `adjusted_mean` returns it.

    Attributes:
        values: the means, of shape (*points, *outputs).
        std_error: their standard errors, over rows like those given and for the model as it is.
        treatment: the name of the feature that is set.
        adjustment: the names of the features that are adjusted for.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])
        >>> mean = jaxshap.causal.adjusted_mean(lambda x: x[:, 0] * x[:, 1], X, 0, at=[1.0, 2.0])
        >>> mean.treatment, mean.adjustment, mean.values.tolist()
        ('x0', ('x1',), [2.0, 4.0])
    """

    values: Float[np.ndarray, "..."]
    std_error: Float[np.ndarray, "..."]
    treatment: str
    adjustment: tuple[str, ...]


def adjusted_mean(
    model: Any,
    X: Any,
    treatment: str | int | Any,
    *,
    at: Any,
    graph: Any = None,
    outcome: Node = None,
    feature_names: Sequence[str] | None = None,
) -> AdjustedMean:
    """The adjustment formula ∫ p(y | x, z) p(z) dz: what the outcome would be were x set.

    The model is fitted to predict the outcome from the treatment x and the features z that are
    adjusted for, which are all its other inputs; the integral is the mean over the rows. It is what
    an intervention on x would bring about where z satisfies the backdoor criterion and the model is
    right, and otherwise no more than partial dependence. Pearl (1993).

    Args:
        model: what `explain` takes: a function of a batch of rows, or a fitted model. One with
            probabilities of classes gives those of the outcome.
        X: rows of the population, (rows, features).
        treatment: the feature that is set, by name or number.
        at: the value that it is set to, or an array of values.
        graph: a causal graph of the inputs and the outcome, such as a `StructuralModel`; where
            given, inputs that do not satisfy the backdoor criterion are refused.
        outcome: the node of the graph that the model predicts; goes with `graph`.
        feature_names: the names of the features where X has none.

    Returns:
        An `AdjustedMean` for every value of `at` and every output.

    Raises:
        InputError: where the inputs do not identify the effect, or the values are no numbers.

    Example:
        >>> import jaxshap, pandas as pd
        >>> X = pd.DataFrame({"dose": [0.0, 1.0, 0.0, 1.0], "age": [20.0, 60.0, 30.0, 70.0]})
        >>> graph = [("age", "dose"), ("age", "health"), ("dose", "health")]
        >>> model = lambda x: 5 * x[:, 0] - x[:, 1] / 10
        >>> mean = jaxshap.causal.adjusted_mean(
        ...     model, X, "dose", at=[0.0, 1.0], graph=graph, outcome="health"
        ... )
        >>> mean.values.tolist()
        [-4.5, 0.5]
    """
    inputs = read_inputs(X, X, None, own_columns(model, X, feature_names))
    columns = listed_columns(treatment, inputs.names, "treatment=")
    if len(columns) > 1:
        raise InputError(f"treatment= names {len(columns)} features: pass one.")
    name = inputs.names[columns[0]]
    adjustment = tuple(other for other in inputs.names if other != name)
    if (graph is None) != (outcome is None):
        raise InputError("graph= and outcome= go together: pass both, or neither.")
    if graph is not None:
        _check_backdoor(graph, name, outcome, adjustment)
    predict = read_model(model, inputs).predict
    rows = np.asarray(checked_table(predict, inputs.rows, inputs.rows)[0])
    values = np.asarray(as_numbers(at, "at"), np.float64)
    if not values.size:
        raise InputError("at= is empty: pass the value, or values, that the treatment is set to.")
    means = mean_changes(predict, rows, columns, values[..., None], None)
    return AdjustedMean(*means, name, adjustment)


def _check_backdoor(graph: Any, treatment: str, outcome: Node, adjustment: tuple[str, ...]) -> None:
    if not satisfies_backdoor(graph, treatment, outcome, adjustment):
        parents = sorted(map(str, parent_adjustment(graph, treatment)))
        raise InputError(
            f"adjusting for {list(adjustment)} does not identify the effect of {treatment!r} on "
            f"{outcome!r}: one of them is its effect, or a path into it stays open. Fit the model "
            f"on {treatment!r} and its direct causes {parents}, which do."
        )
