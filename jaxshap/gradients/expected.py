"""Expected gradients: integrated gradients averaged over a background, by sampling."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from jaxshap.engine import read_budget, read_key
from jaxshap.errors import BudgetError
from jaxshap.explaining import Explanation
from jaxshap.gradients.calls import (
    PLACES_PER_CALL,
    moments_of_pairs,
    reduced_gains,
    rows_per_batch,
)
from jaxshap.gradients.problems import Question, read_question, reported
from jaxshap.inputs import Groups, Players
from jaxshap.values import marginal


def expected_gradients(
    model: Any,
    X: Any,
    background: Any,
    *,
    budget: int = 256,
    key: Key[Array, ""] | int = 0,
    groups: Groups | Players | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Explanation:
    """(x − b) times the slope between b and x, averaged over background rows b and places.

    The mean over the background of integrated gradients, as marginal Shapley values are that of
    baseline ones; unbiased, with standard errors. Each draw is a background row and a place t on
    the line from it to x, asked about at t and at 1 − t. All rows share the draws. The values add
    up to f(x) less the mean output within their errors, not exactly. Erion et al. (2021).

    Args:
        model: a JAX function of a batch of rows, `(rows, features)` to `(rows,)` or
            `(rows, outputs)`.
        X: the rows to explain: a table, or any inputs, rows in front, that `groups` divides.
        background: the rows that paths begin at; `jaxshap.WeightedRows` are drawn by weight.
        budget: gradients to take for each row, two per draw.
        key: a JAX key or a whole number.
        groups: players that are groups of columns, or `jaxshap.Players`; columns by default.
        feature_names: names of the players, or of the columns where the table has none.
        output_names: names of the outputs.

    Returns:
        An `Explanation` whose `kind` is "expected gradient" and whose `num_evaluations` counts
        gradients, each of all outputs of all rows.

    Raises:
        BudgetError: the budget does not buy two draws, which a standard error needs.
        InputTypeError: an input that plays is made of whole numbers.
        UnsupportedModelError: the model runs on the host, or JAX cannot differentiate it.

    Example:
        >>> import jaxshap
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0], [1.0, 0.0]]
        >>> model = lambda x: 2 * x[:, 0] + x[:, 1]
        >>> explained = jaxshap.gradients.expected_gradients(model, X, background)
        >>> print(explained.values[0, 1], abs(explained.values[0, 0] - 1) < 0.5)
        2.0 True
    """
    budget = read_budget(budget, 2)
    if budget < 4:
        raise BudgetError(f"budget={budget} does not buy two draws of two gradients each.", 4)
    question = read_question(model, X, background, groups, feature_names, marginal)
    names = question.problem.output_names(output_names, question.game.full.shape[1:])
    values, error = _sampled(question, read_key(key), budget // 2)
    return reported(
        question,
        values,
        error,
        output_names=names,
        num_evaluations=budget // 2 * 2,
        estimator=f"{budget // 2} draws in pairs",
        kind="expected gradient",
        degrees=float(budget // 2 - 1),
    )


def _sampled(question: Question, key: Key[Array, ""], draws: int) -> tuple[Any, Any]:
    """The mean of the draws and its standard error, from sums of some draws at a time."""
    per_call, batch_size = PLACES_PER_CALL // 2, rows_per_batch(question.paths)
    cumulative = np.cumsum(question.weights).astype(np.float32)
    counts, totals, squares = [], [], []
    for start in range(0, draws, per_call):
        numbers = np.arange(start, start + per_call)
        reference, place = _drawn(key, numbers, cumulative)
        counted = np.repeat(numbers < draws, 2).astype(np.float32)
        how = moments_of_pairs, batch_size, question.paths
        total, square = reduced_gains(*how, reference, place, counted)
        counts.append(int(counted.sum()) // 2)
        totals.append(np.asarray(total, np.float64))
        squares.append(np.asarray(square, np.float64))
    mean = sum(totals) / draws
    parts = zip(counts, totals, squares, strict=True)
    spread = sum(square + count * (total / count - mean) ** 2 for count, total, square in parts)
    ends = (np.abs(np.asarray(end)) for end in (question.game.full, question.game.empty))
    rounding = np.finfo(question.game.full.dtype).eps * np.maximum(*ends)[:, None]
    return mean, np.maximum(np.sqrt(spread / (draws - 1) / draws), rounding)


@jax.jit
def _drawn(
    key: Key[Array, ""], numbers: Int[np.ndarray | Array, "draws"], cumulative: Any
) -> tuple[Int[Array, "2*draws"], Float[Array, "2*draws"]]:
    """The reference and the place of each draw, then the same reference and the place mirrored."""

    def one(number):
        return jax.random.uniform(jax.random.fold_in(key, number), (2,), jnp.float32)

    chances = jax.vmap(one)(numbers)
    found = jnp.searchsorted(cumulative, chances[:, 0] * cumulative[-1], side="right")
    reference = jnp.minimum(found, len(cumulative) - 1).astype(jnp.int32)
    places = jnp.stack([chances[:, 1], 1 - chances[:, 1]], axis=1).reshape(-1)
    return jnp.repeat(reference, 2), places
