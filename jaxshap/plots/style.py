"""What all pictures share: colours, axes, numbers and error bars, and how they look."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = "#d55e00", "#56b4e9"  # distinct in greyscale and to the colour-blind
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # to be told apart by dashes too
HATCHES, MARKERS = ("", "////", "....", "xxxx"), "osD^vPX"
DIVERGING, SEQUENTIAL = "PuOr", "cividis"
SURE = 1.96  # standard errors either side hold 95 % of normal errors


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


def largest(sizes: Float[np.ndarray, "n"], most: int) -> Int[np.ndarray, "k"]:
    """The places of the `most` largest, from the largest down."""
    if most < 1:
        raise ValueError(f"most={most}: pass how many to draw, 1 or more.")
    return np.argsort(-sizes, kind="stable")[:most]


def draw_errors(
    ax: "Axes",
    lengths: Float[np.ndarray, "n"],
    heights: Float[np.ndarray, "n"],
    errors: Float[np.ndarray, "n"],
) -> None:
    """Horizontal error bars where errors are known and not 0."""
    known = errors > 0  # NaN is not
    ax.errorbar(
        lengths[known], heights[known], xerr=errors[known], fmt="none", ecolor="black", capsize=3, lw=1, zorder=3
    )


def error_words(errors: Float[np.ndarray, "..."]) -> str:
    """What the error bars of a picture are; or why there are none."""
    if np.isnan(errors).all():
        return "no error bars: standard errors are not known"
    if np.isnan(errors).any():
        return f"± {SURE} standard errors, where known"
    return f"± {SURE} standard errors" if errors.any() else "exact"


def number_text(value: float, error: float = 0.0, *, signed: bool = False) -> str:
    """Three digits, and an error of one where it is known and not 0."""
    sign = "+" if signed else ""
    large = 1e3 <= abs(value) < 1e7
    text = f"{value:{sign},.0f}" if large else f"{value:{sign}.3g}"
    if error > 0:
        text += f" ± {error:,.0f}" if 10 <= error < 1e7 else f" ± {error:.1g}"
    return text.replace("-", "−")


def shortened(name: str, most: int = 36) -> str:
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"


def legend_above(ax: "Axes", names: Sequence[str]) -> None:
    """Where it hides nothing."""
    columns = max(1, min(len(names), 60 // (4 + max(map(len, names)))))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, fontsize=9, handlelength=2.5)
