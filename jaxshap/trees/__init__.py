"""Trees: exact Shapley values and interactions of fitted tree ensembles.

Path-dependent values need no background; interventional values are those of the marginal game.
"""

from jaxshap.trees.checking import check_reading as check_reading
from jaxshap.trees.conditions import background_shares as background_shares
from jaxshap.trees.conditions import path_conditions as path_conditions
from jaxshap.trees.ensemble import Ensemble as Ensemble
from jaxshap.trees.interventional_values import interventional as interventional
from jaxshap.trees.interventional_values import (
    interventional_interactions as interventional_interactions,
)
from jaxshap.trees.path_dependent_values import base_margin as base_margin
from jaxshap.trees.path_dependent_values import path_dependent as path_dependent
from jaxshap.trees.path_dependent_values import (
    path_dependent_interactions as path_dependent_interactions,
)
from jaxshap.trees.readers.registry import is_tree_model as is_tree_model
from jaxshap.trees.readers.registry import read_trees as read_trees
from jaxshap.trees.unwrapping import Unwrapped as Unwrapped
from jaxshap.trees.unwrapping import unwrap as unwrap

__all__ = [
    "Ensemble",
    "base_margin",
    "check_reading",
    "interventional",
    "interventional_interactions",
    "path_dependent",
    "path_dependent_interactions",
    "read_trees",
]
