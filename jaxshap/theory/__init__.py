"""Theory: the spectrum of the least-squares problem, and error bounds and sample sizes of
estimators.
"""

from jaxshap.theory.bounds import check_step as check_step
from jaxshap.theory.bounds import gradient_bound as gradient_bound
from jaxshap.theory.bounds import spectrum as spectrum
from jaxshap.theory.bounds import strong_convexity as strong_convexity
