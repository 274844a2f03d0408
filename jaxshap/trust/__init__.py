"""Trust: how far to believe an explanation. Intervals, additivity, stability, off-manifold shares,
redundancy.
"""

from jaxshap.trust.additivity import ENOUGH as ENOUGH
from jaxshap.trust.additivity import measure_additivity as measure_additivity
from jaxshap.trust.additivity import sample_pairs as sample_pairs
from jaxshap.trust.diagnosis import MEANING as MEANING
from jaxshap.trust.diagnosis import Diagnosis as Diagnosis
from jaxshap.trust.off_manifold import off_manifold_share as off_manifold_share
from jaxshap.trust.rankings import Stability as Stability
from jaxshap.trust.rankings import run_agreement as run_agreement
from jaxshap.trust.rankings import stability as stability
from jaxshap.trust.redundancy import Dilution as Dilution
from jaxshap.trust.redundancy import diluted as diluted
from jaxshap.trust.redundancy import redundant_features as redundant_features
from jaxshap.trust.shift import attribution_shift as attribution_shift
from jaxshap.trust.uncertainty import bayes_shap as bayes_shap
from jaxshap.trust.uncertainty import interval as interval

__all__ = [
    "Diagnosis",
    "attribution_shift",
    "bayes_shap",
    "interval",
    "off_manifold_share",
    "redundant_features",
    "run_agreement",
]
