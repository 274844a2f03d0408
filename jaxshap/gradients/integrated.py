"""Integrated gradients: Aumann–Shapley values of the baseline game."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError, ToleranceWarning
from jaxshap.explaining import Explanation
from jaxshap.games import read_number, read_whole
from jaxshap.gradients.calls import (
    PLACES_PER_CALL,
    reduced_gains,
    rows_per_batch,
    weighted_gains,
)
from jaxshap.gradients.problems import Question, read_question, reported
from jaxshap.inputs import Groups, Players
from jaxshap.values import baseline

ROUNDING = 8  # units of the last place of the largest number, for sums of a few dozen gradients


def integrated_gradients(
    model: Any,
    X: Any,
    background: Any,
    *,
    tol: float = 0.01,
    max_nodes: int = 1024,
    groups: Groups | Players | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Explanation:
    """(x − b) times the mean slope of the model on the straight line from the baseline b to x.

    These are Aumann–Shapley values, which share out f(x) − f(b) as Shapley values of
    `jaxshap.baseline` do, but differ from them unless the model is a sum of functions of single
    features and of their products. They look at points between b and x instead of mixed ones, at
    the cost of a few dozen gradients. Sundararajan, Taly & Yan (2017).

    The integral is taken by Gauss–Legendre rules of 8, 16, 32, … nodes, until the reported error
    meets the tolerance. `std_error` is no standard deviation here: it is an estimate of the
    quadrature error, which holds for 98 of 100 values of networks with kinks: the difference
    between the last two rules, or its root mean square over the row if that is more, plus
    1/√features of what is missing from f(x) − f(b), plus rounding. The values therefore add up to
    the difference of outputs within the sum of the reported errors.

    Args:
        model: a JAX function of a batch of rows, `(rows, features)` to `(rows,)` or
            `(rows, outputs)`.
        X: the rows to explain: a table, or any inputs, rows in front, that `groups` divides.
        background: the baseline, a single row.
        tol: the largest error allowed, as a share of the largest |value| of its output.
        max_nodes: the most nodes of a rule; a warning says so where they are not enough.
        groups: players that are groups of columns, or `jaxshap.Players`; columns by default.
        feature_names: names of the players, or of the columns where the table has none.
        output_names: names of the outputs.

    Returns:
        An `Explanation` whose `kind` is "integrated gradient" and whose `num_evaluations` counts
        gradients, each of all outputs of all rows.

    Raises:
        InputError: the background has several rows, or an argument cannot be used.
        InputTypeError: an input that plays is made of whole numbers.
        UnsupportedModelError: the model runs on the host, or JAX cannot differentiate it.

    Example:
        >>> import jaxshap
        >>> X, zero = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> model = lambda x: x[:, 0] ** 2 * x[:, 1]
        >>> print(jaxshap.gradients.integrated_gradients(model, X, zero).values.round(3))
        [[1.333 0.667]]
        >>> print(jaxshap.explain(model, X, zero).values)  # Shapley values are others
        [[1. 1.]]
    """
    tol, max_nodes = read_number(tol, "tol", above=0), read_whole(max_nodes, "max_nodes")
    if max_nodes < 2 * PLACES_PER_CALL:
        raise InputError(
            f"max_nodes={max_nodes}: two rules are compared, so pass {2 * PLACES_PER_CALL} or more."
        )
    question = read_question(model, X, background, groups, feature_names, baseline)
    names = question.problem.output_names(output_names, question.game.full.shape[1:])
    values, error, nodes = _converged(question, tol, max_nodes)
    return reported(
        question,
        values,
        error,
        output_names=names,
        num_evaluations=2 * nodes - PLACES_PER_CALL,  # of all rules up to the last
        estimator=f"Gauss–Legendre rule of {nodes} nodes",
        kind="integrated gradient",
    )


def _converged(question: Question, tol: float, max_nodes: int) -> tuple[Any, Any, int]:
    """Values, their errors and the nodes of the last rule."""
    batch_size = rows_per_batch(question.paths)
    nodes = PLACES_PER_CALL
    values = _rule(question, nodes, batch_size)
    while True:
        before, nodes = values, 2 * nodes
        values = _rule(question, nodes, batch_size)
        error = _error(question, values, before)
        largest = _largest_share(question, values, error)
        if largest <= tol:
            break
        if 2 * nodes > max_nodes or np.isnan(largest):
            warnings.warn(
                f"tol={tol} is not met with {nodes} nodes: the largest error is {largest:.2g} of "
                "the largest value. Pass a larger max_nodes; a model with jumps has no integrated "
                "gradients.",
                ToleranceWarning,
                stacklevel=3,
            )
            break
    return values, error, nodes


def _rule(
    question: Question, nodes: int, batch_size: int
) -> Float[np.ndarray, "rows players *out"]:
    """The integral by one rule, a call at a time, added up in float64."""
    abscissas, weights = np.polynomial.legendre.leggauss(nodes)
    reference, dtype = np.zeros(PLACES_PER_CALL, np.int32), question.game.full.dtype
    total: Any = 0
    for start in range(0, nodes, PLACES_PER_CALL):
        some = slice(start, start + PLACES_PER_CALL)
        place, weight = (1 + abscissas[some]) / 2, weights[some] / 2
        how = weighted_gains, batch_size, question.paths, reference
        sums = reduced_gains(*how, place.astype(dtype), weight.astype(dtype))
        total = total + np.asarray(sums, np.float64)
    return total


def _error(question: Question, values: Any, before: Any) -> Float[np.ndarray, "rows players *out"]:
    """The difference of two rules, a share of what is missing from the total, and rounding."""
    full, empty = (np.asarray(end, np.float64) for end in (question.game.full, question.game.empty))
    missing = np.abs(full - empty - values.sum(1))[:, None]
    largest = np.maximum(np.abs(values).max(1), np.maximum(np.abs(full), np.abs(empty)))
    rounding = ROUNDING * np.finfo(question.game.full.dtype).eps * largest[:, None]
    change = np.abs(values - before)
    typical = np.sqrt((change**2).mean(1, keepdims=True))  # one value may agree by accident
    return np.maximum(change, typical) + missing / np.sqrt(values.shape[1]) + rounding


def _largest_share(question: Question, values: Any, error: Any) -> float:
    rows = slice(question.problem.num_rows)
    largest = np.abs(values[rows]).max((0, 1))
    return float((error[rows].max((0, 1)) / np.where(largest > 0, largest, 1)).max())
