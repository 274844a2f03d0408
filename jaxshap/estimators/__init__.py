"""Estimators: each plans which coalitions to ask about and solves for the values."""

from jaxshap.estimators.adjusted import RegressionAdjusted as RegressionAdjusted
from jaxshap.estimators.balanced import Balanced as Balanced
from jaxshap.estimators.balanced_first import BalancedFirst as BalancedFirst
from jaxshap.estimators.boosted_trees import BoostedTrees as BoostedTrees
from jaxshap.estimators.castro import Castro as Castro
from jaxshap.estimators.distinct import DistinctGains as DistinctGains
from jaxshap.estimators.exact import Exact as Exact
from jaxshap.estimators.kernel import Kernel as Kernel
from jaxshap.estimators.kernel import Leverage as Leverage
from jaxshap.estimators.odd import MAX_FIT_FLOPS as MAX_FIT_FLOPS
from jaxshap.estimators.odd import NodeWeights as NodeWeights
from jaxshap.estimators.odd import OddGP as OddGP
from jaxshap.estimators.odd import OddInteractions as OddInteractions
from jaxshap.estimators.odd import OddLinear as OddLinear
from jaxshap.estimators.odd import Search as Search
from jaxshap.estimators.odd import diagonal_nodes as diagonal_nodes
from jaxshap.estimators.odd import fit_flops as fit_flops
from jaxshap.estimators.orderings import num_orderings as num_orderings
from jaxshap.estimators.orderings import plan_walks as plan_walks
from jaxshap.estimators.orderings import solve_walks as solve_walks
from jaxshap.estimators.owen import Owen as Owen
from jaxshap.estimators.permutation import Permutation as Permutation
from jaxshap.estimators.projections import DykstraPoint as DykstraPoint
from jaxshap.estimators.projections import dykstra as dykstra
from jaxshap.estimators.projections import project as project
from jaxshap.estimators.projections import project_dykstra as project_dykstra
from jaxshap.estimators.protocol import Estimate as Estimate
from jaxshap.estimators.protocol import Estimator as Estimator
from jaxshap.estimators.protocol import Plan as Plan
from jaxshap.estimators.registry import ESTIMATORS as ESTIMATORS
from jaxshap.estimators.scattered import Scattered as Scattered
from jaxshap.estimators.sgd import ProjectedSGD as ProjectedSGD
from jaxshap.estimators.stating import mean_of_draws as mean_of_draws
from jaxshap.estimators.stating import no_less_than_rounding as no_less_than_rounding
from jaxshap.estimators.stating import of_one_shape as of_one_shape
from jaxshap.estimators.stating import sampled_estimate as sampled_estimate
from jaxshap.estimators.stating import stated as stated
from jaxshap.estimators.steps import ConstantStep as ConstantStep
from jaxshap.estimators.steps import InverseStep as InverseStep
from jaxshap.estimators.steps import RootStep as RootStep
from jaxshap.estimators.steps import StepSchedule as StepSchedule
from jaxshap.estimators.stratified import Stratified as Stratified
from jaxshap.estimators.stratified import WithoutReplacement as WithoutReplacement
from jaxshap.estimators.surrogates import Fitted as Fitted
from jaxshap.estimators.surrogates import LinearSurrogate as LinearSurrogate
from jaxshap.estimators.surrogates import PairwiseSurrogate as PairwiseSurrogate
from jaxshap.estimators.surrogates import Surrogate as Surrogate
from jaxshap.estimators.unbiased import MSR as MSR
from jaxshap.estimators.unbiased import UnbiasedKernel as UnbiasedKernel

__all__ = [
    "ESTIMATORS",
    "MSR",
    "Balanced",
    "BalancedFirst",
    "BoostedTrees",
    "Castro",
    "ConstantStep",
    "DistinctGains",
    "DykstraPoint",
    "Estimate",
    "Estimator",
    "Exact",
    "Fitted",
    "InverseStep",
    "Kernel",
    "Leverage",
    "LinearSurrogate",
    "OddGP",
    "OddLinear",
    "Owen",
    "PairwiseSurrogate",
    "Permutation",
    "Plan",
    "ProjectedSGD",
    "RegressionAdjusted",
    "RootStep",
    "Scattered",
    "StepSchedule",
    "Stratified",
    "Surrogate",
    "UnbiasedKernel",
    "WithoutReplacement",
    "dykstra",
    "project",
    "project_dykstra",
]
