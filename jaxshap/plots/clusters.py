"""A clustering of features beside their bars."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.plots.style import Axes

WIDTH = 0.16  # of the brackets, as a share of that of the axes


def clustered_order(linkage: Any, chosen: Int[np.ndarray, "k"], number: int) -> list[int]:
    """The chosen features with those that are clustered side by side; the others are left out."""
    from scipy.cluster.hierarchy import leaves_list

    linkage = np.asarray(linkage, np.float64)
    if linkage.shape != (number - 1, 4):
        raise InputError(
            f"clustering has shape {linkage.shape} for {number} features: pass a linkage of "
            f"features, ({number - 1}, 4), such as scipy.cluster.hierarchy.linkage(X.T)."
        )
    wanted = set(chosen.tolist())
    return [int(leaf) for leaf in leaves_list(linkage) if int(leaf) in wanted]


def draw_brackets(ax: Axes, linkage: Any, order: list[int], cutoff: float) -> None:
    """Draw which features belong together, on the right: long brackets where they hardly do."""
    number = len(linkage) + 1
    side = ax.inset_axes((1.02, 0, WIDTH, 1), sharey=ax)
    side.axis("off")
    height: dict[int, float] = {feature: float(place) for place, feature in enumerate(order)}
    reached: dict[int, float] = dict.fromkeys(order, 0.0)
    for merge, (first, second, distance, _) in enumerate(_rows(linkage)):
        children = [child for child in (int(first), int(second)) if child in height]
        if len(children) == 2:
            up, down = (height[child] for child in children)
            x = [reached[children[0]], distance, distance, reached[children[1]]]
            if distance <= cutoff:
                side.plot(x, [up, up, down, down], color="0.35", lw=1)
            reached[number + merge] = distance
        elif children:
            reached[number + merge] = reached[children[0]]
        if children:
            height[number + merge] = sum(height[child] for child in children) / len(children)
    side.set_xlim(0, max(reached.values(), default=1) * 1.02 or 1)


def _rows(linkage: Any) -> list[list[float]]:
    rows: Float[np.ndarray, "merges 4"] = np.asarray(linkage, np.float64)
    return rows.tolist()
