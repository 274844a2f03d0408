"""explain: from a model and a table to an Explanation."""

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import Mesh
from jaxtyping import Array, Key

from jaxshap.engine import (
    BatchSize,
    Options,
    Run,
    plan_size,
    read_budget,
    read_estimator,
    read_key,
    read_options,
    strata_for,
)
from jaxshap.errors import InputError
from jaxshap.estimators import Estimator, Scattered
from jaxshap.explaining.chosen_outputs import choose_of_explanation, choose_outputs
from jaxshap.explaining.combinations import (
    check_background,
    check_sampled,
    check_tree_options,
)
from jaxshap.explaining.explanation import Explanation
from jaxshap.explaining.interacting import (
    check_interactions,
    check_no_sets,
    estimator_with_sets,
    sets_of,
)
from jaxshap.explaining.large_background import explain_sampled
from jaxshap.explaining.limits import Clock, read_clock, read_limits
from jaxshap.explaining.problem import Problem, read_problem
from jaxshap.explaining.reporting import reported, source_of
from jaxshap.explaining.rounds import run_rounds
from jaxshap.explaining.separate import estimate_separately
from jaxshap.explaining.tree_explainer import explain_trees
from jaxshap.games import read_flag, read_number
from jaxshap.inputs import Groups, Players, Top, check_model
from jaxshap.trees import unwrap
from jaxshap.values import ValueFunction, check_few_rows, check_repeatable, check_unchanged


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    estimator: Estimator | None = None,
    budget: int | None = None,
    tol: float | None = None,
    seconds: float | None = None,
    model_rows: int | None = None,
    key: Key[Array, ""] | int = 0,
    groups: Groups | Players | None = None,
    value: ValueFunction | None = None,
    reward: Callable | None = None,
    interactions: int | None = None,
    separate_draws: bool = False,
    feature_names: Sequence[str] | None = None,
    outputs: Any = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
    checkpoint: str | os.PathLike | None = None,
    mesh: Mesh | None = None,
) -> Explanation:
    """Shapley values of the model's prediction for each row of X.

    A fitted tree ensemble (scikit-learn, XGBoost, LightGBM, CatBoost) is explained exactly,
    without evaluations, unless an `estimator`, `groups`, a `value`, a `reward` or a function as
    `outputs` is given: its raw margin, with the background, or path-dependent where there is none.

    Args:
        model: maps rows `(rows, features)` to `(rows,)` or `(rows, outputs)`: a JAX function, a
            fitted estimator, or any other function, which runs on the host.
        X: the rows to explain: a DataFrame of any columns that the model takes, an array or a list
            of rows; or any inputs, rows in front, that `groups` divides into players.
        background: the rows that absent features take their values from; `jaxshap.WeightedRows`,
            as from `jaxshap.kmeans`, are weighted. None with a `value` of `jaxshap.images`.
        estimator: how to estimate; by default exact where 2**n is affordable, otherwise the most
            accurate estimator of the library.
        budget: coalitions, each evaluated for all rows at once, v(∅) and v(N) counted; by default
            20n, but not below 512 nor above 2n + 2048 (unless `estimator` then has no standard
            errors), and with `tol` or `seconds` at most 64 times as many.
        tol: spend the budget in rounds until every standard error is at most this share of the
            spread (the largest less the smallest worth of its output), until it is gone, or until
            errors show that it is far too small.
        seconds: spend time instead, from the call to its return, for models that are slow: rounds
            grow as far as the measured time per evaluation and per solve allows, and the last one
            is returned, with its errors. Exact where all coalitions fit in the time. The number of
            evaluations reached depends on the machine; the values depend on that number alone.
            Compilation counts and cannot be predicted: in a fresh process it may add seconds, which
            a `TimeWarning` names, unless `jaxshap.cache_programs()` has kept the programs.
        model_rows: for a background as large as the data: model rows to spend per explained row,
            spread over as many background rows as they are worth, instead of a `budget`. The
            values stay those of the full background, and the standard errors hold what the rows
            that were not asked about could change. Without it a background of m rows costs m
            model rows per coalition.
        key: a JAX key or a whole number; the same key asks about the same coalitions.
        groups: players that are groups of columns, by name or number; for images, sequences and
            other inputs, what `jaxshap.patches`, `segments`, `tokens`, `leaves` or `together` make.
        value: what absent means, such as `jaxshap.conditional` or, for images,
            `jaxshap.images.Blurred()`; `jaxshap.marginal` by default. See `values.ValueFunction`.
        reward: what is shared out instead of the outputs, see `jaxshap.rewards`.
        interactions: also return the Shapley interactions of all sets of up to this many players,
            2 or more, from the same evaluations and with errors of their own. With `model_rows`
            they are unbiased, and their errors the spread between background rows.
        separate_draws: give each row draws of its own, so that errors are independent and a mean
            over rows gains from their number. Shared draws are cheapest and most accurate per row.
        feature_names: names of the players, or of the columns where the table has none.
        outputs: which outputs to explain, where there are many: names or numbers of some,
            `jaxshap.Top(k)` for the k largest of each row, or a function of the outputs. Memory
            follows what is asked for, and the result names it.
        output_names: names of all outputs of the model, or of what the function `outputs` returns.
        batch_size: coalitions per batch; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.
        checkpoint: a file of all worths: the same call goes on where the last one ended.
        mesh: devices that the work is shared out over, on one host or many.

    Returns:
        An `Explanation`: values `(rows, features, *outputs)` with standard errors.

    Raises:
        InputError: an argument cannot be used; the message says what to do.
        Interrupted: on Ctrl-C; it carries the explanation from the evaluations so far.
        EvaluationError: the model failed on masked inputs; it carries what came before.

    Example:
        >>> import jaxshap
        >>> background = [[0.0, 0.0], [1.0, 1.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], background)
        >>> explanation.values.tolist(), explanation.base_values.tolist()
        ([[1.0, 1.5]], [1.5])
    """
    clock = read_clock(seconds)
    tol = None if tol is None else read_number(tol, "tol", above=0)
    separate_draws = read_flag(separate_draws, "separate_draws")
    plain = estimator is None and groups is None and reward is None and value is None
    plain = plain and (isinstance(outputs, Top) or not callable(outputs))
    options = read_options(batch_size, progress, checkpoint, mesh)
    check_model(model)
    if plain and (trees := unwrap(model)) is not None:
        check_tree_options(options, separate_draws)
        named = feature_names, output_names
        explained = explain_trees(trees, X, background, *named, interactions)
        return explained if outputs is None else choose_of_explanation(explained, outputs)
    check_background(background, value)
    problem = read_problem(model, X, background, groups, feature_names, value, reward)
    if outputs is not None:
        problem, output_names = choose_outputs(problem, outputs, output_names), None
    how = read_key(key), estimator, budget, output_names, options
    check_no_sets(interactions, separate_draws)
    if model_rows is not None:
        check_sampled(problem, estimator, budget, tol or seconds, separate_draws, options)
        return _explain_sampled(problem, model_rows, interactions, *how)
    if separate_draws:
        return _explain_separately(problem, tol or seconds, *how)
    return _explain_together(problem, tol, clock, interactions, *how)


