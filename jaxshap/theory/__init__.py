"""Theory: the spectrum of the Shapley regression, error bounds of estimators, and sample sizes.

Throughout, F(φ) = Σ_S w_S (v(S) − v(∅) − Σ_{i∈S} φ_i)² with the Shapley kernel w, whose Hessian is
2 X'WX. `bound`, written C, bounds |v(S) − v(∅)|; `radius`, written D, bounds ‖φ‖.
"""

from jaxshap.theory.bounds import condition as condition
from jaxshap.theory.bounds import constant_step_bound as constant_step_bound
from jaxshap.theory.bounds import gradient_bound as gradient_bound
from jaxshap.theory.bounds import inverse_step_bound as inverse_step_bound
from jaxshap.theory.bounds import root_step_bound as root_step_bound
from jaxshap.theory.eigenvalues import Spectrum as Spectrum
from jaxshap.theory.eigenvalues import check_step as check_step
from jaxshap.theory.eigenvalues import gram_matrix as gram_matrix
from jaxshap.theory.eigenvalues import spectrum as spectrum
from jaxshap.theory.eigenvalues import strong_convexity as strong_convexity
from jaxshap.theory.last_iterate import ConstantSteps as ConstantSteps
from jaxshap.theory.last_iterate import constant_steps as constant_steps
from jaxshap.theory.regression import leverage_draws as leverage_draws
from jaxshap.theory.sample_sizes import chebyshev as chebyshev
from jaxshap.theory.sample_sizes import chebyshev_draws as chebyshev_draws
from jaxshap.theory.sample_sizes import deviation as deviation
from jaxshap.theory.sample_sizes import inverse_steps as inverse_steps
from jaxshap.theory.sample_sizes import markov as markov
from jaxshap.theory.sample_sizes import root_steps as root_steps

__all__ = [
    "ConstantSteps",
    "Spectrum",
    "chebyshev",
    "chebyshev_draws",
    "check_step",
    "condition",
    "constant_step_bound",
    "constant_steps",
    "deviation",
    "gradient_bound",
    "gram_matrix",
    "inverse_step_bound",
    "inverse_steps",
    "leverage_draws",
    "markov",
    "root_step_bound",
    "root_steps",
    "spectrum",
    "strong_convexity",
]
