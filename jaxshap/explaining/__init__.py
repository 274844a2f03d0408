"""explain() and the Explanation it returns."""

from jaxshap.explaining.explainer import explain as explain
from jaxshap.explaining.explanation import Explanation as Explanation
from jaxshap.explaining.loading import load as load
from jaxshap.explaining.summary import Summary as Summary

__all__ = ["Explanation", "Summary", "explain", "load"]
