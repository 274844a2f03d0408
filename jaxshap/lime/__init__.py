"""LIME: local linear surrogates of a model around a row, or of a game around all its players, and
how far they depend on the kernel.
"""

from jaxshap.lime.players import PlayerSurrogate as PlayerSurrogate
from jaxshap.lime.players import player_surrogate as player_surrogate
from jaxshap.lime.selections import ForwardSelection as ForwardSelection
from jaxshap.lime.selections import LassoPath as LassoPath
from jaxshap.lime.selections import Selection as Selection
from jaxshap.lime.stability import WidthStability as WidthStability
from jaxshap.lime.stability import width_stability as width_stability
from jaxshap.lime.surrogate import LocalSurrogate as LocalSurrogate
from jaxshap.lime.surrogate import local_surrogate as local_surrogate

__all__ = [
    "ForwardSelection",
    "LassoPath",
    "LocalSurrogate",
    "PlayerSurrogate",
    "Selection",
    "WidthStability",
    "local_surrogate",
    "player_surrogate",
    "width_stability",
]
