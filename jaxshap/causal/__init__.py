"""Causality and fairness: causal graphs, direct effects, fair predictors and group disparities.

A causal graph is a list of edges (cause, effect), or anything whose `edges` are that, such as a
networkx.DiGraph.
"""

from jaxshap.causal.direct_effects import DirectEffect as DirectEffect
from jaxshap.causal.direct_effects import direct_effect as direct_effect
from jaxshap.causal.disparities import Disparity as Disparity
from jaxshap.causal.disparities import disparity as disparity
from jaxshap.causal.fair_predictors import FairPredictor as FairPredictor
from jaxshap.causal.fair_predictors import fair_predictor as fair_predictor
from jaxshap.causal.graphs import d_separated as d_separated
from jaxshap.causal.graphs import identifies_direct_effect as identifies_direct_effect
from jaxshap.causal.graphs import parent_adjustment as parent_adjustment
from jaxshap.causal.graphs import satisfies_backdoor as satisfies_backdoor

__all__ = [
    "DirectEffect",
    "Disparity",
    "FairPredictor",
    "d_separated",
    "direct_effect",
    "disparity",
    "fair_predictor",
    "identifies_direct_effect",
    "parent_adjustment",
    "satisfies_backdoor",
]
