"""Pictures: matplotlib axes in, axes out; shap's own plots through `to_shap`, ours where shap has none."""

from jaxshap.plots.effects import ale as ale
from jaxshap.plots.effects import ice as ice
from jaxshap.plots.effects import pdp as pdp
from jaxshap.plots.explanations import bar as bar
from jaxshap.plots.explanations import beeswarm as beeswarm
from jaxshap.plots.fairness import disparity as disparity
from jaxshap.plots.interactions import component_bars as component_bars
from jaxshap.plots.interactions import interaction_heatmap as interaction_heatmap
from jaxshap.plots.interactions import interaction_network as interaction_network
from jaxshap.plots.local_surrogate import lime_stability as lime_stability
