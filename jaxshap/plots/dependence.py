"""A feature's values over what the feature was."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError, InputTypeError
from jaxshap.explaining import Explanation
from jaxshap.games import read_number, shown
from jaxshap.plots.selection import one_output, what_of_rows
from jaxshap.plots.shap_calls import import_shap, numbers_as_shap, undisturbed
from jaxshap.plots.style import (
    MAX_WORDS,
    SEQUENTIAL,
    Axes,
    finished,
    given_axes,
    name_codes,
    new_axes,
    pyplot,
    shortened,
)


def scatter(
    explanation: Explanation,
    feature: str | int | None = None,
    *,
    color: Any = "black",
    dot_size: float = 16,
    alpha: float = 1.0,
    hist: bool = True,
    show: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw shap's scatter: a feature's values over what the feature was, one point per row.

    Args:
        explanation: the explanation of one output, of a table.
        feature: the feature to draw, by name or number; not needed where there is one, as in
            `ex[:, "age"]`.
        color: a feature that the points are coloured by, by name, by number or as an explanation of
            it, such as `ex[:, "pay"]`; of an explanation of several features, the one that goes
            best with the values' differences among like rows; or one colour, black by default.
        dot_size: the area of a point, in square points; 16 by default.
        alpha: the opacity of points, 1 by default.
        hist: whether a histogram stands behind the points of a feature of numbers.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several outputs, or features are not columns of a table.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1], X, X, feature_names=["age", "pay"])
        >>> jaxshap.plots.scatter(ex, "age", color="pay").get_xlabel()
        'age'
    """
    explanation = one_output(explanation, "scatter")
    if explanation.data_of_features is None:
        raise InputError(
            "scatter needs what each feature was, and here features are not columns of a table."
        )
    if feature is None and len(explanation.feature_names) > 1:
        raise InputError("scatter draws one feature: name it, as in scatter(ex, 'age').")
    own, shap = explanation[:, 0 if feature is None else feature], import_shap()
    if own.shape[1] != 1:
        raise InputError(f"feature={shown(feature)} is not one feature: scatter draws one.")
    drawn = numbers_as_shap(own)[:, 0]
    ax = given_axes(ax) or new_axes(6.5, 4.5)
    is_feature = _is_feature(color, explanation)
    name, points, other = own.feature_names[0], None, None
    if is_feature:
        other = one_output(color, "scatter") if isinstance(color, Explanation) else explanation
        other = other if isinstance(color, Explanation) else other[:, color]
        other = other[:, _best_colour(drawn, numbers_as_shap(other))]
        points = numbers_as_shap(other)[:, 0]
    else:
        points = _as_hex(color)
    with undisturbed():
        colours = pyplot().get_cmap(SEQUENTIAL)
        look: dict[str, Any] = {"cmap": colours, "dot_size": read_number(dot_size, "dot_size")}
        look["alpha"] = read_number(alpha, "alpha", least=0, most=1)
        look["hist"] = hist and name not in own.words
        shap.plots.scatter(drawn, color=points, ax=ax, show=False, **look)
    ax.set(xlabel=shortened(name), ylabel=f"{what_of_rows(own)}\nof {shortened(name)}")
    name_codes(ax, own.words.get(name))
    colour_bars = [dots.colorbar for dots in ax.collections if dots.colorbar is not None]
    if colour_bars and other is not None:
        _name_colours(colour_bars[0].ax, other.words.get(other.feature_names[0]))
    return finished(ax, show)


def _is_feature(color: Any, explanation: Explanation) -> bool:
    """Whether it names a feature, or else a colour."""
    pyplot()
    from matplotlib.colors import is_color_like

    if isinstance(color, Explanation | int) and not isinstance(color, bool):
        return True
    if isinstance(color, str) and color in explanation.feature_names:
        return True
    if not isinstance(color, str | tuple | list | np.ndarray) or not is_color_like(color):
        raise InputTypeError(
            f"color={shown(color)} is neither a feature nor a colour: pass the name or number of "
            "one of the features, or a colour that matplotlib knows, such as 'black'."
        )
    return False


def _best_colour(drawn: Any, candidates: Any) -> int:
    """The feature that goes best with the differences of values among like rows."""
    if candidates.shape[1] == 1:
        return 0
    with undisturbed():
        return int(import_shap().utils.potential_interactions(drawn, candidates)[0])


def _as_hex(color: Any) -> str:
    """A colour as text, since shap takes arrays for one colour per point."""
    from matplotlib.colors import to_hex

    return to_hex(color, keep_alpha=True)


def _name_colours(colour_bar: Axes, words: Sequence[str] | None) -> None:
    """Write the words that numbers stand for beside their colours."""
    if words is not None and len(words) <= MAX_WORDS:
        low, high = colour_bar.get_ylim()
        places = [place for place in range(len(words)) if low <= place <= high]
        colour_bar.set_yticks(places, [shortened(words[place], 20) for place in places])
