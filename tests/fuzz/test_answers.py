"""Fuzzed explanations and estimates: right by enumeration, or refused by name."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from oracles import ROUNDING, bits, check_estimate, difference, interaction_index, mixed_worths
from profiles import fuzzed
from strategies import (
    NUM_PLAYERS,
    ROWS,
    as_passed,
    batch_sizes,
    budgets,
    estimators,
    few_estimators,
    forms,
    groups,
    keys,
    models,
    tables,
    weights,
    worths,
)

import jaxshap
from jaxshap.estimators import Castro, Owen, Stratified, WithoutReplacement

NOT_EFFICIENT = (Castro, Owen, Stratified, WithoutReplacement)
NUM_REFERENCES = 3


def players_first(explanation):
    fields = explanation.values, explanation.std_error, explanation.degrees
    moved = [np.moveaxis(np.broadcast_to(field, fields[0].shape), 1, 0) for field in fields]
    moved = [field.reshape(*field.shape[:2], -1) for field in moved]
    return jaxshap.Estimate(moved[0], moved[1], explanation.exact, moved[2])


@fuzzed(0.25, data=st.data())
def test_explanations_are_those_of_the_definition(data):
    number, num_rows = data.draw(st.sampled_from(NUM_PLAYERS)), data.draw(st.sampled_from(ROWS))
    model = data.draw(models(number))
    rows, references = data.draw(tables(num_rows, number)), data.draw(tables(3, number))
    shares, (given, players) = data.draw(weights), data.draw(groups(number))
    form, estimator = data.draw(forms), data.draw(few_estimators)
    background = as_passed(form, references)
    if data.draw(st.booleans()):
        background = jaxshap.WeightedRows(background, shares)
    else:
        shares = np.ones(NUM_REFERENCES)
    explanation = jaxshap.explain(
        model
        if data.draw(st.booleans()) and type(model).__name__ == "Steps"
        else jaxshap.host(model),
        as_passed(form, rows),
        background,
        estimator=estimator,
        budget=data.draw(budgets),
        key=data.draw(keys),
        groups=given,
        batch_size=data.draw(batch_sizes),
        separate_draws=data.draw(st.sampled_from([False, False, False, True])),
        progress=False,
    )
    expected = mixed_worths(model, rows, references, shares, players)
    size = model.size(np.concatenate([rows, references]))
    estimate = players_first(explanation)
    check_estimate(estimate, expected, size=size, calibrated=isinstance(estimator, jaxshap.Exact))
    base = explanation.base_values.reshape(num_rows, -1)
    assert (np.abs(base - expected[0]) <= ROUNDING * (size + np.abs(expected[0]))).all()
    check_carried(explanation)


def check_carried(explanation):
    """What is made of an explanation is as finite as its values."""
    assert "Shapley values" in repr(explanation)
    lower, upper = explanation.interval(0.9)
    assert ((lower <= upper) | np.isnan(explanation.std_error)).all()
    summary = explanation.summary()
    assert np.isfinite(summary.values).all()
    frame = explanation.to_frame()
    np.testing.assert_array_equal(frame["value"].to_numpy(), explanation.values.ravel())


@fuzzed(0.25, data=st.data())
def test_estimates_are_exact_or_within_their_errors(data):
    number = data.draw(st.sampled_from(NUM_PLAYERS))
    table, estimator = data.draw(worths(number)), data.draw(estimators)
    on_host = data.draw(st.booleans())
    if on_host:
        game = jaxshap.make_game(
            jaxshap.host(lambda coalitions: table[coalitions @ 2 ** np.arange(number)]), number
        )
    else:
        game = jaxshap.table(table)
    budget, key = data.draw(budgets), data.draw(keys)
    estimate = jaxshap.estimate(key, game, estimator, budget, batch_size=data.draw(batch_sizes))
    efficient = not isinstance(estimator, NOT_EFFICIENT) or bool(np.all(estimate.exact))
    check_estimate(estimate, table, efficient=efficient, calibrated=False)


@fuzzed(0.15, data=st.data())
def test_tables_are_taken_apart_as_defined(data):
    number = data.draw(st.sampled_from(NUM_PLAYERS))
    table = data.draw(worths(number))
    game = jaxshap.table(table)
    rounding = 8 * ROUNDING * np.abs(table).max()
    exact = jaxshap.Estimate(jaxshap.shapley_values(game), jnp.zeros(()), True)
    exact = exact._replace(std_error=jnp.zeros_like(exact.values))
    check_estimate(exact, table, calibrated=False)
    pairs = jaxshap.interactions.exact_interactions(game)
    parts = jaxshap.interactions.decompose(game)
    for players in parts.sets:
        assert (np.abs(parts[players] - difference(table, players, ())) <= rounding).all()
        if 0 < len(players) < 3:
            expected = interaction_index(table, players)
            assert (np.abs(pairs[players] - expected) <= rounding).all()
    shares = np.asarray(jaxshap.residuals.shares(game))
    assert ((shares >= -1e-6) & (shares <= 1 + 1e-6)).all()


@fuzzed(0.1, data=st.data())
def test_games_from_games_have_the_worths_of_their_definitions(data):
    number = data.draw(st.sampled_from(NUM_PLAYERS))
    first, second = data.draw(worths(number)), data.draw(worths(number))
    game, other = jaxshap.table(first), jaxshap.table(second)
    codes = data.draw(st.lists(st.integers(0, 2**number - 1), min_size=1, max_size=9))
    rounding = ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    asked = data.draw(st.sampled_from([np.asarray, list, jnp.asarray]))(bits(number)[codes])
    answer = jaxshap.evaluate(game, asked, batch_size=data.draw(batch_sizes))
    assert (np.abs(np.asarray(answer) - first[codes]) <= rounding).all()
    joined = [[0, number - 1], *([player] for player in range(1, number - 1))]
    quotient = bits(number - 1) @ np.array([sum(2**player for player in group) for group in joined])
    worths_of_groups = jaxshap.evaluate(jaxshap.grouped(game, joined), bits(number - 1))
    assert (np.abs(np.asarray(worths_of_groups) - first[quotient]) <= rounding).all()
    less = jaxshap.evaluate(jaxshap.minus(game, other), bits(number))
    assert (np.abs(np.asarray(less) - (first - second)) <= 2 * rounding).all()


@jax.tree_util.Partial
def smooth(slopes, rows):
    return jnp.tanh(rows @ slopes) + rows[:, 0] * rows[:, 1]


class Smooth:
    """The same in float64."""

    def __init__(self, slopes):
        self.slopes = slopes

    def exactly(self, rows):
        return (np.tanh(rows @ self.slopes) + rows[:, 0] * rows[:, 1])[:, None]


@fuzzed(0.1, data=st.data())
def test_models_in_jax_are_explained_as_on_the_host(data):
    rows, references = data.draw(tables(2, 3)), data.draw(tables(3, 3))
    slopes = np.array(data.draw(st.tuples(*[st.sampled_from([0.0, 1.0, -0.5, 3.0])] * 3)))
    model = jax.tree_util.Partial(smooth.func, jnp.asarray(slopes, jnp.float32))
    explanation = jaxshap.explain(
        model, rows, references, key=data.draw(keys), estimator=data.draw(few_estimators)
    )
    players = [[0], [1], [2]]
    expected = mixed_worths(Smooth(slopes), rows, references, np.ones(3), players)
    size = np.abs(np.concatenate([rows, references])).max() ** 2 + 1
    check_estimate(players_first(explanation), expected, size=size, calibrated=False)
