"""Shapley values for JAX: accurate, fast, differentiable, with honest error bars."""

from jaxshap.estimation import estimate as estimate
from jaxshap.estimator import Estimate as Estimate
from jaxshap.estimator import Estimator as Estimator
from jaxshap.estimator import Plan as Plan
from jaxshap.estimators.exact import Exact as Exact
from jaxshap.estimators.exact import shapley_values as shapley_values
from jaxshap.estimators.kernel import Kernel as Kernel
from jaxshap.estimators.permutation import Permutation as Permutation
from jaxshap.evaluation import EvaluationError as EvaluationError
from jaxshap.evaluation import Interrupted as Interrupted
from jaxshap.evaluation import evaluate as evaluate
from jaxshap.explainer import explain as explain
from jaxshap.explanation import Explanation as Explanation
from jaxshap.explanation import load as load
from jaxshap.game import Game as Game
from jaxshap.game import grouped as grouped
from jaxshap.game import make_game as make_game
from jaxshap.game import minus as minus
from jaxshap.game import table as table
from jaxshap.values.baseline import baseline as baseline
from jaxshap.values.host import host as host
from jaxshap.values.marginal import marginal as marginal
