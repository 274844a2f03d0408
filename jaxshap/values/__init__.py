"""Value functions: what "absent" means. Each makes a Game of a model, rows and a background."""

from jaxshap.inputs import check_outputs as check_outputs
from jaxshap.inputs import checked_table as checked_table
from jaxshap.inputs import checked_weights as checked_weights
from jaxshap.values.baseline_game import baseline as baseline
from jaxshap.values.conditional_game import conditional as conditional
from jaxshap.values.conditioning import Copula as Copula
from jaxshap.values.conditioning import Gaussian as Gaussian
from jaxshap.values.conditioning import How as How
from jaxshap.values.conditioning import Nearby as Nearby
from jaxshap.values.host_masked import HostMasked as HostMasked
from jaxshap.values.host_masked import distinct_inputs as distinct_inputs
from jaxshap.values.host_model import host as host
from jaxshap.values.manifold_game import manifold as manifold
from jaxshap.values.marginal_game import marginal as marginal
from jaxshap.values.masked import Masked as Masked
from jaxshap.values.masked import masked_game as masked_game
from jaxshap.values.masked import rematerialise as rematerialise
from jaxshap.values.mixing import masks as masks
from jaxshap.values.outputs import bytes_per_point_of as bytes_per_point_of
from jaxshap.values.prediction import predictions as predictions
from jaxshap.values.protocol import ValueFunction as ValueFunction
from jaxshap.values.protocol import needs_background as needs_background
from jaxshap.values.repeatability import check_few_rows as check_few_rows
from jaxshap.values.repeatability import check_repeatable as check_repeatable
from jaxshap.values.repeatability import check_unchanged as check_unchanged
from jaxshap.values.support import Score as Score
from jaxshap.values.support import Support as Support
from jaxshap.values.support import learn_support as learn_support

__all__ = [
    "Copula",
    "Gaussian",
    "How",
    "Nearby",
    "ValueFunction",
    "baseline",
    "conditional",
    "host",
    "manifold",
    "marginal",
]
