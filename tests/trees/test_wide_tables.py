"""What a table of many columns costs follows the features that the trees use."""

import jax
import numpy as np
from sklearn.tree import DecisionTreeRegressor

import jaxshap

COLUMNS = 400


def test_columns_that_no_tree_splits_by_cost_no_search(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, COLUMNS))
    X[0, 7] = np.nan
    model = DecisionTreeRegressor(max_leaf_nodes=5, random_state=0).fit(X, X[:, 3] + X[:, 9])
    searches = []
    search = np.searchsorted
    monkeypatch.setattr(np, "searchsorted", lambda *args: searches.append(1) or search(*args))
    trees = jaxshap.trees.read_trees(model)
    traced = jax.jit(trees.predict)(X)
    searches.clear()
    values = np.asarray(jaxshap.trees.interventional(trees, X[:4], X))
    used = set(model.tree_.feature[model.tree_.feature >= 0].tolist())
    assert len(searches) <= 4 * len(used)
    assert set(np.flatnonzero(np.abs(values).max((0, 2))).tolist()) <= used
    np.testing.assert_allclose(traced[:, 0], model.predict(X), rtol=1e-5)
    gap = model.predict(X[:4]) - model.predict(X).mean()
    np.testing.assert_allclose(values.sum(1)[:, 0], gap, atol=1e-5)
