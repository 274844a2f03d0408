"""Calling shap's plots without their side effects: the caller's random numbers stay as they are.

shap shuffles and jitters points with numpy's global generator and switches interactive mode off.
Here points fall the same way each time, and afterwards everything is as before.
"""

import contextlib
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import mtrand

from jaxshap.errors import MissingExtraError
from jaxshap.explaining import Explanation
from jaxshap.plots.style import DARK_NEGATIVE, NEGATIVE, POSITIVE, pyplot, told_apart


def import_shap() -> Any:
    """shap, or how to install it; its first import draws random numbers, which are put back."""
    state = random.getstate()
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError('this plot is shap\'s: pip install "jaxshap[plots]".') from error
    finally:
        random.setstate(state)
    return shap


def as_shap(explanation: Explanation) -> Any:
    """shap's Explanation, with names that leave room for the picture."""
    import_shap()  # before to_shap imports it, so that no random numbers are drawn
    names = tuple(told_apart(explanation.feature_names))
    return dataclasses.replace(explanation, feature_names=names).to_shap()


def numbers_as_shap(explanation: Explanation) -> Any:
    """The same with numbers where words stand for them, which have places along an axis."""
    return as_shap(dataclasses.replace(explanation, words={}))


def recolour(ax: Any) -> None:
    """Our colours of signs in place of shap's red and blue, on bars and on their numbers."""
    from matplotlib.colors import to_rgb

    for artist in (*ax.patches, *ax.texts):
        of_text = hasattr(artist, "get_text")
        red, _, blue = to_rgb(artist.get_color() if of_text else artist.get_facecolor())
        if red != blue:  # neither grey, black nor white
            artist.set_color(POSITIVE if red > blue else DARK_NEGATIVE if of_text else NEGATIVE)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Random numbers from a fixed seed inside; the caller's, and interactive mode, outside."""
    plt = pyplot()
    interactive, python_state = plt.isinteractive(), random.getstate()
    state, generator = mtrand.get_state(legacy=False), mtrand.get_bit_generator()
    mtrand.set_bit_generator(np.random.MT19937(0))
    random.seed()  # names of HTML elements, which must differ within a page
    try:
        yield
    finally:
        mtrand.set_bit_generator(generator)
        mtrand.set_state(state)
        random.setstate(python_state)
        if interactive:
            plt.ion()
