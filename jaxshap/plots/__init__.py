"""Pictures: matplotlib axes in, axes out; shap's own plots through `to_shap`, ours where shap has none."""

from jaxshap.plots.effects import ale as ale
from jaxshap.plots.effects import ice as ice
from jaxshap.plots.effects import pdp as pdp
from jaxshap.plots.explanations import bar as bar
from jaxshap.plots.explanations import beeswarm as beeswarm
