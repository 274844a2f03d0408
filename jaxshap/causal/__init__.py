"""Causality and fairness: causal graphs, direct effects, fair predictors and disparities between
groups.
"""

from jaxshap.causal.direct_effects import direct_effect as direct_effect
from jaxshap.causal.direct_effects import fair_predictor as fair_predictor
from jaxshap.causal.disparities import Disparity as Disparity
from jaxshap.causal.disparities import disparity as disparity
from jaxshap.causal.graphs import d_separated as d_separated
from jaxshap.causal.graphs import identifies_direct_effect as identifies_direct_effect
from jaxshap.causal.graphs import parent_adjustment as parent_adjustment
from jaxshap.causal.graphs import satisfies_backdoor as satisfies_backdoor

__all__ = [
    "d_separated",
    "direct_effect",
    "disparity",
    "fair_predictor",
    "identifies_direct_effect",
    "parent_adjustment",
    "satisfies_backdoor",
]
