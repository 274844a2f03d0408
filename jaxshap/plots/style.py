"""What all pictures share: colours, axes, numbers, names and error bars."""

import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from jaxshap.errors import InputTypeError, MissingExtraError
from jaxshap.games import read_whole, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # matplotlib is imported when a picture is drawn, not before

POSITIVE, NEGATIVE = "#d55e00", "#56b4e9"  # distinct in greyscale and to the colour-blind
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
HATCHES, MARKERS = ("", "////", "....", "xxxx"), "osD^vPX"  # tell lines and bars apart in grey
SEQUENTIAL = "cividis"
NEUTRAL, DARK_NEGATIVE = "#f7f7f7", "#0072b2"  # of colour maps for signed values, from end to end
MAX_LINE_CHARACTERS = 56  # of a label below an axis
MAX_NAME_CHARACTERS = 36
MAX_SHORT_NAME_CHARACTERS = 24  # beside bars, beyond which these have little room
MAX_WORDS, MAX_WORD_CHARACTERS = 20, 48  # along an axis: in all, and without turning them
INTERVALS = "95 % intervals"  # what all error bars are
QUANTILE = 1.96  # standard errors on either side hold 95 % where degrees of freedom are unknown


def pyplot() -> Any:
    """matplotlib's pyplot, or how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError('plots need matplotlib: pip install "jaxshap[plots]".') from error
    return pyplot


def new_axes(width: float | int, height: float | int) -> Axes:
    """Axes in a new figure of this size in inches."""
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def given_axes(ax: Any) -> Axes | None:
    """The axes to draw into, or None."""
    if ax is not None and not hasattr(ax, "get_figure"):
        raise InputTypeError(f"ax={shown(ax)}: pass matplotlib's Axes, or None for new ones.")
    return ax


def signed_colours() -> Any:
    """The colour map of signed values: blue below zero, neutral at zero, orange above."""
    pyplot()
    from matplotlib.colors import LinearSegmentedColormap

    ends = [DARK_NEGATIVE, NEGATIVE, NEUTRAL, "#f0a35e", POSITIVE]
    return LinearSegmentedColormap.from_list("signed", ends)


def finished(ax: Axes, show: bool) -> Axes:
    """The axes, shown on the screen where that is asked for."""
    if show:
        pyplot().show()
    return ax


def tidy(ax: Axes) -> Axes:
    """The axes without their upper and right borders."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def largest(sizes: Float[np.ndarray, "n"], most: int) -> Int[np.ndarray, "k"]:
    """The places of the `most` largest, from the largest down."""
    most = read_whole(most, "max_display")
    return np.argsort(-sizes, kind="stable")[:most]


def colours_by_sign(values: Float[np.ndarray, "n"]) -> list[str]:
    """One colour for values from 0 up, another for those below."""
    return [POSITIVE if value >= 0 else NEGATIVE for value in values]


def draw_errors(
    ax: Axes,
    lengths: Float[np.ndarray, "n"],
    heights: Shaped[np.ndarray, "n"],
    errors: Float[np.ndarray, "n"],
) -> None:
    """Draw horizontal error bars where errors are known and not 0."""
    known = errors > 0  # NaN is not
    look: dict[str, Any] = {"fmt": "none", "ecolor": "black", "capsize": 3, "lw": 1, "zorder": 3}
    ax.errorbar(lengths[known], heights[known], xerr=errors[known], **look)


def error_words(errors: Float[np.ndarray, "..."], bars: str = INTERVALS) -> str:
    """What the error bars of a picture are, or why there are none."""
    if np.isnan(errors).all():
        return "no error bars: errors not known"
    if np.isnan(errors).any():
        return f"{bars}, where known"
    return bars if errors.any() else "exact"


def wrapped(*lines: str) -> str:
    """Lines short enough to stand below the axes; brackets stay whole where they can."""
    short = []
    for line in "\n".join(lines).splitlines():
        start, bracket, rest = line.partition(" (")
        fits = len(line) <= MAX_LINE_CHARACTERS or not bracket
        for piece in [line] if fits else [start, f"({rest}"]:
            short += textwrap.wrap(piece, MAX_LINE_CHARACTERS)
    return "\n".join(short)


def smaller_not_shown(hidden: int) -> str:
    """A note on bars that are not drawn."""
    return f"{hidden:,} smaller one{'s' * (hidden > 1)} not shown" if hidden else ""


def shortened(name: str, most: int = MAX_NAME_CHARACTERS) -> str:
    """A name without its middle where it is long; a $ does not begin a formula."""
    half = (most - 1) // 2
    if len(name) > most:
        name = f"{name[: most - 1 - half].rstrip()}…{name[-half:].lstrip()}"
    return name.replace("$", r"\$")


def told_apart(names: Sequence[str]) -> list[str]:
    """Names, shortened; those that this makes alike lose the beginning that they share."""
    short = list(map(shortened, names))
    for alike in {text for text in short if short.count(text) > 1}:
        places = [place for place, text in enumerate(short) if text == alike]
        letters = zip(*(names[place] for place in places), strict=False)
        shared = len(list(itertools.takewhile(lambda each: len(set(each)) == 1, letters)))
        for place in places:
            short[place] = shortened(f"…{names[place][shared:]}")
    return short


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Put names at 0, 1, … from the top down."""
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    names_are_long = max(map(len, names), default=0) > MAX_SHORT_NAME_CHARACTERS
    if names_are_long or max(map(abs, ax.get_xlim())) >= 1e4:
        ax.locator_params(axis="x", nbins=4)  # matplotlib leaves too little room for long numbers


def name_codes(ax: Axes, words: Sequence[str] | None) -> None:
    """Write words at 0, 1, … along the x axis, where they are what its numbers stand for."""
    if words is not None and len(words) <= MAX_WORDS:
        many = sum(map(len, words)) > MAX_WORD_CHARACTERS
        look: dict[str, Any] = {"rotation": 35, "ha": "right"} if many else {}
        ax.set_xticks(np.arange(len(words)), [shortened(word, 20) for word in words], **look)


def legend_beside(ax: Axes) -> None:
    """Put the legend where it hides neither bars nor a title."""
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, handlelength=2.5)
