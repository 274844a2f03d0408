"""The list of all estimators, each of which can be made without arguments."""

from jaxshap.estimators.adjusted import RegressionAdjusted
from jaxshap.estimators.balanced import Balanced
from jaxshap.estimators.balanced_first import BalancedFirst
from jaxshap.estimators.castro import Castro
from jaxshap.estimators.distinct import DistinctGains
from jaxshap.estimators.exact import Exact
from jaxshap.estimators.kernel import Kernel, Leverage
from jaxshap.estimators.odd.gaussian_process import OddGP
from jaxshap.estimators.odd.linear_rule import OddLinear
from jaxshap.estimators.owen import Owen
from jaxshap.estimators.permutation import Permutation
from jaxshap.estimators.protocol import Estimator
from jaxshap.estimators.scattered import Scattered
from jaxshap.estimators.sgd import ProjectedSGD
from jaxshap.estimators.stratified import Stratified, WithoutReplacement
from jaxshap.estimators.unbiased import MSR, UnbiasedKernel

ESTIMATORS: tuple[type[Estimator], ...] = (
    Balanced,
    BalancedFirst,
    Castro,
    DistinctGains,
    Exact,
    Kernel,
    Leverage,
    MSR,
    OddGP,
    OddLinear,
    Owen,
    Permutation,
    ProjectedSGD,
    RegressionAdjusted,
    Scattered,
    Stratified,
    UnbiasedKernel,
    WithoutReplacement,
)
