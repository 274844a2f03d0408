"""Effects of features on predictions: ICE, partial dependence and accumulated local effects."""

from jaxshap.effects.accumulated import ale as ale
from jaxshap.effects.partial_dependence import ice as ice
from jaxshap.effects.partial_dependence import pdp as pdp
from jaxshap.effects.records import AccumulatedEffect as AccumulatedEffect
from jaxshap.effects.records import Effect as Effect
from jaxshap.effects.records import IndividualCurves as IndividualCurves
from jaxshap.effects.records import PartialDependence as PartialDependence

__all__ = [
    "AccumulatedEffect",
    "Effect",
    "IndividualCurves",
    "PartialDependence",
    "ale",
    "ice",
    "pdp",
]
