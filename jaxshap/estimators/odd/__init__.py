"""The odd family: balanced pairs {S, N∖S} and processes on the odd and the even part of a game."""

from jaxshap.estimators.odd.fit import MAX_FIT_FLOPS as MAX_FIT_FLOPS
from jaxshap.estimators.odd.fit import fit_flops as fit_flops
from jaxshap.estimators.odd.gaussian_process import OddGP as OddGP
from jaxshap.estimators.odd.interactions import OddInteractions as OddInteractions
from jaxshap.estimators.odd.linear_rule import OddLinear as OddLinear
from jaxshap.estimators.odd.nodes import NodeWeights as NodeWeights
from jaxshap.estimators.odd.nodes import diagonal_nodes as diagonal_nodes
from jaxshap.estimators.odd.search import Search as Search

__all__ = ["OddGP", "OddLinear"]
