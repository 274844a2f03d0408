"""explain() and the Explanation it returns."""

from jaxshap.explaining.caution import caution as caution
from jaxshap.explaining.cohorts import Cohorts as Cohorts
from jaxshap.explaining.display import certainty as certainty
from jaxshap.explaining.explainer import explain as explain
from jaxshap.explaining.explanation import Explanation as Explanation
from jaxshap.explaining.limits import Clock as Clock
from jaxshap.explaining.limits import read_clock as read_clock
from jaxshap.explaining.loading import load as load
from jaxshap.explaining.problem import Problem as Problem
from jaxshap.explaining.problem import read_problem as read_problem
from jaxshap.explaining.rounds import check_worths as check_worths
from jaxshap.explaining.source import Source as Source
from jaxshap.explaining.summary import Summary as Summary
from jaxshap.explaining.summary import read_labels_of_rows as read_labels_of_rows
from jaxshap.explaining.wording import half_intervals as half_intervals
from jaxshap.explaining.wording import number_text as number_text
from jaxshap.explaining.wording import plural as plural
from jaxshap.explaining.wording import shown_output as shown_output
from jaxshap.explaining.wording import shown_values as shown_values

__all__ = ["Cohorts", "Explanation", "Summary", "explain", "load"]
