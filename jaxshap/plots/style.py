"""What all pictures share: colours, axes, numbers and error bars, and how they look."""

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = "#d55e00", "#56b4e9"  # distinct in greyscale and to the colour-blind
LINES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
)  # to be told apart by dashes too
HATCHES, MARKERS = ("", "////", "....", "xxxx"), "osD^vPX"
DIVERGING, SEQUENTIAL = "PuOr", "cividis"
WIDEST = 56  # characters below an axis
SURE = 1.96  # standard errors either side hold 95 % of normal errors


def pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError('plots need matplotlib: pip install "jaxshap[plots]".') from error
    return pyplot


def new_axes(width: float, height: float) -> "Axes":
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: "Axes") -> "Axes":
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def largest(sizes: Float[np.ndarray, "n"], most: int) -> Int[np.ndarray, "k"]:
    """The places of the `most` largest, from the largest down."""
    if most < 1:
        raise InputError(f"most={most}: pass how many to draw, 1 or more.")
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
        lengths[known],
        heights[known],
        xerr=errors[known],
        fmt="none",
        ecolor="black",
        capsize=3,
        lw=1,
        zorder=3,
    )


def error_words(errors: Float[np.ndarray, "..."]) -> str:
    """What the error bars of a picture are; or why there are none."""
    if np.isnan(errors).all():
        return "no error bars: errors not known"
    if np.isnan(errors).any():
        return f"± {SURE} standard errors, where known"
    return f"± {SURE} standard errors" if errors.any() else "exact"


def number_text(value: float, error: float = 0.0, *, signed: bool = False) -> str:
    """Three digits; with an error that is known and not 0, two digits of this and as many places of
    the value.
    """
    sign, known = "+" if signed else "", error > 0
    size = max(abs(value), error if known else 0)
    if not known or not 1e-4 <= size < 1e7:
        text = f"{value:{sign}z,.0f}" if 1e3 <= size < 1e7 else f"{value:{sign}.3g}"
        return (text + (f" ± {error:.1g}" if known else "")).replace("-", "−")
    digits, of_error = (math.floor(math.log10(number)) for number in (size, error))
    places = max(0, min(3 - digits, 1 - of_error))  # no more than four digits of the value
    spread = f"{error:,.{places}f}"
    spread = spread if spread.strip("0.,") else f"{error:.1g}"
    return f"{value:{sign}z,.{places}f} ± {spread}".replace("-", "−")


def wrapped(*lines: str) -> str:
    """Lines short enough to stand below the axes, wherever these begin; brackets stay whole where
    they can.
    """
    found = []
    for line in "\n".join(lines).splitlines():
        first, bracket, rest = line.partition(" (")
        parts = [line] if len(line) <= WIDEST or not bracket else [first, f"({rest}"]
        found += [short for part in parts for short in textwrap.wrap(part, WIDEST)]
    return "\n".join(found)


def smaller_not_shown(hidden: int) -> str:
    return f"{hidden:,} smaller one{'s' * (hidden > 1)} not shown" if hidden else ""


def shortened(name: str, most: int = 36) -> str:
    """Names may differ at either end: the middle goes. A $ stays a $, of which two would begin and
    end a formula.
    """
    half = (most - 1) // 2
    short = (
        name if len(name) <= most else f"{name[: most - 1 - half].rstrip()}…{name[-half:].lstrip()}"
    )
    return short.replace("$", r"\$")


def told_apart(names: Sequence[str]) -> list[str]:
    """Names, shortened; those that this makes alike, without the beginning that they share."""
    short = list(map(shortened, names))
    for alike in {text for text in short if short.count(text) > 1}:
        places = [place for place, text in enumerate(short) if text == alike]
        letters = zip(*(names[place] for place in places), strict=False)
        shared = len(list(itertools.takewhile(lambda each: len(set(each)) == 1, letters)))
        for place in places:
            short[place] = shortened(f"…{names[place][shared:]}")
    return short


def name_rows(ax: "Axes", names: Sequence[str]) -> None:
    """Names at 0, 1, … from the top down."""
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    if max(map(abs, ax.get_xlim())) >= 1e4:
        ax.locator_params(axis="x", nbins=4)  # matplotlib leaves too little room for long numbers


def legend_beside(ax: "Axes") -> None:
    """Where it hides neither bars nor a title."""
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, handlelength=2.5)
