"""Pictures of what parts of an image contributed."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.explaining import Explanation
from jaxshap.plots.selection import checked_owner, grey_images, on_pixels, one_output, one_row
from jaxshap.plots.style import DIVERGING, SURE, largest, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SIGNS = 40
LIGHTER = 1.25  # the ends of the colour map are too dark to show an image through
DARKEST = 0.65  # of an image's black, times the colour of its patch
FINE = 240  # pixels that make hatching end at the edge of a patch


def patches(
    explanation: Explanation, owner: Int[np.ndarray, "height width"], *, ax: "Axes | None" = None
) -> "Axes":
    """The values of one row over its image in grey: orange and + for, purple and − against.

    Hatched where |value| is within 1.96 standard errors of 0, so that its sign is not certain.
    `owner` is that of the players: `jaxshap.patches(...).owner`, or `segments`.

    Example:
        >>> import jaxshap, numpy as np
        >>> players, image = jaxshap.patches((4, 4), 2), np.eye(4)[None]
        >>> ex = jaxshap.explain(lambda x: x[:, :2, :2].sum((1, 2)), image, 0 * image, groups=players)
        >>> [text.get_text() for text in jaxshap.plots.patches(ex, players.owner).texts]
        ['+']
    """
    one_output(explanation, "patches")
    one_row(explanation, "patches")
    owner = checked_owner(explanation, owner)
    values, errors = explanation.values[0], SURE * explanation.std_error[0]
    unsure = (np.abs(values) < errors) & (errors > 0)
    picture = grey_images(explanation, owner)[0]
    height, width = owner.shape
    ax = ax or new_axes(4 * max(1, width / height) + 1.2, 4 * max(1, height / width))
    extent = np.abs(values).max() or 1
    shades = on_pixels(explanation.values, owner)[0]
    image = ax.imshow(shades, cmap=DIVERGING + "_r", vmin=-LIGHTER * extent, vmax=LIGHTER * extent)
    image.set_data(_darkened(image.to_rgba(shades), picture))
    _hatch(ax, unsure, owner)
    _draw_signs(ax, values, unsure, owner)
    ax.set(xticks=[], yticks=[])
    words = (
        "hatched: within 1.96 standard errors of 0"
        if unsure.any()
        else "all signs certain (1.96 standard errors)"
    )
    if np.isnan(errors).any():
        words = "standard errors are not known" + (
            " for all patches" if not np.isnan(errors).all() else ""
        )
    bar = ax.figure.colorbar(image, ax=ax, label=f"Shapley value\n{words}")
    bar.ax.set_ylim(-extent, extent)
    return ax


def _darkened(
    colours: Float[np.ndarray, "height width 4"], picture: Float[np.ndarray, "height width"]
) -> Float[np.ndarray, "height width 3"]:
    """Colours of the values, darker where the image is dark; grey where nobody owns a pixel."""
    span = np.ptp(picture) or 1
    light = DARKEST + (1 - DARKEST) * (picture - picture.min()) / span
    owned = colours[..., 3:]
    return (colours[..., :3] * owned + 1 - owned) * light[..., None]


def _hatch(
    ax: "Axes", chosen: Bool[np.ndarray, "players"], owner: Int[np.ndarray, "height width"]
) -> None:
    """Lines over all pixels of the chosen players."""
    if not chosen.any():
        return
    mask = np.append(chosen, False)[owner]  # −1 is nobody
    times = max(1, FINE // min(owner.shape))
    fine = np.pad(np.kron(mask, np.ones((times, times))), 1)
    across, down = (
        (np.arange(length + 2) - 0.5) / times - 0.5
        for length in (fine.shape[1] - 2, fine.shape[0] - 2)
    )
    hatched = ax.contourf(across, down, fine, levels=[0.5, 1.5], colors="none", hatches=["//"])
    hatched.set(edgecolor="0.35", linewidth=0)


def _draw_signs(
    ax: "Axes",
    values: Float[np.ndarray, "players"],
    unsure: Bool[np.ndarray, "players"],
    owner: Int[np.ndarray, "height width"],
) -> None:
    """+ or − in the middle of the largest patches whose sign is certain, for where there are no
    colours.
    """
    sizes, extent = np.where(unsure, 0, np.abs(values)), np.abs(values).max()
    for player in largest(sizes, MOST_SIGNS):
        if sizes[player] <= 0.05 * extent:
            continue
        places = np.argwhere(owner == player)
        middle = places.mean(0)
        down, across = middle
        if (
            not (places == middle.round()).all(1).any()
        ):  # a bent segment: its pixel next to the middle
            down, across = places[((places - middle) ** 2).sum(1).argmin()]
        sign = "+" if values[player] > 0 else "−"
        shade = "white" if sizes[player] > 0.6 * extent else "black"
        ax.text(
            across,
            down,
            sign,
            ha="center",
            va="center",
            fontsize=12,
            fontweight="bold",
            color=shade,
        )
