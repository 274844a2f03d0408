"""Fuzzed effects, surrogates, trees, causal and trust functions: right by their definitions."""

import numpy as np
from hypothesis import strategies as st
from known_games import brute_force_shapley
from oracles import ROUNDING, mixed_worths
from profiles import fuzzed
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from strategies import as_passed, batch_sizes, forms, keys, models, tables, weights

import jaxshap

NUM_COLUMNS = 3


def drawn_model(data, num_rows=4):
    """A model, a table, the same as it is passed, and the size of what rounding is a share of."""
    model, table = data.draw(models(NUM_COLUMNS)), data.draw(tables(num_rows, NUM_COLUMNS))
    return model, table, as_passed(data.draw(forms), table), model.size(np.abs(table) + 41)


def close(answer, expected, size):
    answer = np.asarray(answer, np.float64).reshape(expected.shape)
    assert np.isfinite(answer).all()
    assert (np.abs(answer - expected) <= ROUNDING * size).all()


def moved(table, columns, values):
    changed = table.copy()
    changed[:, columns] = values
    return changed


@fuzzed(0.05, data=st.data())
def test_curves_are_the_model_where_a_column_is_moved(data):
    model, table, passed, size = drawn_model(data)
    column, shares = data.draw(st.integers(0, NUM_COLUMNS - 1)), [*data.draw(weights), 1.0]
    grid = data.draw(st.lists(st.sampled_from((-1.0, 0.0, 0.5, 3.0)), min_size=1, max_size=3))
    how = {"grids": {column: grid}, "batch_size": data.draw(batch_sizes), "weights": shares}
    curves = jaxshap.effects.ice(jaxshap.host(model), passed, column, **how)
    expected = np.stack([model.exactly(moved(table, column, point)) for point in grid], axis=1)
    close(curves.values, expected, size)
    mean = jaxshap.effects.pdp(jaxshap.host(model), passed, column, **how)
    share = np.array(shares) / np.sum(shares)
    close(mean.values, np.tensordot(share, expected, 1), size)


@fuzzed(0.03, data=st.data())
def test_accumulated_effects_of_a_line_rise_as_the_line(data):
    table = data.draw(tables(6, NUM_COLUMNS))
    slope = data.draw(st.sampled_from((0.0, 1.0, -3.0, 1e-8, 1e8)))
    line = jaxshap.host(lambda rows: slope * rows[:, 0] + 1)
    effect = jaxshap.effects.ale(line, table, 0, bins=data.draw(st.integers(1, 5)))
    size = abs(slope) * 41 + 1
    rises = np.diff(effect.values)
    assert (np.abs(rises - slope * np.diff(effect.grids[0])) <= ROUNDING * size).all()


@fuzzed(0.04, data=st.data())
def test_components_and_direct_effects_are_differences_of_means(data):
    model, table, passed, size = drawn_model(data)
    columns = data.draw(st.sampled_from(([0], [2], [0, 1], [1, 2])))
    points = data.draw(tables(2, len(columns)))
    component = jaxshap.interactions.component(jaxshap.host(model), passed, columns)
    worths = mixed_worths(model, _at(columns, points), table, np.ones(4), [[c] for c in columns])
    signs = {1: [-1, 1], 2: [1, -1, -1, 1]}[len(columns)]
    close(component(points), np.tensordot(signs, worths, 1), 4 * size)
    start = np.zeros(len(columns))
    effect = jaxshap.causal.direct_effect(
        jaxshap.host(model), passed, columns, at=points, reference=start
    )
    before = model.exactly(moved(table, columns, start)).mean(0)
    expected = [model.exactly(moved(table, columns, point)).mean(0) - before for point in points]
    close(effect.values, np.array(expected), 4 * size)


def _at(columns, points):
    rows = np.zeros((len(points), NUM_COLUMNS))
    rows[:, columns] = points
    return rows


@fuzzed(0.03, data=st.data())
def test_fair_predictions_are_means_over_what_is_protected(data):
    model, table, passed, size = drawn_model(data)
    rows = data.draw(tables(2, NUM_COLUMNS))
    fair = jaxshap.causal.fair_predictor(jaxshap.host(model), passed, [1])
    expected = [model.exactly(np.where([True, False, True], row, table)).mean(0) for row in rows]
    close(fair(rows), np.array(expected), size)


@fuzzed(0.03, data=st.data())
def test_surrogates_of_a_line_are_the_line(data):
    table, rows = data.draw(tables(4, NUM_COLUMNS)), data.draw(tables(1, NUM_COLUMNS))
    slopes = np.array(data.draw(st.tuples(*[st.sampled_from((0.0, 2.0, -0.5))] * NUM_COLUMNS)))
    line = jaxshap.host(lambda rows: rows @ slopes + 1)
    near = jaxshap.lime.local_surrogate(
        data.draw(keys), line, rows, table, num_samples=60, ridge=1e-6, kernel_width=100.0
    )
    varies = np.ptp(table, axis=0) > 0
    expected = slopes * near.units * varies
    answer = np.asarray(near.coefficients)[0]
    assert (np.abs(answer - expected) <= 1e-2 * (1 + np.abs(slopes * 41).max())).all()


@fuzzed(0.05, data=st.data())
def test_trees_have_the_values_of_their_predictions(data):
    table, rows = data.draw(tables(8, NUM_COLUMNS)), data.draw(tables(2, NUM_COLUMNS))
    target = np.array(data.draw(st.lists(st.sampled_from((0.0, 1.0, 5.0)), min_size=8, max_size=8)))
    depth, seed = data.draw(st.sampled_from([1, 2, 4])), data.draw(st.integers(0, 9))
    kinds = (
        DecisionTreeRegressor(max_depth=depth, random_state=seed),
        RandomForestRegressor(2, max_depth=depth, random_state=seed),
    )
    model = data.draw(st.sampled_from(kinds)).fit(table, target)
    explanation = jaxshap.explain(model, rows, table[:3])

    class Predictions:
        def exactly(self, inputs):
            return model.predict(inputs)[:, None]

    players = [[column] for column in range(NUM_COLUMNS)]
    worths = mixed_worths(Predictions(), rows, table[:3], np.ones(3), players)
    close(explanation.values.T, brute_force_shapley(worths)[..., 0], 5)
    path_dependent = jaxshap.explain(model, rows)
    total = path_dependent.values.sum(1) + path_dependent.base_values
    close(total, model.predict(rows), 5)


@fuzzed(0.04, data=st.data())
def test_shares_and_certainties_are_between_0_and_1(data):
    number = data.draw(st.sampled_from([2, 3]))
    values = data.draw(tables(2, number))
    errors = np.abs(data.draw(tables(2, number)))
    stability = jaxshap.trust.stability(values, errors, 4.0, top=1)
    assert ((stability.order >= 0) & (stability.order <= 1)).all()
    assert ((stability.signs >= 0) & (stability.signs <= 1)).all()
    table = data.draw(tables(6, number))
    for group in jaxshap.trust.redundant_features(table):
        assert len(group) > 1
    kept = jaxshap.kmeans(table, data.draw(st.integers(1, 6)), key=data.draw(keys))
    assert abs(np.sum(kept.weights) - 1) < 1e-9
    assert all(np.isin(kept.rows[:, column], table[:, column]).all() for column in range(number))
