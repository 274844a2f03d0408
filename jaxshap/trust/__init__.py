"""Trust: how far to believe an explanation, by intervals, additivity, stability and the data."""

from jaxshap.trust.additivity import EXPLAINED_SHARE as EXPLAINED_SHARE
from jaxshap.trust.additivity import Additivity as Additivity
from jaxshap.trust.additivity import Share as Share
from jaxshap.trust.additivity import measure_additivity as measure_additivity
from jaxshap.trust.bayesian import BayesPosterior as BayesPosterior
from jaxshap.trust.bayesian import bayes_shap as bayes_shap
from jaxshap.trust.diagnosis import Diagnosis as Diagnosis
from jaxshap.trust.diagnosis import Finding as Finding
from jaxshap.trust.efficient_bayes import EfficientPosterior as EfficientPosterior
from jaxshap.trust.efficient_bayes import efficient_bayes_shap as efficient_bayes_shap
from jaxshap.trust.intervals import Interval as Interval
from jaxshap.trust.intervals import interval as interval
from jaxshap.trust.intervals import quantile as quantile
from jaxshap.trust.off_manifold import OffManifold as OffManifold
from jaxshap.trust.off_manifold import off_manifold_share as off_manifold_share
from jaxshap.trust.pair_samples import sample_pairs as sample_pairs
from jaxshap.trust.rankings import Agreement as Agreement
from jaxshap.trust.rankings import Stability as Stability
from jaxshap.trust.rankings import run_agreement as run_agreement
from jaxshap.trust.rankings import stability as stability
from jaxshap.trust.redundancy import Dilution as Dilution
from jaxshap.trust.redundancy import diluted as diluted
from jaxshap.trust.redundancy import redundant_features as redundant_features
from jaxshap.trust.shift import attribution_shift as attribution_shift

__all__ = [
    "Additivity",
    "Agreement",
    "BayesPosterior",
    "Diagnosis",
    "Dilution",
    "EfficientPosterior",
    "Finding",
    "Interval",
    "OffManifold",
    "Share",
    "Stability",
    "attribution_shift",
    "bayes_shap",
    "efficient_bayes_shap",
    "interval",
    "off_manifold_share",
    "redundant_features",
    "run_agreement",
]
