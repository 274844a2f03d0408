"""Interactions: indices of sets of players, exact and sampled, and the functional decomposition."""

from jaxshap.estimators import Search as Search
from jaxshap.interactions.aggregation import aggregated as aggregated
from jaxshap.interactions.components import Component as Component
from jaxshap.interactions.components import component as component
from jaxshap.interactions.decomposition import Decomposition as Decomposition
from jaxshap.interactions.decomposition import decompose as decompose
from jaxshap.interactions.index_values import Interactions as Interactions
from jaxshap.interactions.indices import exact_interactions as exact_interactions
from jaxshap.interactions.sampled import estimate_interactions as estimate_interactions
from jaxshap.interactions.tree_indices import tree_interactions as tree_interactions

__all__ = [
    "Component",
    "Decomposition",
    "Interactions",
    "Search",
    "aggregated",
    "component",
    "decompose",
    "estimate_interactions",
    "exact_interactions",
    "tree_interactions",
]
