"""Shapley residuals: what the Shapley values leave out of a game, player by player.

On the hypercube of coalitions, player i's gains are a flow ∇_i v along the edges in which i joins.
Its part that is the gradient of some game v_i is what φ_i speaks of: v_i(N) − v_i(∅) = φ_i. The
rest, r_i = ∇_i v − ∇v_i, vanishes where i adds the same to every coalition. Kumar et al. (2021).
"""

from jaxshap.residuals.edges import edge_norms as edge_norms
from jaxshap.residuals.hodge import Flows as Flows
from jaxshap.residuals.hodge import flows as flows
from jaxshap.residuals.hodge import norms as norms
from jaxshap.residuals.hodge import shares as shares
from jaxshap.residuals.noise_stability import estimate_norms as estimate_norms
from jaxshap.residuals.noise_stability import estimate_shares as estimate_shares

__all__ = ["Flows", "edge_norms", "estimate_norms", "estimate_shares", "flows", "norms", "shares"]
