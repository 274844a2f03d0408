"""Causality and fairness: causal graphs and structural models, adjustment, direct effects, fair
predictors and group disparities.

A causal graph is a list of edges (cause, effect), or anything whose `edges` are that, such as a
networkx.DiGraph or a `StructuralModel`.
"""

from jaxshap.causal.adjusting import AdjustedMean as AdjustedMean
from jaxshap.causal.adjusting import adjusted_mean as adjusted_mean
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
from jaxshap.causal.structural_models import StructuralModel as StructuralModel

__all__ = [
    "AdjustedMean",
    "DirectEffect",
    "Disparity",
    "FairPredictor",
    "StructuralModel",
    "adjusted_mean",
    "d_separated",
    "direct_effect",
    "disparity",
    "fair_predictor",
    "identifies_direct_effect",
    "parent_adjustment",
    "satisfies_backdoor",
]
