"""Shapley values for JAX: accurate, fast, differentiable, with honest error bars.

The everyday names are here; everything else lives in its room: `jaxshap.rewards`, `trees`,
`effects`, `interactions`, `residuals`, `trust`, `causal`, `lime`, `texts`, `images`, `gradients`,
`hierarchies`, `theory` and `plots`.
"""

from importlib.metadata import version as _version

from jaxshap import causal as causal
from jaxshap import effects as effects
from jaxshap import errors as errors
from jaxshap import gradients as gradients
from jaxshap import hierarchies as hierarchies
from jaxshap import images as images
from jaxshap import interactions as interactions
from jaxshap import lime as lime
from jaxshap import plots as plots
from jaxshap import residuals as residuals
from jaxshap import rewards as rewards
from jaxshap import texts as texts
from jaxshap import theory as theory
from jaxshap import trees as trees
from jaxshap import trust as trust
from jaxshap.engine import cache_programs as cache_programs
from jaxshap.engine import estimate as estimate
from jaxshap.engine import evaluate as evaluate
from jaxshap.engine import shapley_values as shapley_values
from jaxshap.errors import BudgetError as BudgetError
from jaxshap.errors import EvaluationError as EvaluationError
from jaxshap.errors import InputError as InputError
from jaxshap.errors import Interrupted as Interrupted
from jaxshap.errors import MissingExtraError as MissingExtraError
from jaxshap.errors import ModelOutputError as ModelOutputError
from jaxshap.errors import TimeWarning as TimeWarning
from jaxshap.errors import ToleranceWarning as ToleranceWarning
from jaxshap.errors import UnsupportedModelError as UnsupportedModelError
from jaxshap.estimators import MSR as MSR
from jaxshap.estimators import Balanced as Balanced
from jaxshap.estimators import Castro as Castro
from jaxshap.estimators import Estimate as Estimate
from jaxshap.estimators import Estimator as Estimator
from jaxshap.estimators import Exact as Exact
from jaxshap.estimators import Kernel as Kernel
from jaxshap.estimators import Leverage as Leverage
from jaxshap.estimators import OddGP as OddGP
from jaxshap.estimators import OddLinear as OddLinear
from jaxshap.estimators import Owen as Owen
from jaxshap.estimators import Permutation as Permutation
from jaxshap.estimators import Plan as Plan
from jaxshap.estimators import ProjectedSGD as ProjectedSGD
from jaxshap.estimators import RegressionAdjusted as RegressionAdjusted
from jaxshap.estimators import Scattered as Scattered
from jaxshap.estimators import Stratified as Stratified
from jaxshap.estimators import UnbiasedKernel as UnbiasedKernel
from jaxshap.estimators import WithoutReplacement as WithoutReplacement
from jaxshap.explaining import Explanation as Explanation
from jaxshap.explaining import explain as explain
from jaxshap.explaining import load as load
from jaxshap.games import Game as Game
from jaxshap.games import grouped as grouped
from jaxshap.games import make_game as make_game
from jaxshap.games import minus as minus
from jaxshap.games import table as table
from jaxshap.inputs import Players as Players
from jaxshap.inputs import Top as Top
from jaxshap.inputs import WeightedRows as WeightedRows
from jaxshap.inputs import column_groups as column_groups
from jaxshap.inputs import kmeans as kmeans
from jaxshap.inputs import leaves as leaves
from jaxshap.inputs import patches as patches
from jaxshap.inputs import segments as segments
from jaxshap.inputs import together as together
from jaxshap.inputs import tokens as tokens
from jaxshap.interactions import estimate_interactions as estimate_interactions
from jaxshap.report import write_report as write_report
from jaxshap.values import baseline as baseline
from jaxshap.values import conditional as conditional
from jaxshap.values import host as host
from jaxshap.values import manifold as manifold
from jaxshap.values import marginal as marginal

__version__ = _version("jaxshap")
