"""A background as large as the data: a given number of model rows, spread over many background
rows.

The values are those of the full background. A random sample of background rows is asked about, each
about coalitions of its own, and the values of each are regressed on the row itself and on the
model's prediction for it, whose means over the full background are known.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int, Key

from jaxshap.engine import Answers, Options, ask, solve_each
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Balanced, Estimate, Scattered
from jaxshap.explaining.problem import Problem
from jaxshap.explaining.sampled_sets import Asked, sets_of_rows
from jaxshap.games import Game, num_sets
from jaxshap.interactions import Interactions
from jaxshap.values import predictions

ROWS_PER_REGRESSOR = 10  # background rows that each coefficient of the regression needs
MAX_NUMBERS = 2**24  # worths, or values of single background rows, that are held at once


class Sampled(NamedTuple):
    """An estimate for the full background, v(∅) there, and what it took."""

    estimate: Estimate  # (n, rows, *outputs)
    empty: Float[np.ndarray, "rows *outputs"]
    game: Game
    num_rows: int  # background rows that were asked about
    budget: int  # coalitions that each of them was asked about, ∅ and N counted
    sets: Interactions | None


def explain_sampled(
    problem: Problem, key: Key[Array, ""], model_rows: Any, options: Options, order: int | None
) -> Sampled:
    """Spend `model_rows` per explained row on as many background rows as they are worth."""
    references, weights = problem.inputs.references, problem.inputs.options.get("weights")
    population = len(jax.tree.leaves(references)[0])
    number, budget = spread_rows(model_rows, population, problem.num_players)
    outputs = predictions(problem.predict, references, "background row")  # once, for all rows
    draw_key, plan_key = jax.random.split(key)
    drawn = _draw(draw_key, population, number, weights)
    sample = problem.with_references(jax.tree.map(lambda leaf: np.asarray(leaf)[drawn], references))
    shares = np.ones(population) if weights is None else np.asarray(weights, np.float64)
    shares = shares / shares.sum()
    table = _regressors(references, outputs, number)
    complete = number == population and weights is None
    estimates = [
        _adjusted(each, table[drawn], shares @ table, population, complete)
        for each in _per_row(sample, plan_key, budget, table[drawn], outputs, options, order)
    ]
    fields: Any = [np.concatenate(field, axis=1) for field in zip(*estimates, strict=True)]
    base, game = np.tensordot(shares, outputs, 1), sample.game()
    empty = np.broadcast_to(base, (problem.num_rows, *base.shape)).astype(game.full.dtype)
    estimate, players = Estimate(*fields), problem.num_players
    sets = None
    if order is not None:
        values, errors = (field.astype(empty.dtype) for field in estimate[:2])
        sets = Interactions(values, errors, empty, "SII", players, order)
        estimate = Estimate(*(field[:players] for field in fields))
    return Sampled(estimate, empty, game, number, budget, sets)


def spread_rows(model_rows: Any, population: int, num_players: int) -> tuple[int, int]:
    """How many background rows, and how many coalitions each, ∅ and N counted.

    Most rows at the least cost each is best: an ordering and its reverse, 2n − 2 coalitions. Only
    when all background rows are asked does each get more.
    """
    whole = isinstance(model_rows, int | np.integer) and not isinstance(model_rows, bool)
    if not whole:
        raise InputError(f"model_rows={model_rows!r}: pass a whole number, such as 20_000.")
    least = 2 * num_players - 2
    needed = max(2, min(population, 30)) * least
    if model_rows < needed:
        raise BudgetError(
            f"model_rows={model_rows} is too few for {num_players} players: pass {needed} or more, "
            f"{least} for each of some background rows.",
            needed,
        )
    number = min(population, int(model_rows) // least)
    return number, int(model_rows) // number + 2


def _draw(key, population: int, number: int, weights: Any) -> Int[np.ndarray, "number"]:
    """Without replacement; weighted rows with replacement, by their weights."""
    if weights is None:
        return np.asarray(jax.random.choice(key, population, (number,), replace=False))
    shares = np.asarray(weights, np.float64) / np.sum(weights)
    return np.asarray(jax.random.choice(key, population, (number,), p=shares))


def _per_row(
    sample: Problem,
    key,
    budget: int,
    known: Float[np.ndarray, "number k"],
    outputs: np.ndarray,
    options: Options,
    order: int | None,
) -> Iterator[Estimate]:
    """Values and errors of each background row's own game, (number, n, rows, *outputs), and of its
    sets of players up to `order`, for as many explained rows at a time as memory allows. All of
    them share their coalitions.
    """
    solver, rows, number = Scattered(Balanced()), sample.inputs.rows, len(known)
    most = num_sets(sample.num_players, 1 if order is None else order)
    per_row = number * max(budget, most) * int(np.prod(outputs.shape[1:]))
    size = max(1, MAX_NUMBERS // per_row)
    for start in range(0, sample.num_rows, size):
        some = jax.tree.map(lambda leaf, start=start: leaf[start : start + size], rows)
        part = sample._replace(inputs=sample.inputs._replace(rows=some))
        game = part.game()
        answers = ask(key, game, solver, budget, options)
        each = solve_each(solver, answers, game)
        fields: Any = [np.asarray(field)[:, :, : part.num_rows] for field in each]
        values, error, exact, degrees = fields
        own = Estimate(values * number, error * number, exact, degrees)  # weights were 1/number
        yield own if order is None else _with_sets(own, answers, game, known, order)


def _with_sets(
    each: Estimate, answers: Answers, game: Game, known: Float[np.ndarray, "number k"], order: int
) -> Estimate:
    """With the larger sets of players, whose errors the spread between rows will tell."""
    number, _, num_rows, *shape = np.shape(each.values)
    worths, empty, full = (
        np.asarray(jax.device_get(array), np.float64)
        for array in (answers.worths, *game.strata_ends())
    )
    plan: Any = jax.device_get(answers.plan.coalitions)
    coalitions = np.moveaxis(np.asarray(plan)[: len(worths), :number], 1, 0)
    gains = np.moveaxis(worths - empty, 1, 0)[:number, :, :num_rows] * number
    total = (full - empty)[:number, :num_rows] * number
    gains, total = gains.reshape(*gains.shape[:2], -1), total.reshape(number, -1)
    own = sets_of_rows(Asked(coalitions, gains, total, known), order)
    own = own.reshape(number, -1, num_rows, *shape).astype(each.values.dtype)
    exact = np.broadcast_to(np.asarray(each.exact).all(1, keepdims=True), own.shape)
    more = own, np.where(exact, 0, np.nan), exact, np.full(own.shape, np.nan)
    fields: Any = [np.concatenate(two, axis=1) for two in zip(each, more, strict=True)]
    return Estimate(*fields)


def _regressors(
    references: Any, outputs: Float[np.ndarray, "m *out"], number: int
) -> Float[np.ndarray, "m k"]:
    """The prediction for each background row, and the row itself where it is one of a table and
    there are enough of them.
    """
    flat = outputs.reshape(len(outputs), -1).astype(np.float64)
    if not hasattr(references, "shape"):
        return flat
    columns = np.asarray(references, np.float64).reshape(len(flat), -1)
    if number >= ROWS_PER_REGRESSOR * (flat.shape[1] + columns.shape[1] + 1):
        usable = np.isfinite(columns).all(0) & (columns.std(0) > 0)
        return np.concatenate([flat, columns[:, usable]], axis=1)
    return flat


def _adjusted(
    each: Estimate, sampled: np.ndarray, means: np.ndarray, population: int, complete: bool
) -> Estimate:
    """The regression of φ_b on the regressors, at their means over the full background.

    Σφ_b = f(x) − f(b) is exactly linear in f(b), so the values add up to f(x) − v(∅). The error is
    the spread about the regression over √m. It holds both what differs between background rows and
    what each row's sampling adds; the first shrinks as the sample nears the population.
    """
    values = np.asarray(each.values, np.float64)
    number, shape = len(values), values.shape[1:]
    flat = values.reshape(number, -1)
    if complete:
        mean, residuals, freedom = flat.mean(0), flat - flat.mean(0), number - 1
    else:
        unit = _units(sampled)
        centred = (sampled - sampled.mean(0)) / unit
        slopes, _, rank, _ = np.linalg.lstsq(centred, flat - flat.mean(0), rcond=1e-10)
        mean = flat.mean(0) + (means - sampled.mean(0)) / unit @ slopes
        residuals = flat - flat.mean(0) - centred @ slopes
        freedom = max(1, number - 1 - rank)
    spread = (residuals**2).sum(0) / (freedom or np.nan)  # one row alone has none
    within = (np.asarray(each.std_error, np.float64).reshape(number, -1) ** 2).mean(0)
    between = np.where(np.isnan(within), 0, np.maximum(spread - within, 0))
    variance = np.maximum(spread / number - between / population, 0)
    if complete:  # nothing is left out: only the sampling within rows is uncertain
        variance = np.where(np.isnan(within), spread, within) / number
    exact = np.asarray(each.exact).all(0) if complete else np.zeros(shape, bool)
    rounding = np.finfo(each.values.dtype).eps * np.abs(values).max(0)
    error = np.where(exact, 0, np.maximum(np.sqrt(variance).reshape(shape), rounding))
    degrees = np.where(exact, np.inf, freedom)
    fields: Any = mean.reshape(shape), error, exact, degrees
    return Estimate(*fields)


def _units(regressors: Float[np.ndarray, "number k"]) -> Float[np.ndarray, "k"]:
    """The power of two next to the spread of each, so that none is lost beside larger ones.

    Infinite for a regressor that is constant: divided by it, nothing is left.
    """
    spread = np.ptp(regressors, axis=0)
    return np.where(spread > 0, np.ldexp(1.0, np.frexp(spread)[1]), np.inf)
