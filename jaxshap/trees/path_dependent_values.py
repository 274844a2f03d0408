"""Path-dependent values: an absent feature goes both ways at a split, in proportion to the training
rows that did.

Not a function of what the trees compute: two ensembles with the same predictions can get different
values.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.trees.attribution import Kind, attribute, with_diagonal
from jaxshap.trees.direct import quadrature_sum
from jaxshap.trees.ensemble import Ensemble
from jaxshap.trees.paths import Paths
from jaxshap.trees.tables import product_patterns


def path_dependent(ensemble: Ensemble, rows: Any) -> Float[Array, "rows features outputs"]:
    """Exact Shapley values of the raw margin; with `base_margin` they sum to it. Lundberg et al.
    (2020).

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> trees = jaxshap.trees.read_trees(DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0]))
        >>> print(np.asarray(jaxshap.trees.path_dependent(trees, X[3:])).round(3).ravel(), jaxshap.trees.base_margin(trees))
        [1.5 1.5] [1.]
    """
    return attribute(ensemble, rows, _KIND, 1)


def path_dependent_interactions(
    ensemble: Ensemble, rows: Any
) -> Float[Array, "rows features features outputs"]:
    """Shapley interactions: each half off the diagonal, the rest of a feature's value on it.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> trees = jaxshap.trees.read_trees(DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0]))
        >>> print(np.asarray(jaxshap.trees.path_dependent_interactions(trees, X[3:])[0, :, :, 0]).round(3))
        [[1.  0.5]
         [0.5 1. ]]
    """
    once = attribute(ensemble, rows, _KIND, 2)
    return with_diagonal(once, path_dependent(ensemble, rows))


def base_margin(ensemble: Ensemble) -> Float[Array, "outputs"]:
    """The margin expected over the training rows: with no feature known.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> tree = DecisionTreeRegressor(random_state=0).fit(X, [0.0, 0.0, 0.0, 4.0])
        >>> jaxshap.trees.base_margin(jaxshap.trees.read_trees(tree)).tolist()
        [1.0]
    """
    structure = ensemble.structure
    nodes = np.flatnonzero(structure.leaf >= 0)
    tree = structure.tree_of_leaf
    share = jnp.asarray(
        structure.cover[nodes] / structure.cover[structure.roots[tree]], ensemble.values.dtype
    )
    number = len(structure.roots)
    of_trees = jax.ops.segment_sum(share[:, None] * ensemble.values, tree, number)
    if structure.outputs is None:
        return ensemble.base + of_trees.sum(0)
    return ensemble.base.at[jnp.asarray(structure.outputs)].add(of_trees[:, 0])


def _chances(
    paths: Paths, _
) -> tuple[Float[Array, "paths patterns"], Float[Array, "paths patterns"]]:
    dtype = jax.dtypes.canonicalize_dtype(np.float64)
    rates = jnp.asarray(paths.rates, dtype)
    return product_patterns(rates), product_patterns(
        rates.at[:, -1].set(jnp.asarray(paths.sibling_rate, dtype))
    )


_KIND = Kind(_chances, quadrature_sum, (), cost=60.0)
