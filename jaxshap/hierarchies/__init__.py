"""Players in groups, groups in groups: Owen and Winter values, and a search from the top down.

They are not the Shapley values of the players: a group enters as a whole before another begins.
Each group has the Shapley value of its level, which its members share among themselves.
"""

from jaxshap.hierarchies.hierarchy import Hierarchy as Hierarchy
from jaxshap.hierarchies.hierarchy import hierarchy as hierarchy
from jaxshap.hierarchies.hierarchy import hierarchy_of_blocks as hierarchy_of_blocks
from jaxshap.hierarchies.hierarchy import hierarchy_of_labels as hierarchy_of_labels
from jaxshap.hierarchies.hierarchy import hierarchy_of_linkage as hierarchy_of_linkage
from jaxshap.hierarchies.search import top_down as top_down
from jaxshap.hierarchies.search_result import Parts as Parts
from jaxshap.hierarchies.winter import Winter as Winter

__all__ = [
    "Hierarchy",
    "Parts",
    "Winter",
    "hierarchy",
    "hierarchy_of_blocks",
    "hierarchy_of_labels",
    "hierarchy_of_linkage",
    "top_down",
]
