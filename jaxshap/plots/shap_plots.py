"""shap's own plots of an Explanation, without their side effects: the caller's random numbers stay
as they are.

shap shuffles and jitters points with numpy's global generator and switches interactive mode off.
Here points fall the same way each time, and afterwards all is as before.
"""

import contextlib
import dataclasses
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int
from numpy.random import mtrand

from jaxshap.errors import InputError, MissingExtraError
from jaxshap.explaining import Explanation
from jaxshap.plots.selection import (
    checked_owner,
    grey_images,
    on_pixels,
    one_output,
    one_row,
    something,
)
from jaxshap.plots.style import SEQUENTIAL, new_axes, pyplot, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOTH_WAYS = "viridis"  # tells negative from positive in greyscale too


def beeswarm(explanation: Explanation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """shap's beeswarm of the largest features: every row a point, light where the feature's value
    is high.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ax = jaxshap.plots.beeswarm(jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x1', 'x0']
    """
    one_output(explanation, "beeswarm")
    found, shap = _short(explanation), _shap()
    ax = ax or new_axes(8, 1.5 + 0.4 * min(most, len(explanation.feature_names)))
    colour = None if found.data is None else pyplot().get_cmap(SEQUENTIAL)
    with _undisturbed():
        return shap.plots.beeswarm(
            found,
            max_display=most,
            show=False,
            group_remaining_features=False,
            ax=ax,
            plot_size=None,
            color=colour,
        )


def scatter(
    explanation: Explanation,
    feature: str | int,
    *,
    by: str | int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """shap's scatter: a feature's values over what the feature was, a point a row; coloured `by`
    another feature.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1], X, X, feature_names=["age", "pay"])
        >>> jaxshap.plots.scatter(ex, "age", by="pay").get_xlabel()
        'age'
    """
    one_output(explanation, "scatter")
    if explanation.data_of_features is None:
        raise InputError(
            "scatter needs what each feature was, and here features are not columns of a table."
        )
    found, shap = _short(explanation[:, feature])[:, 0], _shap()
    ax = ax or new_axes(6.5, 4.5)
    colour = "black" if by is None else _short(explanation[:, by])[:, 0]
    with _undisturbed():
        return shap.plots.scatter(
            found, color=colour, cmap=pyplot().get_cmap(SEQUENTIAL), ax=ax, show=False
        )


def heatmap(explanation: Explanation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """shap's heat map: rows that are explained alike stand together; light values raise the output,
    dark ones lower it.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> jaxshap.plots.heatmap(jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], X, X)).get_xlabel()
        'Instances'
    """
    one_output(explanation, "heatmap")
    if len(explanation) < 2:
        raise InputError(
            "heatmap puts rows in an order and there is one: draw it with bar or waterfall."
        )
    found, shap = _short(explanation), _shap()
    ax = ax or new_axes(8, 2 + 0.32 * min(most, len(explanation.feature_names)))
    with _undisturbed():
        shap.plots.heatmap(
            found, max_display=most, cmap=pyplot().get_cmap(BOTH_WAYS), ax=ax, show=False
        )
    ax.set_aspect("auto")  # as large as its axes are
    ax.figure.axes[-1].yaxis.labelpad = 6  # shap writes the label of the colours over their numbers
    return ax


def shap_bar(explanation: Explanation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """shap's bars, without errors: of a single row, or mean |value| over rows. `bar` is ours, with
    errors.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> jaxshap.plots.shap_bar(ex).get_xlabel()
        'SHAP value'
    """
    one_output(explanation, "shap_bar")
    found, shap = _short(explanation), _shap()
    found = found[0] if len(explanation) == 1 else found
    ax = ax or new_axes(8, 1.5 + 0.5 * min(most, len(explanation.feature_names)))
    with _undisturbed():
        return shap.plots.bar(found, max_display=most, ax=ax, show=False)


def shap_waterfall(explanation: Explanation, *, most: int = 12) -> "Axes":
    """shap's waterfall of a single row, without errors, in a figure of its own. `waterfall` is
    ours, with errors.

    Example:
        >>> import jaxshap, numpy as np
        >>> ex = jaxshap.explain(lambda x: 2 * x[:, 0] - x[:, 1], np.ones((1, 2)), np.zeros((1, 2)))
        >>> [text.get_text() for text in jaxshap.plots.shap_waterfall(ex).texts]
        ['+2', '−1']
    """
    one_output(explanation, "shap_waterfall")
    one_row(explanation, "shap_waterfall")
    found, shap = _short(explanation)[0], _shap()
    figure = pyplot().figure(figsize=(8, 4))
    longest = max(map(len, found.feature_names)) + len("0.1234 = ")
    figure.subplots_adjust(
        left=min(0.6, 0.06 + 0.0115 * max(longest, 20)), right=0.86
    )  # shap fits numbers into bars
    ax = figure.gca()  # shap returns others, which only hold ticks
    with _undisturbed():
        shap.plots.waterfall(found, max_display=most, show=False)
    return ax


def image(explanation: Explanation, owner: Int[np.ndarray, "height width"]) -> np.ndarray:
    """shap's images: each row's, then its values for each output, red or blue by sign (alike in
    greyscale).

    Axes (rows, 1 + outputs) in a figure of their own. `owner` is `jaxshap.patches(...).owner`.
    `patches` is ours, and shows what is certain.

    Example:
        >>> import jaxshap, numpy as np
        >>> players, images = jaxshap.patches((4, 4), 2), np.ones((3, 4, 4))
        >>> ex = jaxshap.explain(lambda x: x[:, :2, :2].sum((1, 2)), images, 0 * images, groups=players)
        >>> jaxshap.plots.image(ex, players.owner).shape
        (3, 2)
    """
    something(explanation, "image")
    owner, shap = checked_owner(explanation, owner), _shap()
    pixels = on_pixels(explanation.values.reshape(*explanation.values.shape[:2], -1), owner)
    outputs = [pixels[..., number, None] for number in range(pixels.shape[-1])]
    names = None if explanation.output_names is None else list(explanation.output_names)
    with _undisturbed():
        shap.plots.image(
            outputs, grey_images(explanation, owner)[..., None], labels=names, show=False
        )
    axes = pyplot().gcf().axes[:-1]  # the last is the colour bar's
    return np.array(axes, object).reshape(len(explanation), -1)


def text(explanation: Explanation, tokens: Sequence[Sequence[str]] | None = None) -> str:
    """shap's text: words in the colours of their values, as HTML. Show it with
    `IPython.display.HTML`.

    `tokens` are the words of each row; without them they are the names of the features.

    Example:
        >>> import jaxshap, numpy as np
        >>> players = jaxshap.tokens(3, ["not", "so", "bad"])
        >>> ex = jaxshap.explain(lambda x: x @ np.ones(3), np.ones((1, 3)), np.zeros((1, 3)), groups=players)
        >>> "bad" in jaxshap.plots.text(ex)
        True
    """
    one_output(explanation, "text")
    shap = _shap()
    words = [explanation.feature_names] * len(explanation) if tokens is None else tokens
    if [len(row) for row in words] != [explanation.values.shape[1]] * len(explanation):
        raise InputError(
            f"tokens= must be {explanation.values.shape[1]} words for each of {len(explanation)} "
            "rows."
        )
    found = shap.Explanation(
        values=explanation.values.copy(),
        base_values=explanation.base_values.copy(),
        data=np.array([[f"{word} " for word in row] for row in words], object),
    )
    with (
        _undisturbed(),
        np.printoptions(legacy="1.25"),
    ):  # or its colours read np.float64(30.0), which no browser knows
        return shap.plots.text(found[0] if len(explanation) == 1 else found, display=False)


def _short(explanation: Explanation):
    """shap's Explanation, with names that leave room for the picture."""
    _shap()  # before to_shap imports it, without a trace
    return dataclasses.replace(
        explanation, feature_names=tuple(told_apart(explanation.feature_names))
    ).to_shap()


@contextlib.contextmanager
def _undisturbed():
    """Random numbers from a fixed seed inside; outside the caller's, and interactive mode, as they
    were.
    """
    plt = pyplot()
    interactive, ids = plt.isinteractive(), random.getstate()
    state, generator = mtrand.get_state(legacy=False), mtrand.get_bit_generator()
    mtrand.set_bit_generator(np.random.MT19937(0))
    random.seed()  # names of HTML elements, which must differ within a page
    try:
        yield
    finally:
        mtrand.set_bit_generator(generator)
        mtrand.set_state(state)
        random.setstate(ids)
        if interactive:
            plt.ion()


def _shap():
    state = random.getstate()
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError('this plot is shap\'s: pip install "jaxshap[plots]".') from error
    finally:
        random.setstate(state)  # which the first import draws from
    return shap
