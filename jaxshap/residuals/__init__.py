"""Shapley residuals: what the Shapley values leave out of a game, player by player."""

from jaxshap.residuals.edges import edge_norms as edge_norms
from jaxshap.residuals.hodge import Flows as Flows
from jaxshap.residuals.hodge import estimate_norms as estimate_norms
from jaxshap.residuals.hodge import estimate_shares as estimate_shares
from jaxshap.residuals.hodge import flows as flows
from jaxshap.residuals.hodge import norms as norms
from jaxshap.residuals.hodge import shares as shares

__all__ = ["Flows", "edge_norms", "estimate_norms", "estimate_shares", "flows", "norms", "shares"]
