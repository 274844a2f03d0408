"""Pictures of interactions and of functional decompositions, of one row and output."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.interactions import Decomposition, Interactions
from jaxshap.plots.style import (
    DIVERGING,
    NEGATIVE,
    POSITIVE,
    largest,
    new_axes,
    shortened,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Found = TypeVar("Found", Interactions, Decomposition)
MOST_NUMBERS = 12  # players whose cells have room for numbers
LONGEST = 44  # letters beside a bar


def interaction_heatmap(
    interactions: Interactions, *, names: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Pairs as a matrix, single players on its diagonal; where numbers have no room, negative cells
    have a minus.

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
    >>> ax = jaxshap.plots.interaction_heatmap(jaxshap.interactions.exact_interactions(game), names=["age", "sex", "pay"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'sex', 'pay']
    """
    matrix = np.asarray(_single(interactions).matrix(), np.float64)
    names = _names(names, interactions.num_players)
    number = len(matrix)
    ax = ax or new_axes(1.8 + 0.55 * min(number, 24), 1.2 + 0.5 * min(number, 24))
    extent = np.nanmax(np.abs(matrix), initial=0) or 1
    ax.set_facecolor("0.85")  # what is unknown
    image = ax.imshow(matrix, cmap=DIVERGING + "_r", vmin=-extent, vmax=extent)
    for (row, column), value in np.ndenumerate(matrix):
        text = "−" if value < -extent / 50 else ""
        if number <= MOST_NUMBERS:
            text = f"{value:.2g}" if abs(value) > extent / 1000 else "0"
        if np.isfinite(value):
            shade = "white" if abs(value) > 0.7 * extent else "black"
            ax.text(
                column,
                row,
                text.replace("-", "−"),
                ha="center",
                va="center",
                color=shade,
                fontsize=8,
            )
    ax.set_xticks(range(number), names, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(number), names)
    ax.set_xticks(np.arange(number - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(number - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", lw=1)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=interactions.index)
    ax.set_title("on the diagonal: single players", fontsize="medium")
    return ax


def interaction_network(
    interactions: Interactions,
    *,
    names: Sequence[str] | None = None,
    most: int = 30,
    ax: "Axes | None" = None,
) -> "Axes":
    """Players on a circle, as large as their own values; the `most` strongest pairs as lines,
    dashed where negative.

    Filled discs are positive, open ones negative, grey ones not known.

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
    >>> jaxshap.plots.interaction_network(jaxshap.interactions.exact_interactions(game)).get_title()
    'SII: the 3 strongest of 3 pairs'
    """
    matrix = np.asarray(_single(interactions).matrix(), np.float64)
    names = _names(names, interactions.num_players)
    number = len(matrix)
    ax = ax or new_axes(6.4, 5.6)
    angles = np.pi / 2 - 2 * np.pi * np.arange(number) / number
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    first, second = np.triu_indices(number, 1)
    pairs = np.nan_to_num(matrix[first, second])
    strongest = np.argsort(-np.abs(pairs))[:most]
    widest = np.abs(pairs).max(initial=0) or 1
    drawn = strongest[np.abs(pairs[strongest]) > widest / 1000]
    for pair in drawn[::-1]:
        ends = places[[first[pair], second[pair]]]
        strength = float(pairs[pair])
        ax.plot(
            *ends.T, **_stroke(strength), lw=0.4 + 6 * abs(strength) / widest, alpha=0.8, zorder=1
        )
    _draw_players(ax, places, np.diag(matrix), names)
    for sign, label in ((1, "positive"), (-1, "negative")):
        face = POSITIVE if sign > 0 else "white"
        ax.plot([], [], **_stroke(sign), marker="o", markerfacecolor=face, label=label, lw=2)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=2,
        frameon=False,
        fontsize=9,
        handlelength=4,
    )
    ax.set_title(
        f"{interactions.index}: the {len(drawn)} strongest of {len(pairs)} pairs", fontsize=10
    )
    return ax


def component_bars(
    decomposition: Decomposition,
    *,
    names: Sequence[str] | None = None,
    most: int = 15,
    ax: "Axes | None" = None,
) -> "Axes":
    """The largest components of one prediction, order by order, and what all others add up to.

    Those below a thousandth of the largest are among the others; what they all are is in
    `decomposition.sets`.

    Example
    >>> import jax.numpy as jnp, jaxshap
    >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
    >>> ax = jaxshap.plots.component_bars(jaxshap.interactions.decompose(game), most=1)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0 × x1 × x2', '6 other components']
    """
    values = np.asarray(_single(decomposition).values, np.float64)
    names = _names(names, decomposition.num_players)
    sizes = decomposition.members.sum(1)
    extent = np.abs(values)
    extent[0] = 0  # the constant has no bar
    found = largest(extent, most)
    found = found[extent[found] > extent.max() / 1000]
    kept = np.array(sorted(found, key=lambda place: (sizes[place], -extent[place])), int)
    prediction = float(decomposition.full)
    rest = prediction - values[0] - values[kept].sum()
    hidden = 2**decomposition.num_players - 1 - len(kept)
    labels = [_label(names, decomposition.members[place]) for place in kept]
    lengths = [*values[kept], *([rest] if hidden else [])]
    labels += [_others(hidden)] if hidden else []
    ax = ax or new_axes(7.5, 1.2 + 0.32 * len(lengths))
    colours = [POSITIVE if length >= 0 else NEGATIVE for length in lengths]
    hatches = ["", "///", "...", "xxx"]
    styles = [hatches[min(sizes[place], 4) - 1] for place in kept] + ([""] if hidden else [])
    colours[len(kept) :] = ["0.7"] * bool(hidden)
    rows = np.arange(len(lengths))
    ax.barh(rows, lengths, color=colours, hatch=styles, edgecolor="white", height=0.75, lw=0)
    _mark_orders(ax, sizes[kept])
    ax.set_yticks(rows, labels)
    ax.invert_yaxis()
    ax.axvline(0, color="black", lw=0.8)
    ax.set_xlabel(
        wrapped(
            "component",
            f"with the constant {values[0]:.4g} they sum to the prediction {prediction:.4g}",
        )
    )
    return tidy(ax)


def _label(names: Sequence[str], inside: np.ndarray) -> str:
    """All names where there is room, or those that are left out; else the first and the last."""
    members, others = (
        [names[player] for player in np.flatnonzero(part).tolist()] for part in (inside, ~inside)
    )
    whole, rest = " × ".join(members), "all but " + ", ".join(others) if others else "all players"
    if len(whole) <= LONGEST or len(members) < 3:
        return shortened(whole, LONGEST)
    return (
        rest
        if len(rest) <= LONGEST
        else f"{shortened(members[0], 18)} × … × {shortened(members[-1], 18)}"
    )


def _others(hidden: int) -> str:
    if hidden > 10**6:
        return "all other components"
    return f"{hidden:,} other components" if hidden > 1 else "1 other component"


def _mark_orders(ax: "Axes", sizes: Sequence[int] | np.ndarray) -> None:
    """A line between orders and the name of each on the right."""
    for size in np.unique(sizes):
        rows = np.flatnonzero(np.asarray(sizes) == size)
        ax.text(
            1.01,
            rows.mean(),
            f"order {size}",
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=9,
        )
        ax.axhline(rows[-1] + 0.5, color="0.8", lw=0.8, ls=":", zorder=0)


def _draw_players(
    ax: "Axes",
    places: Float[np.ndarray, "n 2"],
    values: Float[np.ndarray, "n"],
    names: Sequence[str],
) -> None:
    """Discs with areas like the values; small and grey where these are not known."""
    extent = np.abs(np.nan_to_num(values))
    radius = 0.035 + 0.12 * np.sqrt(extent / (extent.max(initial=0) or 1))
    for place, value, size, name in zip(places, values, radius, names, strict=True):
        colour = "0.6" if np.isnan(value) else POSITIVE if value >= 0 else NEGATIVE
        ax.add_patch(_disc(place, size, "white" if value < 0 else colour, colour))
        across, up = place * (1 + (size + 0.06) / np.hypot(*place))
        side = "center" if abs(place[0]) < 0.15 else "left" if place[0] > 0 else "right"
        level = "center" if abs(place[0]) >= 0.15 else "bottom" if place[1] > 0 else "top"
        ax.text(across, up, name, ha=side, va=level, fontsize=9)
    ax.set(xlim=(-1.55, 1.55), ylim=(-1.35, 1.35), aspect="equal")
    ax.set_axis_off()


def _disc(place: Float[np.ndarray, "2"], radius: float, face: str, edge: str):
    from matplotlib.patches import Circle

    return Circle((place[0], place[1]), radius, facecolor=face, edgecolor=edge, lw=2, zorder=2)


def _stroke(value: float) -> dict[str, Any]:
    return {"color": POSITIVE, "ls": "-"} if value >= 0 else {"color": NEGATIVE, "ls": (0, (4, 2))}


def _single(found: Found) -> Found:
    if found.values.ndim > 1:
        raise InputError(
            f"a picture shows one number a set and these have shape {found.values.shape[1:]}: pick "
            "a row and output "
            f"first, such as .pick({', '.join('0' * (found.values.ndim - 1))})."
        )
    return found


def _names(names: Sequence[str] | None, number: int) -> list[str]:
    if names is None:
        return [f"x{player}" for player in range(number)]
    if len(names) != number:
        raise InputError(f"there are {len(names)} names for {number} players.")
    return [shortened(str(name)) for name in names]
