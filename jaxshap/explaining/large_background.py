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

from jaxshap.engine import Options, ask, solve_each
from jaxshap.errors import BudgetError, InputError
from jaxshap.estimators import Balanced, Estimate, Scattered
from jaxshap.explaining.problem import Problem
from jaxshap.games import Game
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


def explain_sampled(
    problem: Problem, key: Key[Array, ""], model_rows: Any, options: Options
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
        for each in _per_row(sample, plan_key, number, budget, outputs, options)
    ]
    fields: Any = [np.concatenate(field, axis=1) for field in zip(*estimates, strict=True)]
    base, game = np.tensordot(shares, outputs, 1), sample.game()
    empty = np.broadcast_to(base, (problem.num_rows, *base.shape)).astype(game.full.dtype)
    return Sampled(Estimate(*fields), empty, game, number, budget)


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
    sample: Problem, key, number: int, budget: int, outputs: np.ndarray, options: Options
) -> Iterator[Estimate]:
    """Values and errors of each background row's own game, (number, n, rows, *outputs), for as many
    explained rows at a time as memory allows. All of them share their coalitions.
    """
    solver, rows = Scattered(Balanced()), sample.inputs.rows
    per_row = number * max(budget, sample.num_players) * int(np.prod(outputs.shape[1:]))
    size = max(1, MAX_NUMBERS // per_row)
    for start in range(0, sample.num_rows, size):
        some = jax.tree.map(lambda leaf, start=start: leaf[start : start + size], rows)
        part = sample._replace(inputs=sample.inputs._replace(rows=some))
        game = part.game()
        each = solve_each(solver, ask(key, game, solver, budget, options), game)
        fields: Any = [np.asarray(field)[:, :, : part.num_rows] for field in each]
        values, error, exact, degrees = fields
        yield Estimate(values * number, error * number, exact, degrees)  # weights were 1/number


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
    spread = (residuals**2).sum(0) / freedom
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