def _explain_together(
    problem: Problem,
    tol: float | None,
    clock: Clock | None,
    order: int | None,
    key,
    estimator,
    budget,
    output_names,
    options: Options,
) -> Explanation:
    """All rows share their coalitions."""
    game = problem.game()
    names = problem.output_names(output_names, game.full.shape[1:])
    if order is not None:
        in_rounds = tol is not None or clock is not None
        estimator = estimator_with_sets(estimator, game, budget, order, in_rounds)
    estimator, limits = read_limits(game, estimator, budget, tol, clock)
    asked = check_repeatable(game, *problem.asked)
    strata = strata_for(game, estimator, limits.budgets[-1])

    def report(spent: Run, estimator: Estimator) -> Explanation:
        size = spent.answers.num_evaluations
        source = source_of(problem, lambda: game)
        how = size, problem, source, names, estimator, game
        sets = None if order is None else sets_of(spent, strata, estimator, order)
        return reported(spent.estimate, game.empty, *how, sets=sets)

    explained = run_rounds(key, game, estimator, limits, options, problem.num_rows, report)
    check_unchanged(asked, explained)
    return explained


def _explain_separately(
    problem: Problem, tol: float | None, key, estimator, budget, output_names, options: Options
) -> Explanation:
    """Each row has coalitions of its own."""
    unused = (tol, problem.reward, options.checkpoint, options.mesh)
    if any(option is not None for option in unused) or options.progress:
        raise InputError(
            "separate_draws= does not go with tol=, seconds=, reward=, checkpoint=, mesh= or "
            "progress=: omit them."
        )
    first = problem.game_of(jax.tree.map(lambda leaf: leaf[:1], problem.inputs.rows))
    budget = read_budget(budget, first.num_players, estimator)
    estimator = read_estimator(estimator, first, budget)
    size = plan_size(estimator, first.num_players, budget)
    asked = check_repeatable(first, *problem.asked)
    separate = estimate_separately(problem, key, estimator, budget, options.batch_size)
    names = problem.output_names(output_names, separate.empty.shape[1:])
    source = source_of(problem, problem.game)
    result = separate.estimate, separate.empty, size, problem, source, names, estimator
    explained = reported(*result, separate.game, shared_draws=False)
    check_unchanged(asked, explained)
    return explained


def _explain_sampled(
    problem: Problem,
    model_rows: int,
    order: int | None,
    key,
    estimator,
    budget,
    output_names,
    options: Options,
) -> Explanation:
    """A sample of the background, each row with coalitions of its own."""
    check_few_rows(*problem.asked)
    if order is not None:
        check_interactions(order, problem.num_players)
    sampled = explain_sampled(problem, key, model_rows, options, order)
    names = problem.output_names(output_names, sampled.empty.shape[1:])
    source = source_of(problem, lambda: sampled.game)
    how, cost = (Scattered(), sampled.game), sampled.budget - 2
    result = reported(
        sampled.estimate, sampled.empty, cost, problem, source, names, *how, sets=sampled.sets
    )
    return dataclasses.replace(result, num_model_rows=sampled.num_rows * cost)
