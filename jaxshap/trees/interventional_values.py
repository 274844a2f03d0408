"""Interventional values: absent features come from background rows, as in `jaxshap.marginal`."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jaxshap.games import check_kind
from jaxshap.inputs import checked_weights, rows_and_weights
from jaxshap.trees.attribution import Kind, attribute, with_diagonal
from jaxshap.trees.direct import background_sum
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.paths import Paths, merged_paths
from jaxshap.trees.tables import patterns


class Background(NamedTuple):
    """Codes of the background, and how much each row counts."""

    codes: Int[Array, "columns background"]
    weights: Float[Array, "background"]


def interventional(
    ensemble: Ensemble, rows: Any, background: Any, weights: Any = None
) -> Float[Array, "rows features outputs"]:
    """Exact Shapley values of the raw margin in the marginal game.

    They sum to the margin of the row less its mean over the background, and depend on the trees
    only through their predictions. Lundberg et al. (2020) define them; here every path to a leaf
    is a table over patterns of met conditions.

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.
        background: the rows that absent features come from, a table like `rows`, or
            `jaxshap.WeightedRows`.
        weights: how much each background row counts; by default all count the same.

    Returns:
        The value of each feature for each row, per output.

    Raises:
        InputError: if a table has other features than the trees, or `weights` another length than
            the background.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> jaxshap.trees.interventional(trees, X[3:], X)[0, :, 0].tolist()
        [1.5, 1.5]
    """
    return attribute(ensemble, rows, _kind(ensemble, background, weights), 1)


def interventional_interactions(
    ensemble: Ensemble, rows: Any, background: Any, weights: Any = None
) -> Float[Array, "rows features features outputs"]:
    """Exact Shapley interactions of the raw margin in the marginal game.

    In the convention of shap: half of the interaction of two features stands on each side of the
    diagonal, and the rest of a feature's value on it, so that each row sums to the values of
    `interventional`.

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.
        background: the rows that absent features come from, a table like `rows`, or
            `jaxshap.WeightedRows`.
        weights: how much each background row counts; by default all count the same.

    Returns:
        A symmetric matrix over features for each row, per output.

    Raises:
        InputError: if a table has other features than the trees, or `weights` another length than
            the background.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> jaxshap.trees.interventional_interactions(trees, X[3:], X)[0, :, :, 0].tolist()
        [[1.0, 0.5], [0.5, 1.0]]
    """
    once = attribute(ensemble, rows, _kind(ensemble, background, weights), 2)
    return with_diagonal(once, interventional(ensemble, rows, background, weights))


def _kind(ensemble: Ensemble, background: Any, weights: Any) -> Kind:
    coded = _coded(ensemble, background, weights)
    return Kind(_chances, background_sum, coded, cost=1.5 * coded.codes.shape[1])


def _coded(ensemble: Ensemble, background: Any, weights: Any) -> Background:
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    background, weights = rows_and_weights(background, weights)
    codes = jnp.asarray(merged_paths(ensemble.structure).structure.encode_narrow(background)).T
    count, dtype = codes.shape[1], jax.dtypes.canonicalize_dtype(np.float64)
    if weights is None:
        return Background(codes, jnp.ones(count, dtype))
    return Background(codes, jnp.asarray(checked_weights(weights, count, np.zeros(0, dtype))))


def _chances(
    paths: Paths, background: Background
) -> tuple[Float[Array, "paths patterns"], Float[Array, "paths patterns"]]:
    """Counts first, then one division: adding up shares in float32 would lose digits."""
    none = jnp.zeros(2 ** paths.column.shape[1], background.weights.dtype)

    def count(_, pattern):
        return None, none.at[pattern].add(background.weights)

    counts = jax.lax.scan(count, None, patterns(paths, background.codes))[1]
    chances = counts / background.weights.sum()
    return chances, chances.reshape(len(chances), 2, -1)[:, ::-1].reshape(chances.shape)
