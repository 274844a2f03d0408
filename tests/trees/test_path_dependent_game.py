"""The path-dependent game against its definition, a recursion down each tree in numpy."""

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import jaxshap
from jaxshap.games import all_coalitions
from jaxshap.trees import path_dependent, path_dependent_game, path_dependent_interactions


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + (X[:, 3] > 0) * X[:, 0]


def expectation(tree, row, inside, node=0):
    """EXPVALUE of Lundberg et al. (2020)."""
    if tree.children_left[node] < 0:
        return tree.value[node].ravel()
    left, right = tree.children_left[node], tree.children_right[node]
    if inside[tree.feature[node]]:
        goes_left = row[tree.feature[node]] <= tree.threshold[node]
        return expectation(tree, row, inside, left if goes_left else right)
    counts = tree.weighted_n_node_samples
    both = [counts[side] * expectation(tree, row, inside, side) for side in (left, right)]
    return sum(both) / counts[node]


def worths(estimators, rows):
    of_trees = [
        [[expectation(one.tree_, row, inside) for row in rows] for inside in all_coalitions(5)]
        for one in estimators
    ]
    return np.mean(of_trees, axis=0)


def games():
    X, y = table()
    forest = RandomForestRegressor(4, max_depth=5, random_state=0).fit(X, y)
    classifier = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    return X[:3], {"forest": (forest, forest.estimators_), "classes": (classifier, [classifier])}


@pytest.mark.parametrize("kind", ["forest", "classes"])
def test_worths_are_those_of_the_definition(kind):
    rows, models = games()
    model, estimators = models[kind]
    game = path_dependent_game(jaxshap.trees.read_trees(model), rows)
    found = jaxshap.evaluate(game, jnp.asarray(all_coalitions(5)), progress=False)
    np.testing.assert_allclose(found, worths(estimators, rows), atol=2e-6)


def test_its_values_and_interactions_are_those_of_the_closed_forms():
    rows, models = games()
    trees = jaxshap.trees.read_trees(models["forest"][0])
    game = path_dependent_game(trees, rows)
    values = jaxshap.shapley_values(game)
    np.testing.assert_allclose(jnp.moveaxis(values, 0, 1), path_dependent(trees, rows), atol=2e-6)
    pairs = jaxshap.interactions.exact_interactions(game, "SII", 2)
    both = path_dependent_interactions(trees, rows)
    np.testing.assert_allclose(pairs[0, 3], 2 * both[:, 0, 3], atol=4e-6)
    np.testing.assert_allclose(game.empty[0], jaxshap.trees.base_margin(trees), atol=1e-6)
    np.testing.assert_allclose(game.full, trees.predict(rows), atol=2e-6)


def test_a_tree_of_one_leaf_is_a_game_in_which_nobody_adds_anything():
    X, _ = table()
    model = DecisionTreeRegressor().fit(X, np.full(len(X), 3.0))
    game = path_dependent_game(jaxshap.trees.read_trees(model), X[:2])
    np.testing.assert_array_equal(jaxshap.shapley_values(game), 0)
    np.testing.assert_array_equal(game.full, 3.0)
