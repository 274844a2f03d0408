"""explain() and the Explanation it returns."""

from jaxshap.explaining.explainer import explain as explain
from jaxshap.explaining.explanation import Explanation as Explanation
from jaxshap.explaining.explanation import Summary as Summary
from jaxshap.explaining.explanation import load as load

__all__ = [
    "Explanation",
    "Summary",
    "explain",
    "load",
]
