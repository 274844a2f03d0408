"""shap's own plots of images and texts."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import check_kind
from jaxshap.plots.pixels import checked_owner, grey_images, on_pixels
from jaxshap.plots.selection import check_not_empty, one_output
from jaxshap.plots.shap_calls import import_shap, undisturbed
from jaxshap.plots.style import NEGATIVE, POSITIVE, pyplot, signed_colours

RGB = re.compile(
    r"(?P<start>rgba?\()(?P<red>[\d.]+),\s*(?P<green>[\d.]+),\s*(?P<blue>[\d.]+)"
)  # a colour in HTML, up to its opacity


def image(explanation: Explanation, owner: Any = None) -> np.ndarray:
    """Draw shap's images: each row's image, then its values, orange for and blue against.

    They stand in a figure of their own. `patches` is jaxshap's own picture, and shows which
    signs are certain.

    Args:
        explanation: the explanation of rows whose players are patches or segments.
        owner: the player that owns each pixel, (height, width); by default what the explanation
            remembers of its players.

    Returns:
        An array of axes, (rows, 1 + outputs).

    Raises:
        InputError: the owner does not fit the explanation, or there is nothing to draw.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> players, images = jaxshap.patches((4, 4), 2), np.ones((3, 4, 4))
        >>> def model(x):
        ...     return x[:, :2, :2].sum((1, 2))
        >>> ex = jaxshap.explain(model, images, 0 * images, groups=players)
        >>> jaxshap.plots.image(ex).shape
        (3, 2)
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    check_not_empty(explanation, "image")
    owner, shap = checked_owner(explanation, owner), import_shap()
    values = explanation.values
    pixels = on_pixels(values.reshape(*values.shape[:2], -1), owner)
    outputs = [pixels[..., number, None] for number in range(pixels.shape[-1])]
    names = None if explanation.output_names is None else list(explanation.output_names)
    images = grey_images(explanation, owner)[..., None]
    with undisturbed():
        shap.plots.image(outputs, images, labels=names, cmap=signed_colours(), show=False)
    *axes, colour_bar = pyplot().gcf().axes
    colour_bar.set_xlabel(explanation.kind)
    return np.array(axes, object).reshape(len(explanation), -1)


def text(explanation: Explanation, tokens: Sequence[Sequence[str]] | None = None) -> str:
    """shap's text: words in the colours of their values, as HTML.

    Show it with `IPython.display.HTML`.

    Args:
        explanation: the explanation of one output whose features are words.
        tokens: the words of each row; by default the names of the features.

    Returns:
        The HTML.

    Raises:
        InputError: there are several outputs, or not one word per feature in every row.
        MissingExtraError: matplotlib or shap is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> players = jaxshap.tokens(3, ["not", "so", "bad"])
        >>> row = np.ones((1, 3))
        >>> ex = jaxshap.explain(lambda x: x @ np.ones(3), row, 0 * row, groups=players)
        >>> "bad" in jaxshap.plots.text(ex)
        True
    """
    explanation = one_output(explanation, "text")
    shap = import_shap()
    rows, features = explanation.values.shape
    words = [explanation.feature_names] * rows if tokens is None else tokens
    check_kind(words, (list, tuple, np.ndarray), "tokens", "a list of the words of each row")
    if not np.iterable(words) or list(map(_num_words, words)) != [features] * rows:
        raise InputError(f"tokens= must be {features} words for each of {rows} rows.")
    drawn = shap.Explanation(
        values=explanation.values.copy(),
        base_values=explanation.base_values.copy(),
        data=np.array([[f"{word} " for word in row] for row in words], object),
    )
    # Without legacy printing, colours read np.float64(30.0), which no browser knows.
    with undisturbed(), np.printoptions(legacy="1.25"):
        page = shap.plots.text(drawn[0] if rows == 1 else drawn, display=False)
    return RGB.sub(_our_colour, page)


def _num_words(row: Any) -> int:
    is_flat = isinstance(row, list | tuple) or getattr(row, "ndim", 0) == 1
    return len(row) if is_flat else 0


def _our_colour(theirs: re.Match) -> str:
    """Orange where shap has shades of red and blue where it has blue; grey stays grey."""
    red, _, blue = map(float, theirs.group("red", "green", "blue"))
    if red == blue:
        return theirs.group()
    ours = POSITIVE if red > blue else NEGATIVE
    numbers = [str(int(ours[place : place + 2], 16)) for place in (1, 3, 5)]
    return f"{theirs['start']}{', '.join(numbers)}"
