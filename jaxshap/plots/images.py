"""Pictures of what patches of an image contributed."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.explaining import Explanation, half_intervals
from jaxshap.plots.pixels import checked_owner, grey_images, on_pixels
from jaxshap.plots.selection import check_one_row, one_output
from jaxshap.plots.style import Axes, given_axes, largest, new_axes, signed_colours

MAX_SIGNS = 40  # + and − in one picture
MIN_SIGN_SHARE = 0.05  # of the largest |value|, below which a patch has no sign
COLOUR_RANGE = 1.25  # times the largest |value|: the ends of the map are too dark for an image
DARKEST = 0.65  # how bright an image's black leaves the colour of its patch
HATCHED_PIXELS = 240  # per side, so that hatching ends at the edge of a patch


def patches(explanation: Explanation, owner: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the values of one row over its image in grey: orange and + for, blue and − against.

    A patch is hatched where the 95 % interval of its value holds 0, so that its sign is not
    certain.

    Args:
        explanation: the explanation of one row and output whose players are patches or segments.
        owner: the player that owns each pixel, (height, width); by default what the explanation
            remembers of its players.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or the owner does not fit the explanation.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> players, image = jaxshap.patches((4, 4), 2), np.eye(4)[None]
        >>> def model(x):
        ...     return x[:, :2, :2].sum((1, 2))
        >>> ex = jaxshap.explain(model, image, 0 * image, groups=players)
        >>> [text.get_text() for text in jaxshap.plots.patches(ex).texts]
        ['+']
    """
    explanation = one_output(explanation, "patches")
    check_one_row(explanation, "patches")
    owner = checked_owner(explanation, owner)
    values, errors = explanation.values[0], half_intervals(explanation)[0]
    unsure = (np.abs(values) < errors) & (errors > 0)
    picture = grey_images(explanation, owner)[0]
    height, width = owner.shape
    ax = given_axes(ax) or new_axes(4 * max(1, width / height) + 1.2, 4 * max(1, height / width))
    extent = np.abs(values).max() or 1
    shades, limit = on_pixels(explanation.values, owner)[0], COLOUR_RANGE * extent
    image = ax.imshow(shades, cmap=signed_colours(), vmin=-limit, vmax=limit)
    image.set_data(_darkened(image.to_rgba(shades), picture))
    _hatch(ax, unsure, owner)
    _draw_signs(ax, values, unsure, owner)
    ax.set(xticks=[], yticks=[])
    label = f"{explanation.kind}\n{_certainty_words(errors, unsure)}"
    colours = ax.figure.colorbar(image, ax=ax, label=label)
    colours.ax.set_ylim(-extent, extent)
    return ax


def _certainty_words(
    errors: Float[np.ndarray, "players"], unsure: Bool[np.ndarray, "players"]
) -> str:
    if np.isnan(errors).all():
        return "standard errors are not known"
    if np.isnan(errors).any():
        return "standard errors are not known for all patches"
    if unsure.any():
        return "hatched: the 95 % interval holds 0"
    return "all signs certain (95 % intervals)"


def _darkened(
    colours: Float[np.ndarray, "height width 4"], picture: Float[np.ndarray, "height width"]
) -> Float[np.ndarray, "height width 3"]:
    """Colours of the values, darker where the image is dark; grey where nobody owns a pixel."""
    span = np.ptp(picture) or 1
    light = DARKEST + (1 - DARKEST) * (picture - picture.min()) / span
    owned = colours[..., 3:]
    return (colours[..., :3] * owned + 1 - owned) * light[..., None]


def _hatch(
    ax: Axes, chosen: Bool[np.ndarray, "players"], owner: Int[np.ndarray, "height width"]
) -> None:
    """Draw lines over all pixels of the chosen players."""
    if not chosen.any():
        return
    mask = np.append(chosen, False)[owner]  # −1 is nobody
    times = max(1, HATCHED_PIXELS // min(owner.shape))
    fine = np.pad(np.kron(mask, np.ones((times, times))), 1)
    down, across = ((np.arange(length) - 0.5) / times - 0.5 for length in fine.shape)
    hatched = ax.contourf(across, down, fine, levels=[0.5, 1.5], colors="none", hatches=["//"])
    hatched.set(edgecolor="0.35", linewidth=0)


def _draw_signs(
    ax: Axes,
    values: Float[np.ndarray, "players"],
    unsure: Bool[np.ndarray, "players"],
    owner: Int[np.ndarray, "height width"],
) -> None:
    """Write + or − on the largest patches whose sign is certain, for where there are no colours."""
    sizes, extent = np.where(unsure, 0, np.abs(values)), np.abs(values).max()
    for player in largest(sizes, MAX_SIGNS):
        if sizes[player] <= MIN_SIGN_SHARE * extent:
            continue
        places = np.argwhere(owner == player)
        middle = places.mean(0)
        if not (places == middle.round()).all(1).any():  # a bent segment: its pixel nearest to it
            middle = places[((places - middle) ** 2).sum(1).argmin()]
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12}
        look |= {"color": "white" if sizes[player] > 0.6 * extent else "black"}
        sign = "+" if values[player] > 0 else "−"
        ax.text(middle[1], middle[0], sign, fontweight="bold", **look)
