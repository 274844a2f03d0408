"""The engine: where games are evaluated in batches, and where plan, evaluate and solve are strung
together.
"""

from jaxshap.engine.allocation import neyman_allocation as neyman_allocation
from jaxshap.engine.compilation import compiled as compiled
from jaxshap.engine.evaluation import BatchSize as BatchSize
from jaxshap.engine.evaluation import evaluate as evaluate
from jaxshap.engine.evaluation import evaluate_all as evaluate_all
from jaxshap.engine.evaluation import is_traced as is_traced
from jaxshap.engine.exact_values import shapley_values as shapley_values
from jaxshap.engine.memory import bucket as bucket
from jaxshap.engine.memory import byte_limit as byte_limit
from jaxshap.engine.memory import bytes_of_call as bytes_of_call
from jaxshap.engine.runner import default_budget as default_budget
from jaxshap.engine.runner import estimate as estimate
from jaxshap.engine.runner import make_plan as make_plan
from jaxshap.engine.runner import plan_size as plan_size
from jaxshap.engine.runner import settle as settle
from jaxshap.engine.runner import solve as solve

__all__ = [
    "estimate",
    "evaluate",
    "neyman_allocation",
    "shapley_values",
]
