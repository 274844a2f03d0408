"""Path-dependent values: an absent feature goes both ways at a split, as the training rows did."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.games import check_kind
from jaxshap.trees.attribution import Kind, attribute, with_diagonal
from jaxshap.trees.direct import quadrature_sum
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import product_patterns


def path_dependent(ensemble: Ensemble, rows: Any) -> Float[Array, "rows features outputs"]:
    """Exact path-dependent Shapley values of the raw margin; with `base_margin` they sum to it.

    An absent feature goes both ways at a split, in proportion to the training rows that did
    (Lundberg et al., 2020). So no background is needed, but the values are not a function of what
    the trees compute: two ensembles with the same predictions can get different values.

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.

    Returns:
        The value of each feature for each row, per output.

    Raises:
        InputError: if the table has other features than the trees.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> np.asarray(jaxshap.trees.path_dependent(trees, X[3:])).round(3).ravel().tolist()
        [1.5, 1.5]
        >>> jaxshap.trees.base_margin(trees).tolist()
        [1.0]
    """
    return attribute(ensemble, rows, _KIND, 1)


def path_dependent_interactions(
    ensemble: Ensemble, rows: Any
) -> Float[Array, "rows features features outputs"]:
    """Exact path-dependent Shapley interactions of the raw margin, in the convention of shap.

    Half of the interaction of two features stands on each side of the diagonal, and the rest of a
    feature's value on it, so that each row sums to the values of `path_dependent`.

    Args:
        ensemble: the trees, as `read_trees` returns them.
        rows: the rows to explain, a table (rows, features) with the columns of the model. A missing
            value is NaN.

    Returns:
        A symmetric matrix over features for each row, per output.

    Raises:
        InputError: if the table has other features than the trees.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> pairs = jaxshap.trees.path_dependent_interactions(trees, X[3:])
        >>> print(np.asarray(pairs[0, :, :, 0]).round(3))
        [[1.  0.5]
         [0.5 1. ]]
    """
    once = attribute(ensemble, rows, _KIND, 2)
    return with_diagonal(once, path_dependent(ensemble, rows))


def base_margin(ensemble: Ensemble) -> Float[Array, "outputs"]:
    """The raw margin with no feature known: its mean over the training rows of each tree.

    It is the base of `path_dependent` values. Training rows are counted as the library counts
    them, by weights or by second derivatives of the loss.

    Args:
        ensemble: the trees, as `read_trees` returns them.

    Returns:
        The expected margin, per output.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> trees = jaxshap.trees.read_trees(model)
        >>> jaxshap.trees.base_margin(trees).tolist()
        [1.0]
    """
    check_kind(ensemble, Ensemble, "ensemble", "what jaxshap.trees.read_trees returned")
    structure = ensemble.structure
    nodes, tree = np.flatnonzero(structure.leaf >= 0), structure.tree_of_leaf
    share = structure.cover[nodes] / structure.cover[structure.roots[tree]]
    weighted = jnp.asarray(share, ensemble.values.dtype)[:, None] * ensemble.values
    of_trees = jax.ops.segment_sum(weighted, tree, len(structure.roots))
    if structure.outputs is None:
        return ensemble.base + of_trees.sum(0)
    return ensemble.base.at[jnp.asarray(structure.outputs)].add(of_trees[:, 0])


def _chances(
    paths: Paths, _: Any
) -> tuple[Float[Array, "paths patterns"], Float[Array, "paths patterns"]]:
    dtype = jax.dtypes.canonicalize_dtype(np.float64)
    rates, last = jnp.asarray(paths.rates, dtype), jnp.asarray(paths.sibling_rate, dtype)
    return product_patterns(rates), product_patterns(rates.at[:, -1].set(last))


_KIND = Kind(_chances, quadrature_sum, (), cost=60.0)
