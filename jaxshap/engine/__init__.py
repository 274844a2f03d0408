"""The engine: games are evaluated here in batches, and plan, evaluate and solve strung together."""

from jaxshap.engine.allocation import neyman_allocation as neyman_allocation
from jaxshap.engine.batches import BatchSize as BatchSize
from jaxshap.engine.batches import check_batch_size as check_batch_size
from jaxshap.engine.batches import is_traced as is_traced
from jaxshap.engine.batches import shared_batch_size as shared_batch_size
from jaxshap.engine.checkpoint import num_stored as num_stored
from jaxshap.engine.compilation import compiled as compiled
from jaxshap.engine.compilation import jitted_with_model as jitted_with_model
from jaxshap.engine.defaults import default_budget as default_budget
from jaxshap.engine.defaults import default_process as default_process
from jaxshap.engine.defaults import read_budget as read_budget
from jaxshap.engine.defaults import read_estimator as read_estimator
from jaxshap.engine.defaults import read_key as read_key
from jaxshap.engine.distinct import Distinct as Distinct
from jaxshap.engine.distinct import distinct_rows as distinct_rows
from jaxshap.engine.enumeration import enumerated as enumerated
from jaxshap.engine.enumeration import is_complete as is_complete
from jaxshap.engine.estimation import estimate as estimate
from jaxshap.engine.evaluation import evaluate as evaluate
from jaxshap.engine.evaluation import evaluate_all as evaluate_all
from jaxshap.engine.exact_values import shapley_values as shapley_values
from jaxshap.engine.memory import bucket as bucket
from jaxshap.engine.memory import byte_limit as byte_limit
from jaxshap.engine.memory import bytes_of_call as bytes_of_call
from jaxshap.engine.memory import bytes_of_trace as bytes_of_trace
from jaxshap.engine.memory import trace as trace
from jaxshap.engine.options import Options as Options
from jaxshap.engine.options import read_options as read_options
from jaxshap.engine.plans import is_enough as is_enough
from jaxshap.engine.plans import least_budget as least_budget
from jaxshap.engine.plans import make_plan as make_plan
from jaxshap.engine.plans import plan_size as plan_size
from jaxshap.engine.program_cache import cache_programs as cache_programs
from jaxshap.engine.runner import Answers as Answers
from jaxshap.engine.runner import Run as Run
from jaxshap.engine.runner import answer as answer
from jaxshap.engine.runner import ask as ask
from jaxshap.engine.runner import run as run
from jaxshap.engine.runner import salvage as salvage
from jaxshap.engine.runner import solve as solve
from jaxshap.engine.runner import solve_each as solve_each
from jaxshap.engine.runner import strata_for as strata_for
from jaxshap.engine.units import check_squares as check_squares
from jaxshap.engine.units import unit_over_first as unit_over_first

__all__ = ["cache_programs", "estimate", "evaluate", "neyman_allocation", "shapley_values"]
