"""What all pictures share: colours, axes, and how they look."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = "#d55e00", "#56b4e9"  # distinct in greyscale and to the colour-blind
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # to be told apart by dashes too
DIVERGING, SEQUENTIAL = "PuOr", "cividis"


def pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "jaxshap[plots]".') from error
    return pyplot


def new_axes(width: float, height: float) -> "Axes":
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: "Axes") -> "Axes":
    ax.spines[["top", "right"]].set_visible(False)
    return ax
