"""Pictures: matplotlib axes in, axes out; shap's own plots through `to_shap`, ours where shap has
none.
"""

from jaxshap.plots.attributions import bar as bar
from jaxshap.plots.attributions import waterfall as waterfall
from jaxshap.plots.budgets import convergence as convergence
from jaxshap.plots.comparisons import classes as classes
from jaxshap.plots.comparisons import compare as compare
from jaxshap.plots.components import component_bars as component_bars
from jaxshap.plots.dependence import scatter as scatter
from jaxshap.plots.distributions import group_difference as group_difference
from jaxshap.plots.distributions import violin as violin
from jaxshap.plots.effects import ale as ale
from jaxshap.plots.effects import ice as ice
from jaxshap.plots.effects import pdp as pdp
from jaxshap.plots.fairness import disparity as disparity
from jaxshap.plots.forces import decision as decision
from jaxshap.plots.forces import force as force
from jaxshap.plots.images import patches as patches
from jaxshap.plots.interaction_sets import interaction_bars as interaction_bars
from jaxshap.plots.interaction_sets import interaction_stack as interaction_stack
from jaxshap.plots.interactions import interaction_heatmap as interaction_heatmap
from jaxshap.plots.interactions import interaction_network as interaction_network
from jaxshap.plots.lime import lime_stability as lime_stability
from jaxshap.plots.series import series as series
from jaxshap.plots.shap_media import image as image
from jaxshap.plots.shap_media import text as text
from jaxshap.plots.shap_plots import beeswarm as beeswarm
from jaxshap.plots.shap_plots import heatmap as heatmap
from jaxshap.plots.shap_plots import shap_bar as shap_bar
from jaxshap.plots.shap_plots import shap_waterfall as shap_waterfall
from jaxshap.plots.shares import residual_shares as residual_shares
from jaxshap.plots.style import NEGATIVE as NEGATIVE
from jaxshap.plots.style import POSITIVE as POSITIVE
from jaxshap.plots.trust import credible_intervals as credible_intervals
from jaxshap.plots.trust import diagnosis as diagnosis

__all__ = [
    "ale",
    "bar",
    "beeswarm",
    "classes",
    "compare",
    "component_bars",
    "convergence",
    "credible_intervals",
    "decision",
    "diagnosis",
    "disparity",
    "force",
    "group_difference",
    "heatmap",
    "ice",
    "image",
    "interaction_bars",
    "interaction_heatmap",
    "interaction_network",
    "interaction_stack",
    "lime_stability",
    "patches",
    "pdp",
    "residual_shares",
    "scatter",
    "series",
    "shap_bar",
    "shap_waterfall",
    "text",
    "violin",
    "waterfall",
]
