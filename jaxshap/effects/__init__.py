"""Effects of features on predictions: ICE, partial dependence, marginal plots and accumulated local
effects; and additive models, whose effects are known by design.
"""

from jaxshap.effects.accumulated import ale as ale
from jaxshap.effects.additive import AdditiveModel as AdditiveModel
from jaxshap.effects.additive import additive_model as additive_model
from jaxshap.effects.marginal_means import marginal_means as marginal_means
from jaxshap.effects.partial_dependence import ice as ice
from jaxshap.effects.partial_dependence import pdp as pdp
from jaxshap.effects.records import AccumulatedEffect as AccumulatedEffect
from jaxshap.effects.records import Effect as Effect
from jaxshap.effects.records import IndividualCurves as IndividualCurves
from jaxshap.effects.records import PartialDependence as PartialDependence
from jaxshap.effects.smoothers import smoothing_spline as smoothing_spline

__all__ = [
    "AccumulatedEffect",
    "AdditiveModel",
    "Effect",
    "IndividualCurves",
    "PartialDependence",
    "additive_model",
    "ale",
    "ice",
    "marginal_means",
    "pdp",
    "smoothing_spline",
]
